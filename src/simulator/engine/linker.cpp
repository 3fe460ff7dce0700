// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/linker.hpp"

#include <algorithm>
#include <array>
#include <string>

namespace cudacore::simulator {
namespace {

using ptx::Linkage;

/// How strong a definition is: of two definitions of a name, the stronger one is used.
int strength_of(Linkage linkage) noexcept {
  switch (linkage) {
    case Linkage::common:
      return 0;
    case Linkage::weak:
      return 1;
    default:
      return 2;
  }
}

std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

}  // namespace

bool is_known_function(std::string_view name) noexcept {
  constexpr auto names = std::to_array<std::string_view>(
      {"vprintf", "malloc", "free", "__assertfail", "cudaGraphSetConditional"});
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool is_device_runtime(std::string_view name) noexcept {
  return name.starts_with("cuda") || name.starts_with("__cudaCDP") || name.starts_with("cnp");
}

LoadError load_error(LoadError::Kind kind, ptx::Position position, const std::string& message) {
  return {kind, "line " + std::to_string(position.line) + ", column " +
                    std::to_string(position.column) + ": " + message};
}

ModuleLinker::ModuleLinker(std::span<const std::unique_ptr<ptx::Module>> modules)
    : modules_(modules), locals_(modules.size()) {
  for (std::uint32_t i = 0; i < modules.size(); ++i) add_module(i);
  for (std::uint32_t i = 0; i < modules.size(); ++i) add_aliases(i);
  for (const auto& [name, candidate] : globals_) {
    if (candidate.symbol.kind == LinkedSymbol::Kind::variable) {
      variables_[candidate.symbol.index].is_named = true;
    }
  }
  for (const Names& names : locals_) {
    for (const auto& [name, candidate] : names) {
      // A static variable of the program; the host can find it unless another has the same name.
      if (candidate.symbol.kind == LinkedSymbol::Kind::variable && !globals_.contains(name)) {
        variables_[candidate.symbol.index].is_named = true;
      }
    }
  }
}

void ModuleLinker::add_module(std::uint32_t index) {
  const ptx::Module& module = *modules_[index];
  for (const ptx::Variable& variable : module.variables) add_variable(index, variable);
  for (const ptx::Function& function : module.functions) {
    if (function.has_body) add_function(index, function);
  }
}

void ModuleLinker::add_function(std::uint32_t module, const ptx::Function& function) {
  Candidate candidate;
  candidate.symbol = {LinkedSymbol::Kind::function, static_cast<std::uint32_t>(functions_.size())};
  candidate.linkage = function.linkage;
  candidate.position = function.position;
  // The host can find every kernel by its name.
  if (function.is_entry && candidate.linkage == Linkage::internal) {
    candidate.linkage = Linkage::visible;
  }
  LinkedFunction& linked = functions_.emplace_back();
  linked.source = &function;
  linked.module = module;
  linked.variables.assign(function.variables.size(), no_index);
  for (std::size_t i = 0; i < function.variables.size(); ++i) {
    const ptx::Variable& variable = function.variables[i];
    if (variable.space == ptx::Space::local || variable.space == ptx::Space::param) continue;
    linked.variables[i] = static_cast<std::uint32_t>(variables_.size());
    LinkedVariable& own = variables_.emplace_back();
    own.source = &variable;
    own.module = module;
    own.dynamic = variable.space == ptx::Space::shared && variable.size == 0;
  }
  define(module, function.name, candidate);
}

void ModuleLinker::add_variable(std::uint32_t module, const ptx::Variable& variable) {
  if (variable.space == ptx::Space::local || variable.space == ptx::Space::param) {
    throw load_error(LoadError::Kind::not_simulated, variable.position,
                     "variable " + quoted(variable.name) +
                         ": .local and .param variables outside of functions are not simulated");
  }
  const bool dynamic = variable.space == ptx::Space::shared && variable.size == 0;
  if (variable.linkage == Linkage::external && !dynamic) return;
  Candidate candidate;
  candidate.symbol = {LinkedSymbol::Kind::variable, static_cast<std::uint32_t>(variables_.size())};
  candidate.linkage = dynamic ? Linkage::internal : variable.linkage;
  candidate.size = variable.size;
  candidate.position = variable.position;
  LinkedVariable& linked = variables_.emplace_back();
  linked.source = &variable;
  linked.module = module;
  linked.dynamic = dynamic;
  define(module, variable.name, candidate);
}

void ModuleLinker::define(std::uint32_t module, std::string_view name, const Candidate& candidate) {
  const bool local = candidate.linkage == Linkage::internal;
  Names& names = local ? locals_[module] : globals_;
  const auto [at, is_new] = names.try_emplace(name, candidate);
  if (is_new) return;
  Candidate& before = at->second;
  const int strength = strength_of(candidate.linkage);
  const int strength_before = strength_of(before.linkage);
  if (local || (strength == strength_before && candidate.linkage == Linkage::visible)) {
    throw load_error(LoadError::Kind::link, candidate.position,
                     quoted(name) + " is defined twice (first in line " +
                         std::to_string(before.position.line) + ")");
  }
  if (candidate.symbol.kind != before.symbol.kind) {
    throw load_error(LoadError::Kind::link, candidate.position,
                     quoted(name) + " is a function in one module and a variable in another");
  }
  const bool is_larger_common =
      candidate.linkage == Linkage::common && candidate.size > before.size;
  if (strength > strength_before || (strength == strength_before && is_larger_common)) {
    before = candidate;
  }
}

void ModuleLinker::add_aliases(std::uint32_t module) {
  for (const ptx::Alias& alias : modules_[module]->aliases) {
    const LinkedSymbol target = find(module, alias.target);
    if (target.kind != LinkedSymbol::Kind::function) {
      throw LoadError(LoadError::Kind::link, "alias " + quoted(alias.name) + " of " +
                                                 quoted(alias.target) +
                                                 ", which is not a function of the program");
    }
    Candidate candidate;
    candidate.symbol = target;
    candidate.linkage = Linkage::weak;
    for (const ptx::Function& function : modules_[module]->functions) {
      if (function.name == alias.name) candidate.linkage = function.linkage;
    }
    candidate.position = functions_[target.index].source->position;
    define(module, alias.name, candidate);
  }
}

LinkedSymbol ModuleLinker::find(std::uint32_t module, std::string_view name) const {
  const Names& names = locals_[module];
  if (const auto local = names.find(name); local != names.end()) return local->second.symbol;
  if (const auto global = globals_.find(name); global != globals_.end()) {
    return global->second.symbol;
  }
  return {is_known_function(name) ? LinkedSymbol::Kind::known : LinkedSymbol::Kind::unresolved,
          no_index};
}

LinkedSymbol ModuleLinker::resolve(std::uint32_t module, std::string_view name,
                                   ptx::Position position) const {
  const LinkedSymbol symbol = find(module, name);
  if (symbol.kind != LinkedSymbol::Kind::unresolved) return symbol;
  if (is_device_runtime(name)) {
    throw load_error(LoadError::Kind::not_simulated, position,
                     quoted(name) + ": the device runtime (dynamic parallelism) is not simulated");
  }
  throw load_error(LoadError::Kind::link, position,
                   quoted(name) + " is declared, but no module defines it");
}

}  // namespace cudacore::simulator
