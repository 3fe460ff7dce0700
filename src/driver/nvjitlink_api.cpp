// SPDX-License-Identifier: Apache-2.0
#include "driver/nvjitlink_api.hpp"

#include "driver/check_blocking.hpp"
#include "driver/library_table.hpp"

namespace cudacore::driver {
namespace {

constexpr const char* cure = "pip install nvidia-nvjitlink (for CUDA 12: nvidia-nvjitlink-cu12)";

[[noreturn]] void throw_missing(const SharedLibrary& library, const std::string& name) {
  throw NotSupportedError("nvJitLink at " + library.path.string() + " has no function " + name +
                              "; cudacore needs 12.3 or later: " + cure,
                          0, {}, name);
}

/// The function with the library's own version, whose behavior its header promises; otherwise the
/// plain one.
template <typename Function>
void resolve(const SharedLibrary& library, const std::string& name, const std::string& version,
             Function*& function) {
  void* address = library.symbol(("__" + name + version).c_str());
  if (address == nullptr) address = library.symbol(name.c_str());
  if (address == nullptr) throw_missing(library, name);
  function = reinterpret_cast<Function*>(address);
}

NvJitLinkApi open_nvjitlink() {
  const SharedLibrary library = open_library(nvjitlink_places());
  using VersionFunction = int(unsigned*, unsigned*);
  auto* version_function = reinterpret_cast<VersionFunction*>(library.symbol("nvJitLinkVersion"));
  if (version_function == nullptr) throw_missing(library, "nvJitLinkVersion");
  unsigned major = 0;
  unsigned minor = 0;
  if (const int result = version_function(&major, &minor); result != 0) {
    throw Error("nvJitLinkVersion failed with code " + std::to_string(result) + " on " +
                    library.path.string(),
                result, {}, "nvJitLinkVersion");
  }
  NvJitLinkApi api;
  api.path = library.path;
  api.identity = describe_library(library).identity;
  api.major = static_cast<int>(major);
  api.minor = static_cast<int>(minor);
  const std::string version = "_" + std::to_string(major) + "_" + std::to_string(minor);
#define CUDACORE_NVJITLINK_SYMBOL(name, wait, result, parameters) \
  resolve(library, #name, version, api.name);                     \
  check_blocking<&NvJitLinkApi::name>(api, #name, Wait::wait);
#include "driver/nvjitlink_symbols.def"
#undef CUDACORE_NVJITLINK_SYMBOL
  return api;
}

}  // namespace

LibraryPlaces nvjitlink_places() {
  return {
      .title = "nvJitLink",
      .sonames = {"libnvJitLink.so.13", "libnvJitLink.so.12"},
      .wheel_folders = {"nvidia/cu13/lib", "nvidia/nvjitlink/lib"},
      .cure = cure,
  };
}

const NvJitLinkApi& nvjitlink() { return LibraryTable<&open_nvjitlink>::get(); }

std::optional<InstalledLibrary> find_nvjitlink() {
  if (const NvJitLinkApi* api = LibraryTable<&open_nvjitlink>::if_open()) {
    return InstalledLibrary{api->path, api->major, api->identity};
  }
  return find_library(nvjitlink_places());
}

}  // namespace cudacore::driver
