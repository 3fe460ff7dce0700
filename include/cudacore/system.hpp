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

/// The CUDA version the driver speaks (cuDriverGetVersion), and libcuda's path.
/// @throw DriverNotFoundError.
[[nodiscard]] Library driver();
/// @throw LibraryNotFoundError.
[[nodiscard]] Library nvrtc();
/// @throw LibraryNotFoundError.
[[nodiscard]] Library nvjitlink();
/// The architectures NVRTC compiles for, such as 75, 80, 90 (nvrtcGetSupportedArchs).
[[nodiscard]] std::vector<int> nvrtc_architectures();
/// Folders with CUDA's own headers, in search order; empty where there are none.
[[nodiscard]] std::vector<std::filesystem::path> include_directories();
[[nodiscard]] int num_devices();

/// Folders that hold NVIDIA's wheels (site-packages); asked once, on the first search.
void set_wheel_roots(std::function<std::vector<std::filesystem::path>()> roots);

/// Called about every 20 ms while a call waits; true gives the wait up with InterruptedError.
void set_interrupt_hook(bool (*hook)()) noexcept;
/// Told of failures that cannot be thrown: in a buffer's or stream's end, in a callback. The
/// default writes to standard error.
void set_log_hook(void (*hook)(const char* message)) noexcept;
/// How many such failures there were.
[[nodiscard]] unsigned long long unraisable_errors() noexcept;

}  // namespace cudacore::system
