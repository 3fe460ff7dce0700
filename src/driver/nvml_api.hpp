// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "driver/nvml_types.hpp"

namespace cudacore::driver {

/// nvmlClockType_t
enum NvmlClock : int { nvml_clock_sm = 1, nvml_clock_memory = 2 };

/// Of nvmlReturn_t.
enum NvmlResult : int {
  nvml_not_supported = 3,
  nvml_no_permission = 4,
  nvml_function_not_found = 13
};

/// Pointers to the functions of NVML, the driver's library for managing devices. They return its
/// result codes: 0 for success.
struct NvmlApi {
  int (*nvmlInit_v2)() = nullptr;
  const char* (*nvmlErrorString)(int result) = nullptr;
  // Null if the library is too old to have it.
#define CUDACORE_NVML_SYMBOL(name, parameters) int(*name) parameters = nullptr;
#include "driver/nvml_symbols.def"
#undef CUDACORE_NVML_SYMBOL
  std::filesystem::path path;
};

/// The table; opens NVML, or the simulated device's if that is the driver, on first use, and
/// initializes it (nvmlInit) once in each process, also in one that was forked.
/// @throw LibraryNotFoundError; NvmlError if it cannot be initialized; NotSupportedError if it
/// isn't NVML.
[[nodiscard]] const NvmlApi& nvml();

/// The error for a result of NVML's.
/// @param about what was asked about, such as " for the device ..."; may be empty
[[noreturn]] void throw_nvml_error(const NvmlApi& api, int result, const char* function,
                                   const std::string& about);

}  // namespace cudacore::driver
