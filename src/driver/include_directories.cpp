// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <system_error>

#include "driver/shared_library.hpp"

namespace cudacore::driver {

namespace fs = std::filesystem;

namespace {

/// A place that may contain headers: the root of an installation, or the folders of NVIDIA's
/// wheels.
struct Installation {
  std::vector<fs::path> runtime;  ///< may contain cuda_runtime_api.h
  std::vector<fs::path> cccl;     ///< may contain cuda/std
  std::vector<fs::path> crt;      ///< may contain crt, if it is not in the runtime's folder
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

/// CUDA 12's wheels, each of which has its own folder in site-packages/nvidia.
Installation separate_wheels_at(const fs::path& nvidia) {
  return {{nvidia / "cuda_runtime/include"},
          {nvidia / "cuda_cccl/include"},
          {nvidia / "cuda_nvcc/include"}};
}

/// The CUDA version of a folder's headers, 13000 for 13.0; unset if they don't say.
std::optional<int> header_version(const fs::path& folder) {
  std::ifstream file(folder / "cuda_runtime_api.h");
  constexpr std::string_view key = "#define CUDART_VERSION";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(key)) {
      const int version = std::atoi(line.c_str() + key.size());
      if (version > 0) return version;
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

/// The headers that exist in one installation.
struct Headers {
  fs::path runtime;
  fs::path cccl;
  fs::path crt;  ///< empty if it is in the runtime's folder, or missing
  int version = 0;
  bool is_complete = false;  ///< has the crt headers that the runtime's headers include
};

fs::path first_with(const std::vector<fs::path>& folders, const char* file) {
  const auto found = std::find_if(folders.begin(), folders.end(),
                                  [&](const fs::path& folder) { return is_there(folder / file); });
  return found == folders.end() ? fs::path() : *found;
}

/// The headers of an installation that fit a major version of NVRTC; none if it has another
/// version.
Headers headers_of(const Installation& place, int major) {
  Headers headers;
  headers.runtime = first_with(place.runtime, "cuda_runtime_api.h");
  if (!headers.runtime.empty()) {
    headers.version = header_version(headers.runtime).value_or(0);
    if (headers.version / 1000 != major) return {};
    constexpr const char* part_of_crt = "crt/mma.h";
    headers.is_complete = is_there(headers.runtime / part_of_crt);
    if (!headers.is_complete) {
      headers.crt = first_with(place.crt, part_of_crt);
      headers.is_complete = !headers.crt.empty();
    }
  }
  headers.cccl = first_with(place.cccl, "cuda/std/version");
  return headers;
}

void add_once(std::vector<fs::path>& folders, const fs::path& folder) {
  if (folder.empty()) return;
  if (std::find(folders.begin(), folders.end(), folder) == folders.end()) folders.push_back(folder);
}

}  // namespace

std::vector<HeaderFolder> find_header_folders(const fs::path& nvrtc, int major) {
  std::vector<HeaderFolder> found;
  const auto is_known = [&](const fs::path& folder) {
    return std::any_of(found.begin(), found.end(),
                       [&](const HeaderFolder& one) { return one.folder == folder; });
  };
  for (const Installation& place : installations(nvrtc, major)) {
    for (const fs::path& folder : place.runtime) {
      if (!is_there(folder / "cuda_runtime_api.h") || is_known(folder)) continue;
      found.push_back({folder, header_version(folder).value_or(0)});
    }
  }
  return found;
}

std::vector<fs::path> find_include_directories(const fs::path& nvrtc, int major) {
  std::vector<Headers> found;
  for (const Installation& place : installations(nvrtc, major)) {
    found.push_back(headers_of(place, major));
  }
  // The first complete installation determines the version: the runtime's headers include crt
  // headers, which must have the same version.
  const auto has_runtime = [](const Headers& headers) { return !headers.runtime.empty(); };
  auto chosen = std::find_if(found.begin(), found.end(),
                             [](const Headers& headers) { return headers.is_complete; });
  if (chosen == found.end()) chosen = std::find_if(found.begin(), found.end(), has_runtime);
  const auto cccl = std::find_if(found.begin(), found.end(),
                                 [](const Headers& headers) { return !headers.cccl.empty(); });

  std::vector<fs::path> folders;
  if (chosen != found.end()) {
    add_once(folders, chosen->runtime);
    add_once(folders, chosen->crt);
  }
  if (cccl != found.end()) add_once(folders, cccl->cccl);
  for (const Headers& headers : found) {
    if (chosen == found.end() || headers.version != chosen->version) continue;
    add_once(folders, headers.runtime);
    add_once(folders, headers.crt);
  }
  return folders;
}

}  // namespace cudacore::driver
