// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace cudacore::driver {

/// An open shared library, which stays open: CUDA's libraries cannot be closed safely.
struct SharedLibrary {
  void* handle = nullptr;
  std::filesystem::path path;

  /// The address of a symbol; null if it is missing (dlsym).
  [[nodiscard]] void* symbol(const char* name) const noexcept;
};

/// A path without links; the path itself if it can't be followed.
[[nodiscard]] std::filesystem::path real_path(const std::filesystem::path& path);

/// Where one of NVIDIA's libraries may be.
struct LibraryPlaces {
  std::string_view title;                  ///< "NVRTC"
  std::vector<std::string> sonames;        ///< newest first: "libnvrtc.so.13", "libnvrtc.so.12"
  std::vector<std::string> wheel_folders;  ///< below site-packages: "nvidia/cu13/lib"
  std::string_view cure;                   ///< "pip install nvidia-cuda-nvrtc"
};

/// Why a library may be in a place.
enum class PlaceKind : std::uint8_t { loaded, wheel, conda, loader, toolkit };

/// One step of the search for a library.
struct LibraryPlace {
  PlaceKind kind = PlaceKind::loaded;
  std::filesystem::path
      name;             ///< a file, which may not exist; the loader's name if it is to find it
  std::string absence;  ///< if there are no places of this kind: why, and `name` is empty
};

/// Where open_library() looks: already loaded in the process, in NVIDIA's wheels, in the conda
/// prefix, through the system loader, in toolkit_roots().
[[nodiscard]] std::vector<LibraryPlace> search_order(const LibraryPlaces& places);

/// Opens the first library that is found in search_order().
/// @throw LibraryNotFoundError that lists every place tried and how to fix the problem.
[[nodiscard]] SharedLibrary open_library(const LibraryPlaces& places);

/// How errors end on a machine without a GPU.
inline constexpr std::string_view simulator_advice =
    "\nTo run here without a GPU, on the CPU, put this line before the first use of a device:\n"
    "  import cudacore; cudacore.simulator.enable()\n"
    "or set CUDACORE_DRIVER=simulator in the environment.";

/// Opens libcuda: already loaded, or through the system loader; nowhere else.
/// @throw DriverNotFoundError
[[nodiscard]] SharedLibrary open_driver();

/// Opens NVML, which comes with the driver: already loaded, or through the system loader.
/// @throw LibraryNotFoundError
[[nodiscard]] SharedLibrary open_nvml();

/// Opens libcudacore_sim.so: next to the file that contains this code, or through the system
/// loader.
/// @throw DriverNotFoundError
[[nodiscard]] SharedLibrary open_simulator();

/// Opens a file, if it exists, that another library will request from the loader by name. If this
/// fails, that library will report it.
void preload(const std::filesystem::path& file) noexcept;

/// The folders that contain NVIDIA's wheels, set by set_wheel_roots(); empty for a C++ program.
/// Calls the function once, without holding a lock, and keeps the result. Call it before taking a
/// lock that the function could need.
[[nodiscard]] const std::vector<std::filesystem::path>& wheel_roots();

/// Sets the function that wheel_roots() calls. Has no effect after that call.
void set_wheel_roots(std::function<std::vector<std::filesystem::path>()> roots);

/// The roots of CUDA toolkits: those that the environment names, CUDA_PATH and then CUDA_HOME; if
/// it names none, /usr/local/cuda.
[[nodiscard]] std::vector<std::filesystem::path> toolkit_roots();

/// The folders of a toolkit or a conda prefix that contain libraries.
[[nodiscard]] std::vector<std::filesystem::path> toolkit_library_folders(
    const std::filesystem::path& root);

/// The active conda environment; empty if there is none.
[[nodiscard]] std::filesystem::path conda_prefix();

/// The folder in `targets` that contains this machine's libraries and headers.
#if defined(__aarch64__)
inline constexpr std::string_view target_folder = "targets/sbsa-linux";
#else
inline constexpr std::string_view target_folder = "targets/x86_64-linux";
#endif

/// The folders of CUDA's headers that fit an NVRTC of the given major version: first next to the
/// wheel or toolkit that NVRTC came from, then in the order of open_library().
[[nodiscard]] std::vector<std::filesystem::path> find_include_directories(
    const std::filesystem::path& nvrtc, int major);

/// A folder with cuda_runtime_api.h.
struct HeaderFolder {
  std::filesystem::path folder;
  int version = 0;  ///< 13000 for CUDA 13.0; 0 if the header doesn't say
};

/// All such folders in the places of find_include_directories(), of any version.
[[nodiscard]] std::vector<HeaderFolder> find_header_folders(const std::filesystem::path& nvrtc,
                                                            int major);

}  // namespace cudacore::driver
