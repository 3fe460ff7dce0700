// SPDX-License-Identifier: Apache-2.0
#include "driver/nvrtc_api.hpp"

#include "driver/check_blocking.hpp"
#include "driver/library_table.hpp"
#include "driver/pip_command.hpp"

namespace cudacore::driver {
namespace {

enum class Presence { required, optional };

template <typename Function>
void resolve(const SharedLibrary& library, const char* name, Presence presence,
             Function*& function) {
  if (presence == Presence::optional) {
    function = reinterpret_cast<Function*>(library.symbol(name));
  } else {
    resolve_required(library, "NVRTC", name,
                     "; install a newer one: " + pip_command("nvidia-cuda-nvrtc"), function);
  }
}

/// How the names of NVRTC's second library begin.
constexpr std::string_view builtins = "libnvrtc-builtins.so.";

NvrtcApi open_nvrtc() {
  const SharedLibrary library = open_library(nvrtc_places());
  NvrtcApi api;
  api.path = library.path;
#define CUDACORE_NVRTC_SYMBOL(name, need, wait, result, parameters) \
  resolve(library, #name, Presence::need, api.name);                \
  check_blocking<&NvrtcApi::name>(api, #name, Wait::wait);
#include "driver/nvrtc_symbols.def"
#undef CUDACORE_NVRTC_SYMBOL
  if (const int result = api.nvrtcVersion(&api.major, &api.minor); result != 0) {
    throw Error(
        "nvrtcVersion failed on " + library.path.string() + ": " + api.nvrtcGetErrorString(result),
        result, api.nvrtcGetErrorString(result), "nvrtcVersion");
  }
  // Toolkit libraries have no run path: NVRTC would find its second library only if ldconfig knows
  // it.
  preload(library.path.parent_path() /
          (std::string(builtins) + std::to_string(api.major) + "." + std::to_string(api.minor)));
  api.identity = describe_library(library, builtins).identity;
  return api;
}

}  // namespace

LibraryPlaces nvrtc_places() {
  return {
      .title = "NVRTC",
      .sonames = {"libnvrtc.so.13", "libnvrtc.so.12"},
      .wheel_folders = {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"},
      .cure = "pip install nvidia-cuda-nvrtc (for CUDA 12: nvidia-cuda-nvrtc-cu12)",
  };
}

const NvrtcApi& nvrtc() { return LibraryTable<&open_nvrtc>::get(); }

std::optional<InstalledLibrary> find_nvrtc() {
  if (const NvrtcApi* api = LibraryTable<&open_nvrtc>::if_open()) {
    return InstalledLibrary{api->path, api->major, api->identity};
  }
  return find_library(nvrtc_places(), builtins);
}

}  // namespace cudacore::driver
