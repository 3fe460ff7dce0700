// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudacore::driver {

/// A shared library that was opened, and stays open: CUDA's libraries cannot be closed safely.
struct SharedLibrary {
  void* handle = nullptr;
  std::filesystem::path path;

  /// Address of a symbol, null where it is missing (dlsym).
  [[nodiscard]] void* symbol(const char* name) const noexcept;
};

/// Where one of NVIDIA's libraries may lie.
struct LibraryPlaces {
  std::string_view title;                  ///< "NVRTC"
  std::vector<std::string> sonames;        ///< newest first: "libnvrtc.so.13", "libnvrtc.so.12"
  std::vector<std::string> wheel_folders;  ///< below site-packages: "nvidia/cu13/lib"
  std::string_view cure;                   ///< "pip install nvidia-cuda-nvrtc"
};

/// Opens the first that is found: already loaded in the process, in NVIDIA's wheels, below the
/// conda prefix, by the system loader, below toolkit_roots().
/// @throw LibraryNotFoundError that lists every place tried and the cure.
[[nodiscard]] SharedLibrary open_library(const LibraryPlaces& places);

/// What the errors of a machine without a GPU end with.
inline constexpr std::string_view simulator_advice =
    "\nTo run here without a GPU, on the CPU, put this line before the first use of a device:\n"
    "  import cudacore; cudacore.simulator.enable()\n"
    "or set CUDACORE_DRIVER=simulator in the environment.";

/// libcuda: already loaded, or by the system loader; nowhere else.
/// @throw DriverNotFoundError
[[nodiscard]] SharedLibrary open_driver();

/// libcudacore_sim.so: beside the file that this code lies in, or by the system loader.
/// @throw DriverNotFoundError
[[nodiscard]] SharedLibrary open_simulator();

/// Opens a file that another library will ask the loader for by its name, where it exists. A
/// failure is left to that library to report.
void preload(const std::filesystem::path& file) noexcept;

/// Folders that hold NVIDIA's wheels, set by set_wheel_roots(); empty for a C++ program. Asks once,
/// with no lock held, and keeps the answer; call it before taking a lock that the asking could
/// need.
[[nodiscard]] const std::vector<std::filesystem::path>& wheel_roots();

/// What wheel_roots() asks. Has no effect once it has asked.
void set_wheel_roots(std::function<std::vector<std::filesystem::path>()> roots);

/// Roots of CUDA toolkits: those that the environment names, CUDA_PATH and then CUDA_HOME; where it
/// names none, /usr/local/cuda.
[[nodiscard]] std::vector<std::filesystem::path> toolkit_roots();

/// The active conda environment, empty where there is none.
[[nodiscard]] std::filesystem::path conda_prefix();

/// The folder below `targets` that holds this machine's libraries and headers.
#if defined(__aarch64__)
inline constexpr std::string_view target_folder = "targets/sbsa-linux";
#else
inline constexpr std::string_view target_folder = "targets/x86_64-linux";
#endif

/// The folders of CUDA's headers that fit an NVRTC of the given major version: beside the wheel or
/// toolkit that NVRTC came from, then as open_library() searches.
[[nodiscard]] std::vector<std::filesystem::path> find_include_directories(
    const std::filesystem::path& nvrtc, int major);

}  // namespace cudacore::driver
