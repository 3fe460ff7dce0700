// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudacore::signature {

/// A `__device__`, `__constant__` or `__managed__` variable of a module.
struct VariableEntry {
  std::string symbol;       ///< the name that the driver knows: "_ZN2ns5tableE"
  std::string name;         ///< the readable name: "ns::table"
  bool is_managed = false;  ///< also false if the code doesn't say
};

/// The variables that a PTX module declares at its top level, in order.
[[nodiscard]] std::vector<VariableEntry> variables_in_ptx(std::string_view ptx);

/// The variables of a cubin.
/// @throw std::invalid_argument if the bytes are not a CUDA ELF file.
[[nodiscard]] std::vector<VariableEntry> variables_in_cubin(std::span<const std::byte> cubin);

/// The one variable that `name` refers to: its symbol, its readable name, or its name without
/// namespaces if only one variable has it.
/// @throw std::invalid_argument that lists the candidates, or all variables.
[[nodiscard]] VariableEntry find_variable(std::span<const VariableEntry> variables,
                                          std::string_view name);

}  // namespace cudacore::signature
