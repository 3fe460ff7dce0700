// SPDX-License-Identifier: Apache-2.0
#include "compile/macro_definitions.hpp"

#include <algorithm>
#include <array>

#include "signature/cxx_text.hpp"

namespace cudacore::compile {

namespace {

bool is_upper(char c) noexcept { return c >= 'A' && c <= 'Z'; }

bool is_at_end_of_line(std::string_view text, std::size_t i) noexcept {
  return i >= text.size() || text[i] == '\n' || text.substr(i, 2) == "//";
}

/// The start of the line that `place` belongs to, with the lines that are joined to it by
/// a comment that ends before `place`.
/// @param allowed how many characters may be read; 0 if that weren't enough
std::size_t logical_line(std::string_view text, std::size_t place, std::size_t& allowed) noexcept {
  std::size_t start = place;
  while (start > 0) {
    const std::size_t newline = text.substr(0, start).rfind('\n');
    start = newline == std::string_view::npos ? 0 : newline + 1;
    const std::string_view line = text.substr(start, place - start);
    allowed -= std::min(allowed, line.size());
    if (allowed == 0) break;
    if (line.find("*/") >= line.find("/*")) break;
    if (start > 0) --start;
  }
  return start;
}

}  // namespace

std::string MacroDefinition::body() const {
  const std::string_view line = rest.substr(0, rest.find('\n'));
  return std::string(signature::trim(line.substr(0, line.find("//"))));
}

std::vector<MacroDefinition> definitions_in(std::span<const std::string> names,
                                            std::string_view text) {
  std::vector<MacroDefinition> found;
  Hashes hashes(text);
  CommentEnds ends(text);
  for (Hash hash = hashes.next(0); hash.place != std::string_view::npos;
       hash = hashes.next(hash.behind)) {
    std::size_t i = skip_blanks(text, hash.behind, ends);
    if (i >= text.size() || text[i] != 'd' || take_word(text, i) != "define") continue;
    i = skip_blanks(text, i, ends);
    const std::string_view name = take_word(text, i);
    if (!std::binary_search(names.begin(), names.end(), name)) continue;
    found.push_back({name, text.substr(i)});
  }
  return found;
}

MacroMeaning meaning_of(const MacroDefinition& definition) {
  if (definition.has_parameters()) return {};
  const std::string_view text = definition.rest;
  std::size_t i = skip_blanks(text, 0);
  MacroMeaning meaning;
  meaning.header = take_header(text, i);
  if (meaning.header) meaning.header->is_expanded = true;
  if (!meaning.header) meaning.macro = take_word(text, i);
  if (!is_at_end_of_line(text, skip_blanks(text, i))) return {};
  return meaning;
}

std::optional<std::vector<std::string>> replaceable_words(std::string_view name) {
  std::vector<std::string> words;
  if (name.find("//") != std::string_view::npos) return std::nullopt;
  for (std::size_t i = 0; i < name.size();) {
    if (is_identifier_char(name[i])) {
      const std::string_view word = take_word(name, i);
      if (is_predefined(word)) return std::nullopt;
      words.emplace_back(word);
    } else if (name[i] == '.' || name[i] == '/' || name[i] == '-' || name[i] == '+') {
      ++i;
    } else {
      return std::nullopt;
    }
  }
  return words;
}

bool is_predefined(std::string_view word) noexcept {
  constexpr std::array<std::string_view, 8> others = {
      "linux", "unix", "i386", "NULL", "__cplusplus", "__cdecl", "__dv", "__local_warpSize"};
  const bool is_runtime_name =
      word.starts_with("cuda") && word.size() > 4 && is_upper(word[4]);  // cudaArrayDefault
  return is_runtime_name || word.starts_with("CUDA") || word.starts_with("__cuda") ||
         word.starts_with("__specialization") || (word.starts_with("__") && word.ends_with("__")) ||
         std::find(others.begin(), others.end(), word) != others.end();
}

bool may_be_predefined(std::string_view word) noexcept {
  const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
  const bool is_capital = std::any_of(word.begin(), word.end(), is_upper) &&
                          std::none_of(word.begin(), word.end(), is_lower);
  return is_capital || is_predefined(word);
}

bool EnclosingMacro::has_parameter(std::string_view word) const noexcept {
  return std::find(parameters.begin(), parameters.end(), word) != parameters.end();
}

std::optional<EnclosingMacro> macro_around(std::string_view text, std::size_t place,
                                           std::size_t& allowed) {
  std::size_t i = skip_blanks(text, logical_line(text, place, allowed));
  const std::size_t hash = text.substr(i, 2) == "%:" ? 2 : text.substr(i, 1) == "#" ? 1 : 0;
  if (hash == 0) return std::nullopt;
  i = skip_blanks(text, i + hash);
  if (take_word(text, i) != "define") return std::nullopt;
  i = skip_blanks(text, i);
  EnclosingMacro macro{std::string(take_word(text, i)), {}};
  if (i < place && text[i] == '(') {
    for (++i; i < place && text[i] != ')';) {
      if (is_identifier_char(text[i])) {
        macro.parameters.emplace_back(take_word(text, i));
      } else if (text.substr(i, 3) == "...") {
        macro.parameters.emplace_back("__VA_ARGS__");
        i += 3;
      } else {
        ++i;
      }
    }
  }
  return macro;
}

}  // namespace cudacore::compile
