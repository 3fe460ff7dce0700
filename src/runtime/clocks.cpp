// SPDX-License-Identifier: Apache-2.0
#include "cudacore/clocks.hpp"

#include "driver/nvml_api.hpp"
#include "runtime/nvml.hpp"

namespace cudacore::system {
namespace {

template <typename Number>
Number answered(const char* function, const std::vector<NvmlValue>& arguments) {
  return static_cast<Number>(std::get<std::uint64_t>(ask_nvml(function, arguments).of));
}

}  // namespace

Clocks clocks(const std::string& pci_bus_id) {
  const NvmlValue device = ask_nvml("nvmlDeviceGetHandleByPciBusId_v2", {{pci_bus_id}});
  const auto clock = [&](std::uint64_t type) {
    return answered<unsigned>("nvmlDeviceGetClockInfo", {device, {type}});
  };
  Clocks found;
  found.multiprocessors = clock(driver::nvml_clock_sm);
  found.memory = clock(driver::nvml_clock_memory);
  found.reasons =
      answered<unsigned long long>("nvmlDeviceGetCurrentClocksThrottleReasons", {device});
  return found;
}

}  // namespace cudacore::system
