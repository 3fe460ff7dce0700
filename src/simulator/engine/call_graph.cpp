// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/call_graph.hpp"

#include <algorithm>

#include "simulator/memory/round_up.hpp"

namespace cudacore::simulator {
namespace {

constexpr std::uint32_t stack_unit = 16;

void keep_each_once(std::vector<std::uint32_t>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// The stack space in bytes for a function's own variables, for any start address.
std::uint32_t own_stack(const Function& function) noexcept {
  const std::uint32_t slack =
      function.local_align > stack_unit ? function.local_align - stack_unit : 0;
  return round_up(function.local_bytes + slack, stack_unit);
}

}  // namespace

CallGraph::CallGraph(const ModuleLinker& linker)
    : linker_(linker),
      functions_(linker.functions().size()),
      variables_(linker.variables().size()),
      function_reached_by_(functions_.size()),
      variable_reached_by_(variables_.size()) {
  for (std::uint32_t i = 0; i < functions_.size(); ++i) scan_function(i);
  for (std::uint32_t i = 0; i < variables_.size(); ++i) scan_variable(i);
  keep_each_once(pointed_at_);
  for (std::uint32_t i = 0; i < functions_.size(); ++i) {
    if (linker_.functions()[i].source->is_entry) reach_from(i);
  }
}

void CallGraph::scan_function(std::uint32_t index) {
  const LinkedFunction& function = linker_.functions()[index];
  Node& node = functions_[index];
  for (const ptx::Instruction& instruction : function.source->instructions) {
    if (instruction.form != ptx::Form::call) {
      for (const ptx::Operand& operand : instruction.operands) scan_operand(index, operand);
      continue;
    }
    for (const ptx::Operand& operand : instruction.operands) {
      if (operand.kind == ptx::Operand::Kind::symbol && !operand.variable_known) {
        const LinkedSymbol callee = linker_.find(function.module, operand.name);
        if (callee.kind == LinkedSymbol::Kind::function) node.callees.push_back(callee.index);
      } else if (operand.kind == ptx::Operand::Kind::reg) {
        node.calls_pointers = true;
      } else {
        scan_operand(index, operand);
      }
    }
  }
  keep_each_once(node.callees);
  keep_each_once(node.variables);
}

void CallGraph::scan_operand(std::uint32_t index, const ptx::Operand& operand) {
  using Kind = ptx::Operand::Kind;
  for (const ptx::Operand& element : operand.elements) scan_operand(index, element);
  if (operand.kind == Kind::special && operand.name == reserved_shared_name) {
    functions_[index].names_reserved = true;
  }
  const bool names = operand.kind == Kind::symbol ||
                     (operand.kind == Kind::address && operand.base == ptx::Operand::Base::symbol);
  if (!names) return;
  const LinkedFunction& function = linker_.functions()[index];
  if (operand.variable_known) {
    const std::uint32_t variable = function.variables[operand.index];
    if (variable != no_index) functions_[index].variables.push_back(variable);
    return;
  }
  take_address(linker_.find(function.module, operand.name), functions_[index]);
}

void CallGraph::scan_variable(std::uint32_t index) {
  const LinkedVariable& variable = linker_.variables()[index];
  for (const ptx::Relocation& relocation : variable.source->relocations) {
    take_address(linker_.find(variable.module, relocation.symbol), variables_[index]);
  }
  keep_each_once(variables_[index].variables);
}

void CallGraph::take_address(const LinkedSymbol& symbol, Node& node) {
  if (symbol.kind == LinkedSymbol::Kind::variable) node.variables.push_back(symbol.index);
  if (symbol.kind == LinkedSymbol::Kind::function) pointed_at_.push_back(symbol.index);
}

void CallGraph::reach_from(std::uint32_t entry) {
  std::vector<std::uint32_t> functions{entry};
  std::vector<std::uint32_t> variables;
  function_reached_by_[entry].push_back(entry);
  bool has_pointers = false;
  bool has_reserved = false;
  const auto add = [entry](std::vector<std::vector<std::uint32_t>>& reached_by,
                           std::vector<std::uint32_t>& waiting,
                           std::span<const std::uint32_t> more) {
    for (const std::uint32_t index : more) {
      std::vector<std::uint32_t>& entries = reached_by[index];
      if (!entries.empty() && entries.back() == entry) continue;
      entries.push_back(entry);
      waiting.push_back(index);
    }
  };
  while (!functions.empty() || !variables.empty()) {
    if (!functions.empty()) {
      const Node& node = functions_[functions.back()];
      functions.pop_back();
      has_reserved = has_reserved || node.names_reserved;
      add(function_reached_by_, functions, node.callees);
      add(variable_reached_by_, variables, node.variables);
      if (node.calls_pointers && !has_pointers) {
        has_pointers = true;
        add(function_reached_by_, functions, pointed_at_);
      }
    } else {
      const Node& node = variables_[variables.back()];
      variables.pop_back();
      add(variable_reached_by_, variables, node.variables);
    }
  }
  if (has_reserved) reserved_reached_by_.push_back(entry);
}

void CallGraph::measure_stacks(std::span<const std::unique_ptr<Function>> functions) const {
  // Leaves first. A function that never becomes a leaf is part of a cycle, or leads to one.
  std::vector<std::vector<std::uint32_t>> callers(functions.size());
  std::vector<std::size_t> open(functions.size());
  std::vector<std::uint32_t> ready;
  for (std::uint32_t i = 0; i < functions.size(); ++i) {
    open[i] = functions_[i].callees.size() + (functions_[i].calls_pointers ? 1 : 0);
    for (const std::uint32_t callee : functions_[i].callees) callers[callee].push_back(i);
    if (functions[i]) {
      functions[i]->stack_bytes = own_stack(*functions[i]);
      functions[i]->recursive = open[i] != 0;
    }
    if (open[i] == 0) ready.push_back(i);
  }
  while (!ready.empty()) {
    const std::uint32_t index = ready.back();
    ready.pop_back();
    for (const std::uint32_t caller : callers[index]) {
      if (functions[caller] && functions[index]) {
        functions[caller]->stack_bytes =
            std::max(functions[caller]->stack_bytes,
                     own_stack(*functions[caller]) + functions[index]->stack_bytes);
      }
      if (--open[caller] != 0) continue;
      if (functions[caller]) functions[caller]->recursive = false;
      ready.push_back(caller);
    }
  }
}

}  // namespace cudacore::simulator
