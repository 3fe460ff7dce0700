// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "compile/sha256.hpp"
#include "compile/watched_files.hpp"

namespace cudacore::compile {

/// What a result depends on.
struct KeyHash {
  FieldHash content;
  WatchedFiles files;  ///< no part of the key
};

}  // namespace cudacore::compile
