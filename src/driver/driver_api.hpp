// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstddef>
#include <filesystem>
#include <string>

#if CUDA_VERSION < 13010
struct CU_DEV_SM_RESOURCE_GROUP_PARAMS {
  unsigned smCount, coscheduledSmCount, preferredCoscheduledSmCount, flags, reserved[12];
};
extern "C" CUresult CUDAAPI cuDevSmResourceSplit(CUdevResource* result, unsigned count,
                                                 const CUdevResource* input,
                                                 CUdevResource* remainder, unsigned flags,
                                                 CU_DEV_SM_RESOURCE_GROUP_PARAMS* groups);
extern "C" CUresult CUDAAPI cuStreamGetDevResource(CUstream stream, CUdevResource* resource,
                                                   CUdevResourceType type);
#endif
#if CUDA_VERSION < 13020
extern "C" CUresult CUDAAPI cuKernelGetParamCount(CUkernel kernel, std::size_t* count);
#endif

/// As in cudaGL.h, which needs OpenGL's own headers.
extern "C" CUresult CUDAAPI cuGraphicsGLRegisterBuffer(CUgraphicsResource* resource,
                                                       unsigned int buffer, unsigned int flags);
extern "C" CUresult CUDAAPI cuGraphicsGLRegisterImage(CUgraphicsResource* resource,
                                                      unsigned int image, unsigned int target,
                                                      unsigned int flags);

namespace cudacore::driver {

static_assert(CUDA_VERSION >= 13000, "cudacore is built with cuda.h of CUDA 13.0 or later");

/// Pointers to the driver's functions: the interface between cudacore and anything that implements
/// the driver API.
///
/// The real driver fills it once; tests can replace it with their own table.
struct DriverApi {
#define CUDACORE_DRIVER_SYMBOL(name, since, need, wait) decltype(&::name) name = nullptr;
#include "driver/symbols.def"
#undef CUDACORE_DRIVER_SYMBOL
  int version = 0;             ///< what cuDriverGetVersion returns
  std::filesystem::path path;  ///< the library the functions come from
  bool simulated = false;      ///< whether it is the simulated device
};

/// The current table. Opens libcuda and initializes it (cuInit) on first use.
/// @throw DriverNotFoundError that lists every place tried; ForkedProcessError in a forked child;
/// Error if cuInit fails. A failure is remembered, and loading is not tried again.
[[nodiscard]] const DriverApi& api();

/// For what needs no driver, but nothing of which works in a forked child either.
/// @throw ForkedProcessError in a child that was forked after the driver was initialized.
void throw_if_forked();

/// How to configure the simulated device; values of 0 come from the environment.
struct SimulatorConfiguration {
  unsigned devices = 1;
  int major = 9;
  int minor = 0;
  std::size_t memory = 0;  ///< bytes per device
};

/// Opens the simulated device with this configuration at once, as the driver for the first use, and
/// forgets an earlier failure. Does nothing if the simulated device is already in use with this
/// configuration.
/// @throw Error if another driver, or the simulated device with a different configuration, is
/// already in use.
void use_simulator(const SimulatorConfiguration& configuration);

/// Whether the driver in use, or the one that would be opened, is the simulated device.
[[nodiscard]] bool simulator_chosen();

/// The table, if api() has succeeded in this process and CUDA may still be called: not in a forked
/// child, and not while the process exits. Otherwise null. For deleters.
[[nodiscard]] const DriverApi* api_for_cleanup() noexcept;

/// Replaces the real table, for tests; null restores it.
void install_for_testing(const DriverApi* table) noexcept;

/// "13.0", of the number 13000 that CUDA's libraries use for it.
[[nodiscard]] std::string version_text(int version);

/// Throws NotSupportedError for an optional function that this driver lacks, naming both versions.
[[noreturn]] void throw_missing_symbol(const char* function, int since);

}  // namespace cudacore::driver
