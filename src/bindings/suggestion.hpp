// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace cudacore::bindings {

/// A name that could have been meant, and other names of the same thing, separated by spaces.
struct Candidate {
  std::string_view name;
  std::string_view aliases = {};
};

/// "; did you mean 'priority'?", or nothing if no candidate resembles `name`.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const Candidate> names);

/// The same for names without aliases.
[[nodiscard]] std::string did_you_mean(std::string_view name, std::span<const char* const> names);

}  // namespace cudacore::bindings
