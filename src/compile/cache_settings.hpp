// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace cudacore::compile {

struct CacheSettings {
  bool is_enabled = true;
  std::filesystem::path folder;  ///< empty if none is known
  std::uint64_t max_size = std::uint64_t{1} << 30U;
  std::string folder_problem;  ///< why no folder is known
  std::string problem;         ///< with the other variables
};

/// The user's folder for what cudacore caches; empty if there is none, or it isn't this user's.
struct DefaultFolder {
  std::filesystem::path path;
  std::string problem;
};

[[nodiscard]] DefaultFolder default_cache_folder();

[[nodiscard]] CacheSettings settings_of_environment();

/// An absolute path of a folder that a user has named.
[[nodiscard]] std::filesystem::path cache_folder_at(const std::filesystem::path& path);

/// Bytes: "1000", "64K", "500M", "4G", "1T", each also with a "B" or "iB" behind it.
[[nodiscard]] std::optional<std::uint64_t> parse_size(std::string_view text) noexcept;

}  // namespace cudacore::compile
