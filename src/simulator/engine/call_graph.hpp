// SPDX-License-Identifier: Apache-2.0
//
// Which function calls which, and which parts of the program each kernel reaches.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "simulator/engine/image.hpp"
#include "simulator/engine/linker.hpp"

namespace cudacore::simulator {

/// Shared memory that cooperative groups use without declaring it.
inline constexpr std::string_view reserved_shared_name = "%reserved_smem_offset_1";

class CallGraph {
 public:
  explicit CallGraph(const ModuleLinker& linker);

  /// Kernels, by index and in ascending order, that reach a function or a variable.
  [[nodiscard]] std::span<const std::uint32_t> reaching_function(std::uint32_t function) const {
    return function_reached_by_[function];
  }
  [[nodiscard]] std::span<const std::uint32_t> reaching_variable(std::uint32_t variable) const {
    return variable_reached_by_[variable];
  }
  /// Kernels, in ascending order, that reach a function that uses `reserved_shared_name`.
  [[nodiscard]] std::span<const std::uint32_t> reaching_reserved() const {
    return reserved_reached_by_;
  }
  /// Functions that a function calls by name.
  [[nodiscard]] std::span<const std::uint32_t> callees(std::uint32_t function) const {
    return functions_[function].callees;
  }
  /// Sets stack_bytes and recursive of all functions, by index, computed from their local_bytes. A
  /// null pointer stands for a function that doesn't exist.
  void measure_stacks(std::span<const std::unique_ptr<Function>> functions) const;

 private:
  struct Node {
    std::vector<std::uint32_t> callees;  ///< without duplicates
    std::vector<std::uint32_t> variables;
    bool calls_pointers = false;
    bool names_reserved = false;
  };

  void scan_function(std::uint32_t index);
  void scan_operand(std::uint32_t index, const ptx::Operand& operand);
  void scan_variable(std::uint32_t index);
  void take_address(const LinkedSymbol& symbol, Node& node);
  void reach_from(std::uint32_t entry);

  const ModuleLinker& linker_;
  std::vector<Node> functions_;
  std::vector<Node> variables_;            ///< callees: functions whose addresses they contain
  std::vector<std::uint32_t> pointed_at_;  ///< functions whose addresses are taken
  std::vector<std::vector<std::uint32_t>> function_reached_by_;
  std::vector<std::vector<std::uint32_t>> variable_reached_by_;
  std::vector<std::uint32_t> reserved_reached_by_;
};

}  // namespace cudacore::simulator
