// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "driver/shared_library.hpp"

namespace cudacore::driver {

namespace fs = std::filesystem;

namespace {

/// A place that may hold headers: an installation's root, or the folder of one of NVIDIA's wheels.
struct Installation {
  std::vector<fs::path> runtime;  ///< may hold cuda_runtime_api.h
  std::vector<fs::path> cccl;     ///< may hold cuda/std
};

bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::exists(file, error);
}

Installation installation_at(const fs::path& root) {
  Installation places;
  for (const fs::path& folder : {root / "include", root / target_folder / "include"}) {
    places.runtime.push_back(folder);
    places.cccl.push_back(folder / "cccl");
    places.cccl.push_back(folder);
  }
  return places;
}

/// CUDA 12's wheels, each of which has a folder of its own below site-packages/nvidia.
Installation separate_wheels_at(const fs::path& nvidia) {
  return {{nvidia / "cuda_runtime/include"}, {nvidia / "cuda_cccl/include"}};
}

/// The major version that a folder's headers are of; unset where they do not say.
std::optional<int> header_major(const fs::path& folder) {
  std::ifstream file(folder / "cuda_runtime_api.h");
  constexpr std::string_view key = "#define CUDART_VERSION";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) {
      const int version = std::atoi(line.c_str() + key.size());
      if (version > 0) return version / 1000;
    }
  }
  return std::nullopt;
}

std::vector<Installation> installations(const fs::path& nvrtc, int major) {
  std::vector<Installation> places;
  const fs::path root = nvrtc.parent_path().parent_path();
  if (!root.empty()) {
    places.push_back(installation_at(root));
    places.push_back(separate_wheels_at(root.parent_path()));
  }
  for (const fs::path& folder : wheel_roots()) {
    places.push_back(installation_at(folder / "nvidia" / ("cu" + std::to_string(major))));
    if (major == 12) places.push_back(separate_wheels_at(folder / "nvidia"));
  }
  if (const fs::path prefix = conda_prefix(); !prefix.empty()) {
    places.push_back(installation_at(prefix));
  }
  for (const fs::path& toolkit : toolkit_roots()) places.push_back(installation_at(toolkit));
  return places;
}

}  // namespace

std::vector<fs::path> find_include_directories(const fs::path& nvrtc, int major) {
  fs::path runtime;
  fs::path cccl;
  for (const Installation& place : installations(nvrtc, major)) {
    const auto has_runtime = [](const fs::path& folder) {
      return is_there(folder / "cuda_runtime_api.h");
    };
    const auto folder = std::find_if(place.runtime.begin(), place.runtime.end(), has_runtime);
    if (folder != place.runtime.end()) {
      if (header_major(*folder) != major) continue;
      if (runtime.empty()) runtime = *folder;
    }
    if (cccl.empty()) {
      const auto found = std::find_if(place.cccl.begin(), place.cccl.end(), [](const fs::path& f) {
        return is_there(f / "cuda/std/version");
      });
      if (found != place.cccl.end()) cccl = *found;
    }
    if (!runtime.empty() && !cccl.empty()) break;
  }
  std::vector<fs::path> folders;
  if (!runtime.empty()) folders.push_back(runtime);
  if (!cccl.empty() && cccl != runtime) folders.push_back(cccl);
  return folders;
}

}  // namespace cudacore::driver
