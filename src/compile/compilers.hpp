// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace cudacore::compile {

/// A compiler as the cache knows it: perhaps one that isn't loaded, or not installed any more.
struct CompilerInfo {
  std::string identity;  ///< the same for all copies of one build; empty if it is unknown
  int major = 0;
  int minor = 0;  ///< only of one that has been loaded
  std::filesystem::path path;
  std::vector<std::string> folders;  ///< of CUDA's headers, if it isn't installed any more

  friend bool operator==(const CompilerInfo&, const CompilerInfo&) = default;
};

/// NVRTC or nvJitLink, as far as the cache is concerned.
struct CompilerKind {
  const char* name;
  /// The compiler that is loaded or would be; doesn't load it.
  std::optional<CompilerInfo> (*find)();
  /// Loads it.
  /// @throw LibraryNotFoundError
  CompilerInfo (*load)();
};

extern const CompilerKind nvrtc_kind;
extern const CompilerKind nvjitlink_kind;

/// The folders of CUDA's headers that belong to a compiler.
[[nodiscard]] std::vector<std::string> header_folders(const CompilerInfo& compiler);

/// The compilers that entries in the cache were made with, the newest first: what a machine
/// without a compiler can still use.
[[nodiscard]] std::vector<CompilerInfo> remembered_compilers(const CompilerKind& kind);
void remember_compiler(const CompilerKind& kind, CompilerInfo compiler);

}  // namespace cudacore::compile
