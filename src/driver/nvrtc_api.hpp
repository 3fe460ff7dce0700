// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "driver/installed_library.hpp"

namespace cudacore::driver {

using NvrtcProgram = struct NvrtcProgramState*;

/// Pointers to NVRTC's functions, which return its result codes: 0 for success.
struct NvrtcApi {
#define CUDACORE_NVRTC_SYMBOL(name, need, wait, result, parameters) \
  result(*name) parameters = nullptr;
#include "driver/nvrtc_symbols.def"
#undef CUDACORE_NVRTC_SYMBOL
  int major = 0;
  int minor = 0;
  std::filesystem::path path;
  std::string identity;  ///< see InstalledLibrary
};

/// The table; opens NVRTC on first use.
/// @throw LibraryNotFoundError
[[nodiscard]] const NvrtcApi& nvrtc();

/// Where the library is looked for.
[[nodiscard]] LibraryPlaces nvrtc_places();

/// The library that nvrtc() has opened or would open; doesn't open it.
[[nodiscard]] std::optional<InstalledLibrary> find_nvrtc();

}  // namespace cudacore::driver
