// SPDX-License-Identifier: Apache-2.0
#include "signature/variables.hpp"

#include <algorithm>

#include "cudacore/signature.hpp"
#include "signature/cxx_text.hpp"
#include "signature/elf_file.hpp"
#include "signature/ptx_directives.hpp"

namespace cudacore::signature {
namespace {

std::string list(std::span<const VariableEntry> variables) {
  if (variables.empty()) return "the code has no variables";
  std::string text;
  for (const VariableEntry& variable : variables) {
    text += (text.empty() ? "there are: " : ", ") + variable.name;
  }
  return text;
}

}  // namespace

std::vector<VariableEntry> variables_in_ptx(std::string_view ptx) {
  std::vector<VariableEntry> variables;
  for (const PtxDirective& directive : directives_in_ptx(ptx)) {
    const bool is_variable = directive.space == ".global" || directive.space == ".const";
    // Names with a $ are the compiler's own: string literals and the like.
    if (!is_variable || directive.linkage == ".extern" || directive.symbol.find('$') != npos) {
      continue;
    }
    const bool is_managed = directive.head.find(".attribute(.managed)") != npos;
    variables.push_back({std::string(directive.symbol), demangle(directive.symbol), is_managed});
  }
  return variables;
}

std::vector<VariableEntry> variables_in_cubin(std::span<const std::byte> cubin) {
  constexpr std::uint8_t object_symbol = 1;   // STT_OBJECT
  constexpr std::uint8_t managed_symbol = 4;  // STO_CUDA_MANAGED
  const ElfFile file(cubin);
  std::vector<VariableEntry> variables;
  for (const ElfFile::Symbol& symbol : file.symbols()) {
    if (symbol.type != object_symbol || symbol.section == 0 ||
        symbol.section >= file.sections().size() ||
        symbol.name.find('$') != std::string_view::npos) {
      continue;
    }
    const std::string_view section = file.sections()[symbol.section].name;
    if (section.starts_with(".nv.global") || section.starts_with(".nv.constant") ||
        section.starts_with(".nv.managed")) {
      variables.push_back(
          {std::string(symbol.name), demangle(symbol.name), (symbol.other & managed_symbol) != 0});
    }
  }
  return variables;
}

VariableEntry find_variable(std::span<const VariableEntry> variables, std::string_view name) {
  std::string_view wanted = name;
  if (wanted.starts_with('&')) wanted = trim(wanted.substr(1));
  if (wanted.starts_with("::")) wanted.remove_prefix(2);
  for (const VariableEntry& variable : variables) {
    if (variable.symbol == wanted || variable.name == wanted) return variable;
  }
  std::vector<VariableEntry> candidates;
  std::copy_if(variables.begin(), variables.end(), std::back_inserter(candidates),
               [&](const VariableEntry& variable) { return unqualified(variable.name) == wanted; });
  if (candidates.size() == 1) return candidates.front();
  throw std::invalid_argument(
      "no variable \"" + std::string(name) + "\"; " +
      (candidates.empty() ? list(variables) : "several may be meant, " + list(candidates)));
}

}  // namespace cudacore::signature
