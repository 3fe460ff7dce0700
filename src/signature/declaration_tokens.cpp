// SPDX-License-Identifier: Apache-2.0
#include "signature/declaration_tokens.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <stdexcept>

#include "signature/cxx_text.hpp"

namespace cudacore::signature {
namespace {

/// Declarators that are nested more deeply are not followed: untrusted input must not exhaust the
/// stack.
constexpr int max_depth = 64;

bool is_one_of(std::string_view word, std::span<const std::string_view> words) noexcept {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// Words that say nothing about the type.
bool is_noise(std::string_view word) noexcept {
  constexpr std::array<std::string_view, 11> words = {
      "__restrict__", "__restrict", "restrict", "__grid_constant__", "typename", "struct",
      "class",        "union",      "enum",     "register",          "template"};
  return is_one_of(word, words);
}

/// Words with an argument in parentheses that say nothing about the type.
bool is_attribute(std::string_view word) noexcept {
  constexpr std::array<std::string_view, 4> words = {"__attribute__", "alignas", "__align__",
                                                     "__declspec"};
  return is_one_of(word, words);
}

bool is_plain_identifier(std::string_view word) noexcept {
  return !word.empty() && !is_digit(word.front()) &&
         std::all_of(word.begin(), word.end(), is_word_char);
}

/// One past the word at `i`: a single keyword, or a complete qualified name.
std::size_t skip_word(std::string_view text, std::size_t i) {
  const std::size_t end = skip_identifier(text, i);
  const std::string_view word = text.substr(i, end - i);
  if (is_cv(word) || is_noise(word) || is_fundamental(word) || is_attribute(word)) return end;
  return skip_name(text, i);
}

/// The name inside "(*const f)" or "(&x)": its last word that is not a qualifier.
std::string_view name_in_declarator(std::string_view inside) {
  for (int depth = 0; depth < max_depth; ++depth) {
    std::string_view name;
    std::string_view nested;
    for (const Token& token : tokens_of(inside, inside)) {
      if (token.kind == Token::Kind::word && is_plain_identifier(token.text) &&
          !is_cv(token.text)) {
        name = token.text;
      } else if (nested.empty() && holds_declarator(token)) {
        nested = token.text;
      }
    }
    if (!name.empty() || nested.empty()) return name;
    inside = nested;
  }
  return {};
}

}  // namespace

bool is_cv(std::string_view word) noexcept { return word == "const" || word == "volatile"; }

bool is_fundamental(std::string_view word) noexcept {
  constexpr std::array<std::string_view, 18> words = {
      "void",     "bool",     "char",   "short",    "int",      "long",
      "float",    "double",   "signed", "unsigned", "wchar_t",  "char8_t",
      "char16_t", "char32_t", "auto",   "__int128", "_Float16", "__bf16"};
  return is_one_of(word, words);
}

void throw_not_a_type(std::string_view part, std::string_view declaration) {
  std::string message = "'" + abbreviated(part) + "' is not a type";
  if (part != declaration) message += ", in the parameter '" + abbreviated(declaration) + "'";
  message += "; write parameters as C++ does, such as 'float const* x, unsigned long n'";
  throw std::invalid_argument(message);
}

Tokens tokens_of(std::string_view text, std::string_view declaration) {
  Tokens tokens;
  for (std::size_t i = skip_spaces(text, 0); i < text.size(); i = skip_spaces(text, i)) {
    const char c = text[i];
    std::size_t end = i + 1;
    if (c == '*') {
      tokens.push_back({Token::Kind::pointer, "*"});
    } else if (c == '&') {
      end = text.substr(i, 2) == "&&" ? i + 2 : end;
      tokens.push_back({Token::Kind::reference, text.substr(i, end - i)});
    } else if (const std::size_t word = skip_word(text, i); word != i) {
      if (word == npos) throw_not_a_type(text.substr(i), declaration);
      end = word;
      const std::string_view name = text.substr(i, end - i);
      if (is_attribute(name)) {
        const std::size_t open = skip_spaces(text, end);
        end = open < text.size() && text[open] == '(' ? skip_group(text, open) : end;
        if (end == npos) throw_not_a_type(text.substr(i), declaration);
      } else if (name.ends_with("::*")) {
        tokens.push_back({Token::Kind::member_pointer, name});
      } else if (!is_noise(name)) {
        tokens.push_back({Token::Kind::word, name});
      }
    } else if (c == '(' || c == '[') {
      end = skip_group(text, i);
      if (end == npos) throw_not_a_type(text.substr(i), declaration);
      const std::string_view inside = text.substr(i + 1, end - i - 2);
      if (c == '(') {
        tokens.push_back({Token::Kind::parens, trim(inside)});
      } else if (inside.empty() || inside.front() != '[') {
        tokens.push_back({Token::Kind::array, trim(inside)});
      }
    } else {
      throw_not_a_type(text.substr(i), declaration);
    }
    i = end;
  }
  return tokens;
}

bool holds_declarator(const Token& token) noexcept {
  if (token.kind != Token::Kind::parens || token.text.empty()) return false;
  return token.text.front() == '*' || token.text.front() == '&' || token.text.find("::*") != npos;
}

std::size_t name_position(const Tokens& tokens) noexcept {
  bool typed = false;
  std::size_t found = tokens.size();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].kind != Token::Kind::word || is_cv(tokens[i].text)) continue;
    if (typed && is_plain_identifier(tokens[i].text) && !is_fundamental(tokens[i].text)) found = i;
    typed = true;
  }
  return found;
}

std::string_view name_of(const Tokens& tokens) {
  for (const Token& token : tokens) {
    if (holds_declarator(token)) return name_in_declarator(token.text);
  }
  const std::size_t position = name_position(tokens);
  return position < tokens.size() ? tokens[position].text : std::string_view{};
}

std::string_view without_default(std::string_view declaration) {
  return trim(declaration.substr(0, find_outside_groups(declaration, '=')));
}

}  // namespace cudacore::signature
