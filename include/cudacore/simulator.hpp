// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>

/// The simulated device: a driver library of its own (libcudacore_sim.so) that runs PTX on the CPU.
///
/// It is used only when asked for: by enable(), or by CUDACORE_DRIVER=simulator in the environment.
namespace cudacore::simulator {

/// What is simulated. Each device has the same compute capability and memory of its own. A field
/// of 0 comes from the environment; the defaults are one device of compute capability 9.0 and 4
/// GiB.
struct Options {
  unsigned devices = 0;
  int major = 0;  ///< compute capability
  int minor = 0;
  std::size_t memory = 0;  ///< bytes of each device
};

/// Makes the simulated device this process's driver, before the first use of a device.
/// @throw std::invalid_argument for options out of range; Error where another driver, or the
/// simulated one with other options, is in use already; DriverNotFoundError where the library is
/// not installed.
void enable(const Options& options = {});

/// Whether the driver in use, or the one that would be opened now, is the simulated device. Opens
/// nothing.
[[nodiscard]] bool is_enabled();

/// Starts afresh, after a fault say: ends every context, with its work, streams, events and memory,
/// and frees the memory of pools. Objects made before raise ContextLostError; kernels and pools go
/// on. Does nothing where no driver was opened yet.
/// @throw Error where the driver in use is not the simulated device.
void reset();

/// Where libcudacore_sim.so lies.
/// @throw DriverNotFoundError listing every place tried.
[[nodiscard]] std::filesystem::path library();

}  // namespace cudacore::simulator
