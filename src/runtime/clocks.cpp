// SPDX-License-Identifier: Apache-2.0
#include "cudacore/clocks.hpp"

#include "cudacore/error.hpp"
#include "driver/nvml_api.hpp"

namespace cudacore::system {

Clocks clocks(const std::string& pci_bus_id) {
  const driver::NvmlApi& api = driver::nvml();
  const auto check = [&](int result, const char* function) {
    if (result == 0) return;
    const std::string why = api.nvmlErrorString(result);
    throw NotSupportedError(std::string(function) + " failed for the device " + pci_bus_id + ": " +
                                why + " (NVML at " + api.path.string() + ")",
                            result, why, function);
  };
  driver::NvmlDevice device = nullptr;
  check(api.nvmlDeviceGetHandleByPciBusId_v2(pci_bus_id.c_str(), &device),
        "nvmlDeviceGetHandleByPciBusId");
  Clocks found;
  check(api.nvmlDeviceGetClockInfo(device, driver::nvml_clock_sm, &found.multiprocessors),
        "nvmlDeviceGetClockInfo");
  check(api.nvmlDeviceGetClockInfo(device, driver::nvml_clock_memory, &found.memory),
        "nvmlDeviceGetClockInfo");
  check(api.nvmlDeviceGetCurrentClocksThrottleReasons(device, &found.reasons),
        "nvmlDeviceGetCurrentClocksThrottleReasons");
  return found;
}

}  // namespace cudacore::system
