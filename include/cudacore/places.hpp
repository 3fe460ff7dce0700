// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <cudacore/system.hpp>

namespace cudacore::system {

/// A place where a library is looked for.
struct Place {
  std::string kind;            ///< "loaded", "wheel", "conda", "loader" or "toolkit"
  std::filesystem::path name;  ///< a file, which may not exist; for "loaded" and "loader", a name
};

/// All places where "NVRTC", "nvJitLink" or "nvFatbin" are looked for, in order.
/// @throw std::invalid_argument for another name.
[[nodiscard]] std::vector<Place> library_places(std::string_view library);

/// A folder with CUDA's headers, and their version; 0.0 if they don't say.
struct Headers {
  Version version;
  std::filesystem::path folder;
};

/// CUDA's headers in all places where they are looked for, in order, whether or not they fit NVRTC.
/// @throw LibraryNotFoundError without NVRTC, next to which they are looked for first.
[[nodiscard]] std::vector<Headers> header_places();

}  // namespace cudacore::system
