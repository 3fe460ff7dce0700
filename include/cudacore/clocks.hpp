// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cudacore::system {

/// The clocks of a device at a moment, in MHz, and what holds them down: the bits of NVML's
/// nvmlClocksEventReasons.
struct Clocks {
  unsigned multiprocessors = 0;
  unsigned memory = 0;
  unsigned long long reasons = 0;
};

/// Asks NVML for the clocks of the device at a PCI bus, such as "0000:1b:00.0".
/// @throw LibraryNotFoundError without NVML; NvmlError if it doesn't tell.
[[nodiscard]] Clocks clocks(const std::string& pci_bus_id);

}  // namespace cudacore::system
