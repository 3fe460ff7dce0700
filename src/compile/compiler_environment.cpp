// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler_environment.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace cudacore::compile {
namespace {

constinit thread_local const std::vector<std::string>* held = nullptr;

}  // namespace

std::vector<std::string> compiler_environment() {
  if (held != nullptr) return *held;
  constexpr auto prefixes = std::to_array<std::string_view>(
      {"NVRTC_", "NVVM_", "NVJITLINK_", "EDG_", "LLVM_", "PTXAS_", "NVPTX_"});
  std::vector<std::string> variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (std::any_of(prefixes.begin(), prefixes.end(),
                    [text](std::string_view prefix) { return text.starts_with(prefix); })) {
      variables.emplace_back(text);
    }
  }
  std::sort(variables.begin(), variables.end());
  return variables;
}

HeldEnvironment::HeldEnvironment()
    : variables_(compiler_environment()), outer_(std::exchange(held, &variables_)) {}

HeldEnvironment::~HeldEnvironment() { held = outer_; }

}  // namespace cudacore::compile
