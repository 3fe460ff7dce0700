// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>

#include "driver/descriptor.hpp"

namespace cudacore::compile {

inline constexpr std::uint64_t block_size = 4096;
[[nodiscard]] constexpr std::uint64_t blocks_of(std::uint64_t bytes) noexcept {
  return (bytes + block_size - 1) / block_size;
}

/// A file in one of the cache's folders.
struct CachedFile {
  int folder = -1;
  std::string shard;
  std::string name;
  std::uint64_t blocks = 0;
  std::time_t used = 0;  ///< last; the epoch if that is in the future, since a clock was wrong

  [[nodiscard]] bool is_draft() const noexcept { return name.starts_with(driver::draft_prefix); }
};

/// The folder of what the cache knows besides its entries.
inline constexpr std::string_view note_folder = "compilers";

/// Visits the entries.
void for_each_file(int files, const std::function<void(const CachedFile&)>& visit);
void for_each_note(int files, const std::function<void(const CachedFile&)>& visit);

/// Removes what processes that were killed have left half written and, if all files together have
/// more than `limit` bytes, the least recently used ones until `wanted` are left.
/// @return how many blocks are left.
std::uint64_t sweep_files(int files, std::uint64_t wanted, std::uint64_t limit);

}  // namespace cudacore::compile
