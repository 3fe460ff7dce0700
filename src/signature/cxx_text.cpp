// SPDX-License-Identifier: Apache-2.0
#include "signature/cxx_text.hpp"

#include <algorithm>
#include <array>

namespace cudacore::signature {
namespace {

constexpr std::string_view anonymous = "(anonymous namespace)";

bool starts_at(std::string_view text, std::size_t i, std::string_view piece) noexcept {
  return i <= text.size() && text.substr(i).substr(0, piece.size()) == piece;
}

bool word_before(std::string_view text, std::size_t end, std::string_view word) noexcept {
  const std::string_view head = trim(text.substr(0, end));
  return head.size() >= word.size() && head.substr(head.size() - word.size()) == word &&
         (head.size() == word.size() || !is_word_char(head[head.size() - word.size() - 1]));
}

/// The maximum length of literals that are recognized, so that a text full of lone quotes is read
/// in linear time.
constexpr std::size_t max_quoted = 256;

/// One past the literal or the quoted name at `i`; a lone quote, or one that separates digits, is a
/// single character.
std::size_t skip_quoted(std::string_view text, std::size_t i) noexcept {
  if (text[i] == '\'' && i > 0 && is_word_char(text[i - 1])) return i + 1;
  const std::size_t last = std::min(text.size(), i + max_quoted);
  for (std::size_t j = i + 1; j < last; ++j) {
    if (text[j] == '\\') {
      ++j;
    } else if (text[j] == text[i]) {
      return j + 1;
    }
  }
  return i + 1;
}

/// One past the symbol of an operator's name, if `i` is just past the word `operator`.
std::size_t skip_operator_symbol(std::string_view text, std::size_t i) noexcept {
  const std::size_t symbol = skip_spaces(text, i);
  if (starts_at(text, symbol, "()") || starts_at(text, symbol, "[]")) return symbol + 2;
  constexpr std::string_view symbols = "+-*/%^&|~!=<>,";
  std::size_t end = symbol;
  while (end < text.size() && symbols.find(text[end]) != npos) ++end;
  return end == symbol ? i : end;
}

/// The next index of a scan over `text` outside angle brackets: past a group, a literal, a word or
/// one character. npos if a group is not closed.
std::size_t step(std::string_view text, std::size_t i) {
  const char c = text[i];
  if (c == '(' || c == '[' || c == '{') {
    return skip_group(text, i);
  }
  if (c == '"' || c == '\'') return skip_quoted(text, i);
  if (c == '-' && starts_at(text, i, "->")) return i + 2;
  if (is_word_char(c)) {
    const std::size_t end = skip_identifier(text, i);
    return text.substr(i, end - i) == "operator" ? skip_operator_symbol(text, end) : end;
  }
  return i + 1;
}

std::size_t skip_round_group(std::string_view text, std::size_t open) {
  std::string closers;
  for (std::size_t i = open; i < text.size();) {
    const char c = text[i];
    if (c == '"' || c == '\'') {
      i = skip_quoted(text, i);
      continue;
    }
    if (c == '(' || c == '[' || c == '{') {
      closers.push_back(c == '(' ? ')' : c == '[' ? ']' : '}');
    } else if (c == ')' || c == ']' || c == '}') {
      if (closers.back() != c) return npos;
      closers.pop_back();
      if (closers.empty()) return i + 1;
    }
    ++i;
  }
  return npos;
}

/// One past a group of parameters that belongs to a name, "f(int) const::Local"; `open` if the
/// group is something else.
std::size_t skip_enclosing_function(std::string_view text, std::size_t open) {
  std::size_t end = skip_group(text, open);
  if (end == npos) return open;
  if (starts_at(text, end, " const::")) end += std::string_view(" const").size();
  return starts_at(text, end, "::") ? end : open;
}

}  // namespace

std::string_view trim(std::string_view text) noexcept {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::size_t skip_spaces(std::string_view text, std::size_t i) noexcept {
  while (i < text.size() && is_space(text[i])) ++i;
  return i;
}

std::size_t skip_identifier(std::string_view text, std::size_t i) noexcept {
  while (i < text.size() && is_word_char(text[i])) ++i;
  return i;
}

std::size_t skip_group(std::string_view text, std::size_t open) {
  if (text[open] != '<') return skip_round_group(text, open);
  std::size_t depth = 0;
  for (std::size_t i = open; i < text.size();) {
    if (text[i] == '<') {
      ++depth;
      ++i;
    } else if (text[i] == '>') {
      ++i;
      if (--depth == 0) return i;
    } else if (text[i] == ')' || text[i] == ']' || text[i] == '}') {
      return npos;  // it closes nothing
    } else {
      i = step(text, i);
      if (i == npos) return npos;
    }
  }
  return npos;
}

std::size_t skip_name(std::string_view text, std::size_t i) {
  const std::size_t start = i;
  bool need_piece = true;
  while (i < text.size()) {
    if (need_piece) {
      if (starts_at(text, i, "::")) {
        i = skip_spaces(text, i + 2);
        continue;
      }
      if (text[i] == '*' && i > start) return i + 1;
      if (text[i] == '{' || starts_at(text, i, anonymous)) {
        i = skip_group(text, i);
      } else if (text[i] == '\'') {
        i = skip_quoted(text, i);
      } else if (is_word_char(text[i]) && !is_digit(text[i])) {
        const std::size_t end = skip_identifier(text, i);
        const std::string_view word = text.substr(i, end - i);
        i = end;
        if (word == "template") {
          i = skip_spaces(text, i);
          continue;
        }
        if (word == "operator") {
          i = skip_operator_symbol(text, i);
        } else if (word == "decltype" || word == "typeof" || word == "__typeof__") {
          const std::size_t open = skip_spaces(text, i);
          i = open < text.size() && text[open] == '(' ? skip_group(text, open) : i;
        }
      } else {
        return i;
      }
      if (i == npos) return npos;
      need_piece = false;
      continue;
    }
    const std::size_t next = skip_spaces(text, i);
    if (next < text.size() && text[next] == '<') {
      i = skip_group(text, next);
      if (i == npos) return npos;
    } else if (starts_at(text, next, "::")) {
      i = next;
      need_piece = true;
    } else if (starts_at(text, i, "[abi:")) {
      i = skip_group(text, i);
      if (i == npos) return npos;
    } else if (i < text.size() && text[i] == '(') {
      const std::size_t end = skip_enclosing_function(text, i);
      if (end == i) return i;
      i = end;
    } else {
      return i;
    }
  }
  return i;
}

std::vector<std::string_view> split_arguments(std::string_view text) {
  std::vector<std::string_view> arguments;
  if (trim(text).empty()) return arguments;
  while (true) {
    const std::size_t comma = find_outside_groups(text, ',');
    arguments.push_back(trim(text.substr(0, comma)));
    if (comma == npos) return arguments;
    text.remove_prefix(comma + 1);
  }
}

std::size_t find_outside_groups(std::string_view text, char c) {
  for (std::size_t i = 0; i < text.size();) {
    if (text[i] == c) return i;
    i = text[i] == '<' ? skip_group(text, i) : step(text, i);
    if (i == npos) return npos;
  }
  return npos;
}

FunctionText split_function(std::string_view text) {
  constexpr std::array<std::string_view, 7> not_lists = {
      "decltype",   "__launch_bounds__", "__attribute__", "__cluster_dims__",
      "__declspec", "__block_size__",    "__maxnreg__"};
  text = trim(text);
  std::size_t name = 0;
  for (std::size_t i = 0; i < text.size();) {
    if (is_space(text[i])) {
      const std::size_t next = skip_spaces(text, i);
      if (next < text.size() && text[next] != '(' && text[next] != '<' &&
          !starts_at(text, next, "::")) {
        name = next;
      }
      i = next;
      continue;
    }
    if (text[i] == '(') {
      bool list = true;
      for (const std::string_view word : not_lists) list = list && !word_before(text, i, word);
      const std::size_t end = skip_group(text, i);
      if (end == npos) break;
      const std::size_t enclosing = skip_enclosing_function(text, i);
      if (enclosing != i) {
        i = enclosing;
      } else if (!list) {
        i = end;
        name = skip_spaces(text, end);
      } else if (starts_at(text, i, anonymous)) {
        i = end;
      } else {
        return {trim(text.substr(name, i - name)), text.substr(i + 1, end - i - 2), true};
      }
      continue;
    }
    const std::size_t next = text[i] == '<' ? skip_group(text, i) : step(text, i);
    if (next == npos) break;
    i = next;
  }
  return {name <= text.size() ? text.substr(name) : text, {}, false};
}

std::string_view unqualified(std::string_view name) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < name.size();) {
    if (starts_at(name, i, "::")) {
      i += 2;
      last = i;
      continue;
    }
    i = name[i] == '<' ? skip_group(name, i) : step(name, i);
    if (i == npos) break;
  }
  return name.substr(last);
}

std::string abbreviated(std::string_view text) {
  constexpr std::size_t longest = 200;
  constexpr std::size_t end = 40;
  if (text.size() <= longest) return std::string(text);
  return std::string(text.substr(0, longest - end))
      .append("...")
      .append(text.substr(text.size() - end));
}

std::string_view without_arguments(std::string_view name) {
  if (name.empty() || name.back() != '>') return name;
  const std::size_t tail = name.size() - unqualified(name).size();
  const std::size_t open = find_outside_groups(name.substr(tail), '<');
  return open == npos ? name : trim(name.substr(0, tail + open));
}

}  // namespace cudacore::signature
