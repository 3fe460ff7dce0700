// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>

#include "driver/shared_library.hpp"

namespace cudacore::driver {

using NvFatbinHandle = struct NvFatbinState*;

/// Pointers to nvFatbin's functions, which return its result codes: 0 for success.
struct NvFatbinApi {
#define CUDACORE_NVFATBIN_SYMBOL(name, wait, result, parameters) result(*name) parameters = nullptr;
#include "driver/nvfatbin_symbols.def"
#undef CUDACORE_NVFATBIN_SYMBOL
  int major = 0;
  int minor = 0;
  std::filesystem::path path;
};

/// The table; opens nvFatbin on first use.
/// @throw LibraryNotFoundError; NotSupportedError for a version that lacks a function.
[[nodiscard]] const NvFatbinApi& nvfatbin();

/// Where the library is looked for.
[[nodiscard]] LibraryPlaces nvfatbin_places();

}  // namespace cudacore::driver
