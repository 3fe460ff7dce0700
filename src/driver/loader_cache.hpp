// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string_view>

namespace cudacore::driver {

/// Where the system loader's cache, /etc/ld.so.cache, has a library for this machine; unset if it
/// has none, or if this process can't read the cache.
[[nodiscard]] std::optional<std::filesystem::path> find_in_loader_cache(std::string_view name);

/// The same in the bytes of a cache, for tests.
[[nodiscard]] std::optional<std::filesystem::path> find_in_loader_cache(std::string_view name,
                                                                        std::string_view cache);

}  // namespace cudacore::driver
