// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/flag_effects.hpp"
#include "compile/key_hash.hpp"

namespace cudacore::compile {

/// What a compilation reads besides files.
struct SourceTexts {
  std::string_view code;
  std::string_view name;  ///< of the source; includes are searched in its folder
  const std::map<std::string, std::string>& headers;  ///< in memory
  std::span<const std::string> name_expressions;
};

/// Adds the content of every header that a compilation may read to a hash, and where others were
/// looked for and not found.
///
/// Finds more than the compiler reads: it doesn't evaluate #if, and looks into every folder for
/// every header, so that the order in which the compiler does so makes no difference.
/// @param cuda_folders gives the folders with CUDA's headers, and is called only if a header is
/// mentioned at all.
/// @return why it cannot be known what the compiler reads; empty if it is known.
[[nodiscard]] std::string hash_headers(
    KeyHash& hash, const SourceTexts& texts, const FlagEffects& flags,
    const std::function<std::vector<std::string>()>& cuda_folders);

}  // namespace cudacore::compile
