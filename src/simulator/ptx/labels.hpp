// SPDX-License-Identifier: Apache-2.0
//
// Uses of labels, which may come before the label itself.
#pragma once

#include <cstddef>
#include <vector>

#include "simulator/ptx/lexer.hpp"
#include "simulator/ptx/module.hpp"
#include "simulator/ptx/symbols.hpp"

namespace cudacore::simulator::ptx {

class LabelUses {
 public:
  explicit LabelUses(Function& function) : function_(function) {}

  /// Operands whose labels are not known yet; may be added to at any time.
  [[nodiscard]] std::vector<Operand*>& operands() noexcept { return operands_; }
  /// A target, whose label is not known yet, of the last of the function's tables.
  void add_target(std::string_view label, Position position);

  void open_scope();
  /// Resolves the labels of the innermost scope, which must still be in `symbols`.
  void close_scope(const Symbols& symbols);

 private:
  struct Target {
    std::size_t table;
    std::size_t slot;
    std::string_view label;
    Position position;
  };
  struct Scope {
    std::size_t first_operand;
    std::size_t first_target;
  };

  Function& function_;
  std::vector<Operand*> operands_;
  std::vector<Target> targets_;
  std::vector<Scope> scopes_;
};

}  // namespace cudacore::simulator::ptx
