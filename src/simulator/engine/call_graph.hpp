// SPDX-License-Identifier: Apache-2.0
//
// Who calls whom, and what of the program each kernel reaches.
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

/// Where shared memory lies that cooperative groups find there without declaring it.
inline constexpr std::string_view reserved_shared_name = "%reserved_smem_offset_1";

class CallGraph {
 public:
  explicit CallGraph(const ModuleLinker& linker);

  /// Kernels, by index, that reach a function or a variable, in rising order.
  [[nodiscard]] std::span<const std::uint32_t> reaching_function(std::uint32_t function) const {
    return function_reached_by_[function];
  }
  [[nodiscard]] std::span<const std::uint32_t> reaching_variable(std::uint32_t variable) const {
    return variable_reached_by_[variable];
  }
  /// Kernels that reach a function that names `reserved_shared_name`, in rising order.
  [[nodiscard]] std::span<const std::uint32_t> reaching_reserved() const {
    return reserved_reached_by_;
  }
  /// Functions that a function calls by name.
  [[nodiscard]] std::span<const std::uint32_t> callees(std::uint32_t function) const {
    return functions_[function].callees;
  }
  /// Fills in stack_bytes and recursive, of functions by index, from their local_bytes. An empty
  /// pointer stands for a function that is not there.
  void measure_stacks(std::span<const std::unique_ptr<Function>> functions) const;

 private:
  struct Node {
    std::vector<std::uint32_t> callees;  ///< each once
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
  std::vector<Node> variables_;            ///< callees: functions whose addresses they hold
  std::vector<std::uint32_t> pointed_at_;  ///< functions whose addresses are taken
  std::vector<std::vector<std::uint32_t>> function_reached_by_;
  std::vector<std::vector<std::uint32_t>> variable_reached_by_;
  std::vector<std::uint32_t> reserved_reached_by_;
};

}  // namespace cudacore::simulator
