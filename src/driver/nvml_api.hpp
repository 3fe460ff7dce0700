// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace cudacore::driver {

using NvmlDevice = struct NvmlDeviceState*;

/// nvmlClockType_t
enum NvmlClock : int { nvml_clock_sm = 1, nvml_clock_memory = 2 };

/// Pointers to the functions of NVML, the driver's library for managing devices. They return its
/// result codes: 0 for success.
struct NvmlApi {
#define CUDACORE_NVML_SYMBOL(name, result, parameters) result(*name) parameters = nullptr;
#include "driver/nvml_symbols.def"
#undef CUDACORE_NVML_SYMBOL
  std::filesystem::path path;
};

/// The table; opens NVML and initializes it (nvmlInit) on first use, for good.
/// @throw LibraryNotFoundError; NotSupportedError if it lacks a function or cannot be initialized.
[[nodiscard]] const NvmlApi& nvml();

}  // namespace cudacore::driver
