// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

/// The program cache: what Program and Linker have made, kept on disk for later processes.
///
/// An entry is found by a SHA-256 over everything that the result depends on, so it is never out
/// of date. A cache that can't be used is passed over: what needs it is compiled, and info() says
/// why. The settings are those of the process, and come from the environment:
///
///   CUDACORE_CACHE           0 or off switches the cache off
///   CUDACORE_CACHE_DIR       its folder; by default $XDG_CACHE_HOME/cudacore or ~/.cache/cudacore
///   CUDACORE_CACHE_MAX_SIZE  what it may take on the disk, such as 500M or 4G; by default 1G
namespace cudacore::cache {

/// Whether one compilation or link looks into the cache, and leaves its result there.
enum class Use : bool { no, yes };

/// What this process has asked of the cache so far.
struct Counts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;       ///< compiled because there was no entry
  std::uint64_t stored = 0;       ///< entries written
  std::uint64_t uncacheable = 0;  ///< compiled because the result depends on more than the key
  std::uint64_t failures = 0;     ///< entries that could not be read or written
};

struct Info {
  bool is_enabled = true;
  std::filesystem::path folder;  ///< empty if none is known
  std::uint64_t max_size = 0;    ///< bytes
  Counts counts;
  std::string problem;             ///< what is wrong with the folder, or was at last
  std::string settings_problem;    ///< what is wrong with the environment variables
  std::string uncacheable_reason;  ///< why the last uncacheable program was so
};

/// What lies in the folder.
struct Usage {
  std::uint64_t entries = 0;
  std::uint64_t size = 0;  ///< bytes on the disk
};

[[nodiscard]] Info info();
/// Looks at each entry's size.
[[nodiscard]] Usage usage();
/// Removes all entries; returns how many.
/// @throw Error if the folder can't be used, or an entry can't be removed.
std::uint64_t clear();

void enable(bool enabled);
/// @throw std::invalid_argument if the path is empty.
void set_folder(const std::filesystem::path& folder);
void set_max_size(std::uint64_t bytes);

}  // namespace cudacore::cache
