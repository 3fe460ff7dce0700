// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "driver/not_copied.hpp"

namespace cudacore::compile {

/// The environment variables that a compiler may read, as "NAME=VALUE", sorted: those that the
/// calling thread holds, or else those of the moment.
/// @param with_folder also PWD, by which the compiler names the current folder in debug information
[[nodiscard]] std::vector<std::string> compiler_environment(bool with_folder = false);

/// Holds these variables, as they were when it was made, for what the calling thread compiles.
///
/// Reading the environment while another thread changes it is undefined. Python changes it only
/// with the GIL, so a caller from Python makes one of these before it releases the GIL.
class HeldEnvironment : driver::NotCopied {
 public:
  HeldEnvironment();
  ~HeldEnvironment();

 private:
  std::vector<std::string> variables_;
  const std::vector<std::string>* outer_;
};

}  // namespace cudacore::compile
