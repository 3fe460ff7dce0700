// SPDX-License-Identifier: Apache-2.0
#include "cudacore/system.hpp"

#include <utility>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "driver/driver_api.hpp"
#include "driver/nvfatbin_api.hpp"
#include "driver/nvjitlink_api.hpp"
#include "driver/nvrtc_api.hpp"
#include "driver/shared_library.hpp"
#include "error/check.hpp"
#include "error/unraisable.hpp"
#include "error/wait.hpp"

namespace cudacore::system {
namespace {

void check(const driver::NvrtcApi& api, int result, const char* function) {
  if (result == 0) return;
  const std::string name = api.nvrtcGetErrorString(result);
  throw Error(std::string(function) + " failed on " + api.path.string() + ": " + name, result, name,
              function);
}

}  // namespace

Library driver() {
  const driver::DriverApi& api = driver::api();
  return {{api.version / 1000, api.version % 1000 / 10}, api.path};
}

Library nvrtc() {
  const driver::NvrtcApi& api = driver::nvrtc();
  return {{api.major, api.minor}, api.path};
}

Library nvjitlink() {
  const driver::NvJitLinkApi& api = driver::nvjitlink();
  return {{api.major, api.minor}, api.path};
}

Library nvfatbin() {
  const driver::NvFatbinApi& api = driver::nvfatbin();
  return {{api.major, api.minor}, api.path};
}

std::vector<int> nvrtc_architectures() {
  const driver::NvrtcApi& api = driver::nvrtc();
  int count = 0;
  check(api, api.nvrtcGetNumSupportedArchs(&count), "nvrtcGetNumSupportedArchs");
  std::vector<int> architectures(static_cast<std::size_t>(count));
  check(api, api.nvrtcGetSupportedArchs(architectures.data()), "nvrtcGetSupportedArchs");
  return architectures;
}

std::vector<std::filesystem::path> include_directories() {
  const driver::NvrtcApi& api = driver::nvrtc();
  return driver::find_include_directories(api.path, api.major);
}

int num_devices() { return Device::count(); }

void set_wheel_roots(std::function<std::vector<std::filesystem::path>()> roots) {
  driver::set_wheel_roots(std::move(roots));
}

void set_interrupt_hook(bool (*hook)()) noexcept { error::set_interrupt_hook(hook); }
void set_log_hook(void (*hook)(const char* message)) noexcept { error::set_log_hook(hook); }
unsigned long long unraisable_errors() noexcept { return error::unraisable_errors(); }

}  // namespace cudacore::system
