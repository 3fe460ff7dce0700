// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/cache_entry.hpp"
#include "compile/sealed_fields.hpp"

// The cache that all programs of the process share: <cudacore/cache.hpp>. Nothing here throws
// because of a file.

namespace cudacore::compile {

[[nodiscard]] bool cache_is_enabled();

/// A damaged entry is removed and counts as missing.
[[nodiscard]] std::optional<CacheEntry> find_in_cache(const Digest& key);
/// @return whether the entry was written.
bool store_in_cache(const Digest& key, const CacheEntry& entry);

/// The fields of a note about the entries, which is none itself; unset like an entry.
[[nodiscard]] std::optional<std::string> find_note(const std::string& name);
void store_note(const std::string& name, const FieldWriter& fields);

struct CheckedEntries {
  std::uint64_t checked = 0;
  std::vector<std::string> problems;  ///< with each entry that can't be used
};

/// Reads the entries that were used last, at most so many, and so many bytes. Changes nothing.
[[nodiscard]] CheckedEntries check_entries(std::size_t entries, std::uint64_t bytes);

void count_hit() noexcept;
void count_miss() noexcept;
void count_stored() noexcept;
void count_uncacheable(std::string why);

}  // namespace cudacore::compile
