// SPDX-License-Identifier: Apache-2.0
#include "driver/nvfatbin_api.hpp"

#include "driver/check_blocking.hpp"
#include "driver/library_table.hpp"

namespace cudacore::driver {
namespace {

constexpr const char* nvfatbin_cure =
    "pip install nvidia-nvfatbin (for CUDA 12: nvidia-nvfatbin-cu12)";

NvFatbinApi open_nvfatbin() {
  const SharedLibrary library = open_library(nvfatbin_places());
  NvFatbinApi api;
  api.path = library.path;
  const std::string advice = std::string("; install a newer one: ") + nvfatbin_cure;
#define CUDACORE_NVFATBIN_SYMBOL(name, wait, result, parameters)  \
  resolve_required(library, "nvFatbin", #name, advice, api.name); \
  check_blocking<&NvFatbinApi::name>(api, #name, Wait::wait);
#include "driver/nvfatbin_symbols.def"
#undef CUDACORE_NVFATBIN_SYMBOL
  unsigned major = 0;
  unsigned minor = 0;
  if (const int result = api.nvFatbinVersion(&major, &minor); result != 0) {
    const std::string text = api.nvFatbinGetErrorString(result);
    throw Error("nvFatbinVersion failed on " + library.path.string() + ": " + text, result, text,
                "nvFatbinVersion");
  }
  api.major = static_cast<int>(major);
  api.minor = static_cast<int>(minor);
  return api;
}

}  // namespace

LibraryPlaces nvfatbin_places() {
  return {
      .title = "nvFatbin",
      .sonames = {"libnvfatbin.so.13", "libnvfatbin.so.12"},
      .wheel_folders = {"nvidia/cu13/lib", "nvidia/nvfatbin/lib"},
      .cure = nvfatbin_cure,
  };
}

const NvFatbinApi& nvfatbin() { return LibraryTable<&open_nvfatbin>::get(); }

}  // namespace cudacore::driver
