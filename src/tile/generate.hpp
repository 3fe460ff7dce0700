// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudacore::tile {

/// What a kernel is generated for, besides its text.
struct Options {
  int architecture = 80;  ///< 10 * major + minor
  std::int64_t shared_limit =
      0;  ///< bytes of shared memory a block may have; 0: the architecture's
  std::map<std::string, std::int64_t, std::less<>> hints;  ///< over those of the text
};

/// A kernel as CUDA C++.
struct Generated {
  std::string source;
  std::string entry;              ///< the kernel's name
  int threads = 0;                ///< of a block, which is one-dimensional
  std::int64_t shared_bytes = 0;  ///< of dynamic shared memory
};

/// Translates the text of a kernel to CUDA C++.
///
/// \throws Error what is wrong, with the place in the user's source where it is known
[[nodiscard]] Generated generate(std::string_view text, const Options& options);

/// The headers that sources include, and those that these include: names and texts.
[[nodiscard]] const std::vector<std::pair<std::string, std::string>>& headers();

}  // namespace cudacore::tile
