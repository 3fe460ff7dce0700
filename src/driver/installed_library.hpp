// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "driver/shared_library.hpp"

namespace cudacore::driver {

/// A library as it can be known without opening it.
struct InstalledLibrary {
  std::filesystem::path path;
  int major = 0;  ///< of its soname: 13 for "libnvrtc.so.13"
  /// Its build ID and that of the library it depends on; the same for all copies of one build,
  /// and different for others. Empty if it has none.
  std::string identity;
};

/// The library that open_library() has opened or would open, as far as can be told without opening
/// it: of the system loader, LD_LIBRARY_PATH, its cache and the usual folders are known. One with
/// neither a path nor an identity if only opening it tells.
/// @param companion how the names of the other library begin that it loads from its own folder,
/// such as "libnvrtc-builtins.so."; empty if it is alone.
[[nodiscard]] std::optional<InstalledLibrary> find_library(const LibraryPlaces& places,
                                                           std::string_view companion = {});

/// The same of a library that is open. What it says about the library holds even if the file has
/// been replaced meanwhile.
[[nodiscard]] InstalledLibrary describe_library(const SharedLibrary& library,
                                                std::string_view companion = {});

}  // namespace cudacore::driver
