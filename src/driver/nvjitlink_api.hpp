// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "driver/installed_library.hpp"

namespace cudacore::driver {

using NvJitLinkHandle = struct NvJitLinkState*;

/// nvJitLinkInputType
enum NvJitLinkInput : int {
  nvjitlink_cubin = 1,
  nvjitlink_ptx = 2,
  nvjitlink_ltoir = 3,
  nvjitlink_fatbin = 4,
  nvjitlink_object = 5,
  nvjitlink_library = 6,
};

/// Pointers to nvJitLink's functions, which return its result codes: 0 for success.
struct NvJitLinkApi {
#define CUDACORE_NVJITLINK_SYMBOL(name, wait, result, parameters) \
  result(*name) parameters = nullptr;
#include "driver/nvjitlink_symbols.def"
#undef CUDACORE_NVJITLINK_SYMBOL
  int major = 0;
  int minor = 0;
  std::filesystem::path path;
  std::string identity;  ///< see InstalledLibrary
};

/// The table; opens nvJitLink on first use.
/// @throw LibraryNotFoundError; NotSupportedError for a version older than 12.3, which cannot
/// report its version.
[[nodiscard]] const NvJitLinkApi& nvjitlink();

/// Where the library is looked for.
[[nodiscard]] LibraryPlaces nvjitlink_places();

/// The library that nvjitlink() has opened or would open; doesn't open it.
[[nodiscard]] std::optional<InstalledLibrary> find_nvjitlink();

}  // namespace cudacore::driver
