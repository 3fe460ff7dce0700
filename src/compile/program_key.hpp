// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>

#include "compile/architecture.hpp"
#include "compile/compilers.hpp"
#include "compile/key_hash.hpp"
#include "cudacore/linker.hpp"
#include "cudacore/program.hpp"

// What the results of compilers depend on. Each function adds that to a hash, and returns why it
// cannot be known, or nothing.

namespace cudacore::compile {

/// What is to be compiled from C++.
struct ProgramInputs {
  const std::string& code;
  const ProgramOptions& options;
  std::optional<CodeType> target;
  const Architecture& architecture;  ///< the one in the options, or the current device's
  std::span<const std::string> name_expressions;
};

[[nodiscard]] std::string add_program(KeyHash& key, const ProgramInputs& inputs,
                                      const CompilerInfo& compiler);

/// What is to be linked; the options are complete.
struct LinkInputs {
  std::span<const ObjectCode> codes;
  const LinkerOptions& options;
  CodeType target;
};

[[nodiscard]] std::string add_link(KeyHash& key, const LinkInputs& inputs);

}  // namespace cudacore::compile
