// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace cudacore::system {

struct Version {
  int major = 0;
  int minor = 0;
};

/// A library this process uses, and where it came from.
struct Library {
  Version version;
  std::filesystem::path path;
};

/// The CUDA version that the driver supports (cuDriverGetVersion), and the path of libcuda.
/// @throw DriverNotFoundError if it is not installed.
[[nodiscard]] Library driver();
/// @throw LibraryNotFoundError if it is not installed.
[[nodiscard]] Library nvrtc();
/// @throw LibraryNotFoundError if it is not installed.
[[nodiscard]] Library nvjitlink();
/// @throw LibraryNotFoundError if it is not installed.
[[nodiscard]] Library nvfatbin();
/// The architectures that NVRTC compiles for, such as 75, 80, 90 (nvrtcGetSupportedArchs).
[[nodiscard]] std::vector<int> nvrtc_architectures();
/// The folders with CUDA's own headers, in search order; empty if there are none.
[[nodiscard]] std::vector<std::filesystem::path> include_directories();
[[nodiscard]] int num_devices();

/// Sets a function that returns the folders with NVIDIA's wheels (site-packages); called once, for
/// the first search.
void set_wheel_roots(std::function<std::vector<std::filesystem::path>()> roots);

/// Sets a hook that is called about every 20 ms while a call waits. If it returns true, the wait
/// ends with InterruptedError.
void set_interrupt_hook(bool (*hook)()) noexcept;
/// Sets a hook for failures that cannot be thrown: in the destructor of a buffer or stream, or in a
/// callback. By default, they are written to standard error.
void set_log_hook(void (*hook)(const char* message)) noexcept;
/// The number of such failures so far.
[[nodiscard]] unsigned long long unraisable_errors() noexcept;

}  // namespace cudacore::system
