// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>

/// The simulated device: a separate driver library (libcudacore_sim.so) that runs PTX on the CPU.
///
/// It is used only if you request it, with enable() or with CUDACORE_DRIVER=simulator in the
/// environment.
namespace cudacore::simulator {

/// What to simulate. All devices have the same compute capability, and each has its own memory. If
/// a field is 0, its value comes from the environment; the defaults are one device of compute
/// capability 9.0 and 4 GiB.
struct Options {
  unsigned devices = 0;
  int major = 0;  ///< compute capability
  int minor = 0;
  std::size_t memory = 0;  ///< bytes per device
};

/// Makes the simulated device this process's driver, before the first use of a device.
/// @throw std::invalid_argument if options are out of range; Error if another driver, or the
/// simulated one with other options, is already in use; DriverNotFoundError if the library is not
/// installed.
void enable(const Options& options = {});

/// Whether the driver in use, or the one that would be opened now, is the simulated device. Doesn't
/// open anything.
[[nodiscard]] bool is_enabled();

/// Starts afresh, for example after a fault: destroys every context, with its work, streams, events
/// and memory, and frees the memory of pools. Objects made before throw ContextLostError; kernels
/// and pools stay usable. Does nothing if no driver has been opened yet.
/// @throw Error if the driver in use is not the simulated device.
void reset();

/// The path of libcudacore_sim.so.
/// @throw DriverNotFoundError that lists every place tried.
[[nodiscard]] std::filesystem::path library();

}  // namespace cudacore::simulator
