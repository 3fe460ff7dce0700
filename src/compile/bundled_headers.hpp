// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace cudacore::compile {

/// The flag that makes NVRTC unpack its own copy of CUDA's headers, once, into a folder of the
/// user's cache ($XDG_CACHE_HOME or ~/.cache), and search there.
/// @throw NotSupportedError for an NVRTC older than 13.3; Error if there is no folder to use.
[[nodiscard]] std::string bundled_headers_flag();

}  // namespace cudacore::compile
