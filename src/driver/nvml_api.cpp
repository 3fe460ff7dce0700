// SPDX-License-Identifier: Apache-2.0
#include "driver/nvml_api.hpp"

#include <atomic>
#include <string>

#include <unistd.h>

#include "cudacore/nvml_error.hpp"
#include "driver/check_blocking.hpp"
#include "driver/driver_api.hpp"
#include "driver/library_table.hpp"

namespace cudacore::driver {
namespace {

NvmlApi open_table() {
  const SharedLibrary library = simulator_chosen() ? open_simulator() : open_nvml();
  NvmlApi api;
  api.path = library.path;
  resolve_required(library, "NVML", "nvmlInit_v2", "", api.nvmlInit_v2);
  check_blocking<&NvmlApi::nvmlInit_v2>(api, "nvmlInit_v2", Wait::may_block);
  resolve_required(library, "NVML", "nvmlErrorString", "", api.nvmlErrorString);
#define CUDACORE_NVML_SYMBOL(name, parameters)                            \
  api.name = reinterpret_cast<decltype(api.name)>(library.symbol(#name)); \
  check_blocking<&NvmlApi::name>(api, #name, Wait::may_block);
#include "driver/nvml_symbols.def"
#undef CUDACORE_NVML_SYMBOL
  return api;
}

const char* advice(int result) noexcept {
  switch (result) {
    case nvml_not_supported:
      return ". This device, or its driver, doesn't do this";
    case nvml_no_permission:
      return ". Only root may do this, or the driver's administrator has to allow it";
    default:
      return "";
  }
}

}  // namespace

const NvmlApi& nvml() {
  const BlockingScope blocking;
  static const NvmlApi api = open_table();
  // NVML counts how often it is initialized: two threads at once do no harm.
  static std::atomic<pid_t> initialized_in{0};
  const pid_t process = getpid();
  if (initialized_in.load(std::memory_order_acquire) != process) {
    if (const int result = api.nvmlInit_v2(); result != 0) {
      throw_nvml_error(api, result, "nvmlInit", "");
    }
    initialized_in.store(process, std::memory_order_release);
  }
  return api;
}

void throw_nvml_error(const NvmlApi& api, int result, const char* function,
                      const std::string& about) {
  const std::string why = api.nvmlErrorString(result);
  throw NvmlError(std::string(function) + " failed" + about + ": " + why + " (NVML at " +
                      api.path.string() + ")" + advice(result),
                  result, why, function);
}

}  // namespace cudacore::driver
