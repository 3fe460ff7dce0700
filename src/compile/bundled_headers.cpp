// SPDX-License-Identifier: Apache-2.0
#include "compile/bundled_headers.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "compile/nvrtc_compilation.hpp"
#include "cudacore/error.hpp"
#include "driver/pip_command.hpp"

namespace cudacore::compile {

namespace fs = std::filesystem;

namespace {

fs::path user_cache() {
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache == '/') {
    return cache;
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return fs::path(home) / ".cache";
  }
  throw Error(
      "NVRTC's bundled headers need a folder to be unpacked into, and neither "
      "XDG_CACHE_HOME nor HOME is set: set one, or install the headers instead: "
      "pip install nvidia-cuda-runtime nvidia-cuda-crt nvidia-cuda-cccl",
      0, {}, {});
}

}  // namespace

std::string bundled_headers_flag() {
  const driver::NvrtcApi& api = driver::nvrtc();
  if (api.major < 13 || (api.major == 13 && api.minor < 3)) {
    throw NotSupportedError(
        nvrtc_version(api) + " (" + api.path.string() +
            ") bundles no headers; the option use_bundled_headers needs 13.3: " +
            driver::pip_command("nvidia-cuda-nvrtc", 13, driver::Pip::upgrade),
        0, {}, "nvrtcCompileProgram");
  }
  const fs::path folder =
      user_cache() / "cudacore" /
      ("headers-" + std::to_string(api.major) + "." + std::to_string(api.minor));
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (!error) fs::permissions(folder.parent_path(), fs::perms::owner_all, error);
  if (error) {
    throw Error("cannot make the folder " + folder.parent_path().string() +
                    " for NVRTC's bundled headers: " + error.message(),
                error.value(), {}, {});
  }
  return "--use-bundled-headers=" + folder.string();
}

}  // namespace cudacore::compile
