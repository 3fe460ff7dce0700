// SPDX-License-Identifier: Apache-2.0
#include "driver/shared_library.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <utility>

#include <dlfcn.h>
#include <link.h>

#include "cudacore/error.hpp"

namespace cudacore::driver {

namespace fs = std::filesystem;

namespace {

struct WheelRoots {
  std::mutex mutex;
  std::function<std::vector<fs::path>()> ask;
  std::unique_ptr<const std::vector<fs::path>> found;
  std::atomic<const std::vector<fs::path>*> published{nullptr};
};

WheelRoots& wheel_root_storage() {
  static WheelRoots storage;
  return storage;
}

/// The path of a loaded library; the requested name if the loader doesn't report the path.
fs::path path_of(void* handle, const fs::path& asked) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr || map->l_name[0] == '\0') {
    return asked;
  }
  return real_path(map->l_name);
}

/// Opens libraries one after another and records why each attempt failed.
class Search {
 public:
  std::optional<SharedLibrary> open_loaded(const std::string& soname) {
    if (void* handle = dlopen(soname.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD)) {
      return SharedLibrary{handle, path_of(handle, soname)};
    }
    tried_.push_back(soname + ": not loaded in this process yet");
    return std::nullopt;
  }

  std::optional<SharedLibrary> open_file(const fs::path& file) {
    if (std::find(files_.begin(), files_.end(), file) != files_.end()) return std::nullopt;
    files_.push_back(file);
    std::error_code error;
    if (!fs::exists(file, error)) {
      tried_.push_back(file.string() + ": no such file");
      return std::nullopt;
    }
    return open_as(file, file.string());
  }

  std::optional<SharedLibrary> open_by_loader(const std::string& soname) {
    return open_as(soname, "the system loader");
  }

  std::optional<SharedLibrary> open(const LibraryPlace& place) {
    if (place.name.empty()) {
      tried_.push_back(place.absence);
      return std::nullopt;
    }
    if (place.kind == PlaceKind::loaded) return open_loaded(place.name);
    if (place.kind == PlaceKind::loader) return open_by_loader(place.name);
    return open_file(place.name);
  }

  [[nodiscard]] const std::vector<std::string>& tried() const noexcept { return tried_; }
  [[nodiscard]] std::string list() const {
    std::string text;
    for (const std::string& line : tried_) text += "\n  " + line;
    return text;
  }

 private:
  std::optional<SharedLibrary> open_as(const fs::path& name, const std::string& place) {
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return SharedLibrary{handle, path_of(handle, name)};
    }
    const char* why = dlerror();
    tried_.push_back(place + ": " + (why != nullptr ? why : "dlopen failed"));
    return std::nullopt;
  }

  std::vector<std::string> tried_;
  std::vector<fs::path> files_;
};

}  // namespace

fs::path real_path(const fs::path& path) {
  std::error_code error;
  fs::path real = fs::canonical(path, error);
  return error ? path : real;
}

void* SharedLibrary::symbol(const char* name) const noexcept { return dlsym(handle, name); }

const std::vector<fs::path>& wheel_roots() {
  WheelRoots& storage = wheel_root_storage();
  if (const auto* known = storage.published.load(std::memory_order_acquire)) return *known;
  std::function<std::vector<fs::path>()> ask;
  {
    const std::lock_guard lock(storage.mutex);
    ask = storage.ask;
  }
  // Not under the lock: the function may need Python's GIL, whose holder may wait for the lock.
  auto answer =
      std::make_unique<const std::vector<fs::path>>(ask ? ask() : std::vector<fs::path>{});
  const std::lock_guard lock(storage.mutex);
  if (!storage.found) {
    storage.found = std::move(answer);
    storage.ask = nullptr;
    storage.published.store(storage.found.get(), std::memory_order_release);
  }
  return *storage.found;
}

void set_wheel_roots(std::function<std::vector<fs::path>()> roots) {
  WheelRoots& storage = wheel_root_storage();
  const std::lock_guard lock(storage.mutex);
  if (!storage.found) storage.ask = std::move(roots);
}

std::vector<fs::path> toolkit_roots() {
  std::vector<fs::path> roots;
  for (const char* variable : {"CUDA_PATH", "CUDA_HOME"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == '\0') continue;
    if (std::find(roots.begin(), roots.end(), fs::path(value)) == roots.end()) {
      roots.emplace_back(value);
    }
  }
  std::error_code error;
  if (const fs::path usual = "/usr/local/cuda"; roots.empty() && fs::is_directory(usual, error)) {
    roots.push_back(usual);
  }
  return roots;
}

std::vector<fs::path> toolkit_library_folders(const fs::path& root) {
  return {root / "lib64", root / "lib", root / target_folder / "lib"};
}

fs::path conda_prefix() {
  const char* prefix = std::getenv("CONDA_PREFIX");
  return prefix != nullptr ? prefix : "";
}

std::vector<LibraryPlace> search_order(const LibraryPlaces& places) {
  std::vector<LibraryPlace> order;
  const auto add_names = [&](PlaceKind kind) {
    for (const std::string& soname : places.sonames) order.push_back({kind, soname, {}});
  };
  const auto add_folders = [&](PlaceKind kind, const fs::path& root) {
    for (const std::string& soname : places.sonames) {
      for (const fs::path& folder : toolkit_library_folders(root)) {
        order.push_back({kind, folder / soname, {}});
      }
    }
  };

  add_names(PlaceKind::loaded);

  if (wheel_roots().empty()) {
    order.push_back({PlaceKind::wheel, {}, "NVIDIA's wheels: no site-packages folder is known"});
  }
  for (const fs::path& root : wheel_roots()) {
    for (const std::string& soname : places.sonames) {
      for (const std::string& folder : places.wheel_folders) {
        order.push_back({PlaceKind::wheel, root / folder / soname, {}});
      }
    }
  }

  if (const fs::path prefix = conda_prefix(); !prefix.empty()) {
    add_folders(PlaceKind::conda, prefix);
  } else {
    order.push_back({PlaceKind::conda, {}, "conda: CONDA_PREFIX is not set"});
  }

  add_names(PlaceKind::loader);

  const std::vector<fs::path> toolkits = toolkit_roots();
  if (toolkits.empty()) {
    order.push_back({PlaceKind::toolkit, {}, "CUDA_PATH, CUDA_HOME: not set; no /usr/local/cuda"});
  }
  for (const fs::path& root : toolkits) add_folders(PlaceKind::toolkit, root);
  return order;
}

SharedLibrary open_library(const LibraryPlaces& places) {
  Search search;
  for (const LibraryPlace& place : search_order(places)) {
    if (auto library = search.open(place)) return *std::move(library);
  }
  throw LibraryNotFoundError(std::string(places.title) + " could not be opened. Tried, in order:" +
                                 search.list() + "\nInstall it with: " + std::string(places.cure),
                             search.tried());
}

void preload(const fs::path& file) noexcept { (void)dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL); }

SharedLibrary open_driver() {
  constexpr const char* soname = "libcuda.so.1";
  Search search;
  if (auto library = search.open_loaded(soname)) return *std::move(library);
  if (auto library = search.open_by_loader(soname)) return *std::move(library);
  throw DriverNotFoundError(
      "the CUDA driver (" + std::string(soname) +
          ") could not be opened. Tried, in order:" + search.list() +
          "\nCompiling, linking and inspecting code for an explicit arch work without it. To run "
          "kernels, install NVIDIA's driver; in a container, install nvidia-container-toolkit on "
          "the "
          "host and start the container with --gpus all; under WSL, install the driver in "
          "Windows." +
          std::string(simulator_advice),
      search.tried());
}

SharedLibrary open_nvml() {
  constexpr const char* soname = "libnvidia-ml.so.1";
  Search search;
  if (auto library = search.open_loaded(soname)) return *std::move(library);
  if (auto library = search.open_by_loader(soname)) return *std::move(library);
  throw LibraryNotFoundError("NVML (" + std::string(soname) +
                                 ") could not be opened. Tried, in order:" + search.list() +
                                 "\nIt comes with NVIDIA's driver; in a container, start it with "
                                 "--gpus all, and \"utility\" in NVIDIA_DRIVER_CAPABILITIES.",
                             search.tried());
}

SharedLibrary open_simulator() {
  constexpr const char* soname = "libcudacore_sim.so";
  Search search;
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&open_simulator), &here) != 0 &&
      here.dli_fname != nullptr) {
    const fs::path folder = fs::path(here.dli_fname).parent_path();
    for (const fs::path& place : {folder / "lib" / soname, folder / soname}) {
      if (auto library = search.open_file(place)) return *std::move(library);
    }
  }
  if (auto library = search.open_by_loader(soname)) return *std::move(library);
  throw DriverNotFoundError("the simulated device (" + std::string(soname) +
                                ") could not be opened. Tried, in order:" + search.list() +
                                "\nIt comes with the Python package; for a C++ program, put its "
                                "folder into LD_LIBRARY_PATH.",
                            search.tried());
}

}  // namespace cudacore::driver
