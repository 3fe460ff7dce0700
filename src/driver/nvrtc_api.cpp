// SPDX-License-Identifier: Apache-2.0
#include "driver/nvrtc_api.hpp"

#include <atomic>

#include "cudacore/error.hpp"
#include "driver/check_blocking.hpp"
#include "driver/pip_command.hpp"

namespace cudacore::driver {
namespace {

enum class Presence { required, optional };

template <typename Function>
void resolve(const SharedLibrary& library, const char* name, Presence presence,
             Function*& function) {
  function = reinterpret_cast<Function*>(library.symbol(name));
  if (function == nullptr && presence == Presence::required) {
    throw NotSupportedError("NVRTC at " + library.path.string() + " has no function " + name +
                                "; install a newer one: " + pip_command("nvidia-cuda-nvrtc"),
                            0, {}, name);
  }
}

/// How the names of NVRTC's second library begin.
constexpr std::string_view builtins = "libnvrtc-builtins.so.";

constinit std::atomic<const NvrtcApi*> opened{nullptr};

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

const NvrtcApi& nvrtc() {
  // Called before taking the lock that guards the table; see wheel_roots().
  (void)wheel_roots();
  const BlockingScope blocking;
  static const NvrtcApi api = open_nvrtc();
  opened.store(&api, std::memory_order_release);
  return api;
}

std::optional<InstalledLibrary> find_nvrtc() {
  if (const NvrtcApi* api = opened.load(std::memory_order_acquire)) {
    return InstalledLibrary{api->path, api->major, api->identity};
  }
  return find_library(nvrtc_places(), builtins);
}

}  // namespace cudacore::driver
