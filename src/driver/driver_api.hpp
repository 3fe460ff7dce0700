// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstddef>
#include <filesystem>
#include <string>

#if CUDA_VERSION < 13020
extern "C" CUresult CUDAAPI cuKernelGetParamCount(CUkernel kernel, std::size_t* count);
#endif

namespace cudacore::driver {

static_assert(CUDA_VERSION >= 13000, "cudacore is built with cuda.h of CUDA 13.0 or later");

/// Pointers to the driver's functions: the seam between cudacore and whatever speaks the driver
/// API.
///
/// The real driver fills it once; tests put a table of their own in its place.
struct DriverApi {
#define CUDACORE_DRIVER_SYMBOL(name, key, since, need, wait) decltype(&::name) name = nullptr;
#include "driver/symbols.def"
#undef CUDACORE_DRIVER_SYMBOL
  int version = 0;             ///< what cuDriverGetVersion says
  std::filesystem::path path;  ///< the library the functions come from
  bool simulated = false;      ///< whether that is the simulated device
};

/// The table in force; opens libcuda and initialises it (cuInit) on first use.
/// @throw DriverNotFoundError listing every place tried; ForkedProcessError in a forked child;
/// Error where cuInit fails. A failure is remembered, not tried again.
[[nodiscard]] const DriverApi& api();

/// What the simulated device is to be; what is 0 is left to the environment.
struct SimulatorConfiguration {
  unsigned devices = 1;
  int major = 9;
  int minor = 0;
  std::size_t memory = 0;  ///< bytes of each device
};

/// Makes the next first use open the simulated device, so configured, and forgets an earlier
/// failure. Opens it at once.
/// Does nothing where the simulated device is in use and is so.
/// @throw Error where another driver is in use already, or the simulated device is otherwise.
void use_simulator(const SimulatorConfiguration& configuration);

/// Whether the driver in use, or the one that would be opened, is the simulated device.
[[nodiscard]] bool simulator_chosen();

/// The table where api() has succeeded in this process and CUDA may still be called: not in a
/// forked child, not while the process exits. Null otherwise. For deleters.
[[nodiscard]] const DriverApi* api_for_cleanup() noexcept;

/// Puts a table in the real one's place, for tests; null brings the real one back.
void install_for_testing(const DriverApi* table) noexcept;

/// "13.0", of the number 13000 that CUDA's libraries use for it.
[[nodiscard]] std::string version_text(int version);

/// Raises NotSupportedError for an optional function that this driver lacks, naming both versions.
[[noreturn]] void throw_missing_symbol(const char* function, int since);

}  // namespace cudacore::driver
