// SPDX-License-Identifier: Apache-2.0
//
// Several PTX files in one text.
#pragma once

#include <string_view>
#include <vector>

#include "simulator/ptx/module.hpp"

namespace cudacore::simulator::ptx {

/// The text of one module.
struct ModuleText {
  std::string_view text;
  Position start{1, 1};
  bool is_last = true;
};

/// Splits a text at each further ".version" outside of comments and strings.
[[nodiscard]] std::vector<ModuleText> split_modules(std::string_view text);

}  // namespace cudacore::simulator::ptx
