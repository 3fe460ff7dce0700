// SPDX-License-Identifier: Apache-2.0
#include "simulator/ptx/labels.hpp"

#include <string>

namespace cudacore::simulator::ptx {
namespace {

const Symbol* find_label(const Symbols& symbols, std::string_view name) noexcept {
  const Symbol* const found = symbols.find(name);
  const bool here = found != nullptr && found->is_label() && found->depth == symbols.depth();
  return here ? found : nullptr;
}

void resolve(Operand& operand, const Symbol& label) noexcept {
  operand.index = label.index;
  operand.table = label.kind == Symbol::Kind::table;
  operand.prototype = label.kind == Symbol::Kind::prototype;
}

}  // namespace

void LabelUses::add_target(std::string_view label, Position position) {
  const std::size_t table = function_.tables.size() - 1;
  std::vector<std::uint32_t>& slots = function_.tables[table].instructions;
  targets_.push_back({table, slots.size(), label, position});
  slots.push_back(0);
}

void LabelUses::open_scope() { scopes_.push_back({operands_.size(), targets_.size()}); }

void LabelUses::close_scope(const Symbols& symbols) {
  const Scope scope = scopes_.back();
  scopes_.pop_back();
  std::size_t kept = scope.first_operand;
  for (std::size_t i = scope.first_operand; i < operands_.size(); ++i) {
    Operand* const operand = operands_[i];
    if (const Symbol* const label = find_label(symbols, operand->name); label != nullptr) {
      resolve(*operand, *label);
    } else {
      operands_[kept++] = operand;
    }
  }
  operands_.resize(kept);
  kept = scope.first_target;
  for (std::size_t i = scope.first_target; i < targets_.size(); ++i) {
    const Target target = targets_[i];
    const Symbol* const label = find_label(symbols, target.label);
    if (label != nullptr && label->kind == Symbol::Kind::label) {
      function_.tables[target.table].instructions[target.slot] = label->index;
    } else {
      targets_[kept++] = target;
    }
  }
  targets_.erase(targets_.begin() + static_cast<std::ptrdiff_t>(kept), targets_.end());
  if (!scopes_.empty()) return;
  if (!operands_.empty()) {
    const Operand& operand = *operands_.front();
    Lexer::fail(operand.position, "there is no label " + quoted(operand.name));
  }
  if (!targets_.empty()) {
    const Target& target = targets_.front();
    Lexer::fail(target.position, "there is no label " + quoted(target.label));
  }
}

}  // namespace cudacore::simulator::ptx
