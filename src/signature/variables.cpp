// SPDX-License-Identifier: Apache-2.0
#include "signature/variables.hpp"

#include <algorithm>

#include "cudacore/signature.hpp"
#include "signature/cxx_text.hpp"
#include "signature/elf_file.hpp"

namespace cudacore::signature {
namespace {

/// Removes the first word, up to white space, from `text` and returns it.
std::string_view take_word(std::string_view& text) {
  text = trim(text);
  std::size_t end = 0;
  while (end < text.size() && !is_space(text[end])) ++end;
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(end);
  return word;
}

/// The variable that a line of PTX declares; empty if it declares none: ".visible .global .align 4
/// .b8 table[400];".
std::string_view declared_variable(std::string_view line) {
  std::string_view word = take_word(line);
  while (word == ".visible" || word == ".weak" || word == ".common") word = take_word(line);
  if (word != ".global" && word != ".const") return {};
  line = line.substr(0, line.find_first_of(";="));
  line = trim(line.substr(0, line.find('[')));
  std::size_t start = line.size();
  while (start > 0 && is_word_char(line[start - 1])) --start;
  const bool is_type = start > 0 && line[start - 1] == '.';
  return is_type ? std::string_view() : line.substr(start);
}

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
  while (!ptx.empty()) {
    const std::size_t end = std::min(ptx.find('\n'), ptx.size() - 1);
    const std::string_view line = ptx.substr(0, end + 1);
    const std::string_view symbol = declared_variable(line);
    // Names with a $ are the compiler's own: string literals and the like.
    if (!symbol.empty() && symbol.find('$') == std::string_view::npos) {
      const bool is_managed = line.find(".attribute(.managed)") != std::string_view::npos;
      variables.push_back({std::string(symbol), demangle(symbol), is_managed});
    }
    ptx.remove_prefix(end + 1);
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
