// SPDX-License-Identifier: Apache-2.0
#include "driver/nvml_api.hpp"

#include "driver/check_blocking.hpp"
#include "driver/library_table.hpp"

namespace cudacore::driver {
namespace {

NvmlApi open_and_initialize() {
  const SharedLibrary library = open_nvml();
  NvmlApi api;
  api.path = library.path;
#define CUDACORE_NVML_SYMBOL(name, result, parameters)    \
  resolve_required(library, "NVML", #name, "", api.name); \
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
