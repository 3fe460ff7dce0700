// SPDX-License-Identifier: Apache-2.0
#include "compile/compiler_environment.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include <unistd.h>

namespace cudacore::compile {
namespace {

constexpr std::string_view folder_variable = "PWD=";

constinit thread_local const std::vector<std::string>* held = nullptr;

std::vector<std::string> read_environment() {
  constexpr auto prefixes = std::to_array<std::string_view>(
      {folder_variable, "NVRTC_", "NVVM_", "NV_NVVM_", "LIBNVVM_", "NVJITLINK_", "EDG_", "LLVM_",
       "PTXAS_", "NVPTX_", "FINALIZER_", "CAN_FINALIZE_", "AS_SECURE_"});
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

}  // namespace

std::vector<std::string> compiler_environment(bool with_folder) {
  std::vector<std::string> variables = held != nullptr ? *held : read_environment();
  if (!with_folder) {
    std::erase_if(variables,
                  [](const std::string& entry) { return entry.starts_with(folder_variable); });
  }
  return variables;
}

HeldEnvironment::HeldEnvironment()
    : variables_(held != nullptr ? *held : read_environment()),
      outer_(std::exchange(held, &variables_)) {}

HeldEnvironment::~HeldEnvironment() { held = outer_; }

}  // namespace cudacore::compile
