// SPDX-License-Identifier: Apache-2.0
#include "driver/nvml_api.hpp"

#include "cudacore/error.hpp"
#include "driver/check_blocking.hpp"
#include "driver/shared_library.hpp"

namespace cudacore::driver {
namespace {

template <typename Function>
void resolve_nvml(const SharedLibrary& library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(library.symbol(name));
  if (function == nullptr) {
    throw NotSupportedError("NVML at " + library.path.string() + " has no function " + name, 0, {},
                            name);
  }
}

NvmlApi open_and_initialize() {
  const SharedLibrary library = open_nvml();
  NvmlApi api;
  api.path = library.path;
#define CUDACORE_NVML_SYMBOL(name, result, parameters) \
  resolve_nvml(library, #name, api.name);              \
  check_blocking<&NvmlApi::name>(api, #name, Wait::may_block);
#include "driver/nvml_symbols.def"
#undef CUDACORE_NVML_SYMBOL
  if (const int result = api.nvmlInit_v2(); result != 0) {
    const std::string why = api.nvmlErrorString(result);
    throw NotSupportedError("nvmlInit failed on " + library.path.string() + ": " + why, result, why,
                            "nvmlInit");
  }
  return api;
}

}  // namespace

const NvmlApi& nvml() {
  const BlockingScope blocking;
  static const NvmlApi api = open_and_initialize();
  return api;
}

}  // namespace cudacore::driver
