// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "compile/cache_entry.hpp"
#include "compile/compilers.hpp"
#include "compile/key_hash.hpp"

namespace cudacore::compile {

/// One use of a compiler, whose result may be in the cache.
class CachedRun {
 public:
  /// Adds everything to the hash that the result depends on besides the compiler itself; returns
  /// why that isn't possible, or nothing.
  using AddInputs = std::function<std::string(KeyHash& hash, const CompilerInfo& compiler)>;

  /// @param wanted whether to use the cache, if it is on.
  CachedRun(const CompilerKind& kind, bool wanted, AddInputs add_inputs);

  /// The result, if the cache has it. Loads the compiler only if it has not.
  /// @throw LibraryNotFoundError
  [[nodiscard]] std::optional<CacheEntry> find();
  /// Keeps the result of the compiler. To be called after find(), if at all.
  void store(const CacheEntry& entry);

 private:
  /// What is known of an entry's key.
  struct Key {
    Digest digest{};
    WatchedFiles files;
    std::string trouble;
  };
  [[nodiscard]] Key key(const CompilerInfo& compiler) const;
  [[nodiscard]] std::optional<CacheEntry> find(const CompilerInfo& compiler);

  const CompilerKind& kind_;
  AddInputs add_inputs_;
  bool is_wanted_;
  CompilerInfo compiler_;
  Key key_;
  Digest files_before_{};
};

}  // namespace cudacore::compile
