// SPDX-License-Identifier: Apache-2.0
#include "signature/cxx_type.hpp"

#include <algorithm>
#include <initializer_list>
#include <span>
#include <stdexcept>

#include "signature/cxx_text.hpp"
#include "signature/cxx_type_names.hpp"
#include "signature/declaration_tokens.hpp"

namespace cudacore::signature {
namespace {

/// Limits how much of a text is analyzed: untrusted input must not exhaust the stack, or take too
/// long. Deeper parts, or parts after the limit is reached, keep their original spelling.
class Nesting {
 public:
  explicit Nesting(std::string_view text) noexcept : work_(text.size() * work_for_each) {}

  /// Runs `inside` one level deeper for a `text`; returns false, without running it, past the
  /// limits.
  template <typename Inside>
  bool enter(std::string_view text, const Inside& inside) {
    if (depth_ >= max_depth || work_ < text.size()) return false;
    work_ -= text.size();
    ++depth_;
    inside();
    --depth_;
    return true;
  }

 private:
  static constexpr int max_depth = 64;
  /// Each level reads a text once, or twice if it turns out not to be a type.
  static constexpr std::size_t work_for_each = std::size_t{2} * max_depth;

  int depth_ = 0;
  std::size_t work_;
};

std::string canonical(std::string_view text, Nesting& nesting);

/// A whole number, in any spelling that C++ allows, as a plain decimal; empty if it is not one.
std::string canonical_literal(std::string_view text) {
  if (text.size() > 2 && text.front() == '(') {
    const std::size_t end = skip_group(text, 0);
    if (end != npos && end < text.size() && (is_digit(text[end]) || text[end] == '-')) {
      const std::string_view type = text.substr(1, end - 2);
      if (!is_fundamental(type.substr(0, skip_identifier(type, 0)))) return {};
      text.remove_prefix(end);
    }
  }
  if (text.size() == 3 && text.front() == '\'' && text.back() == '\'') {
    return std::to_string(static_cast<int>(text[1]));
  }
  const std::size_t digits = !text.empty() && text.front() == '-' ? 1 : 0;
  std::size_t end = digits;
  while (end < text.size() && is_digit(text[end])) ++end;
  if (end == digits || text.find_first_not_of("uUlLzZ", end) != npos) return {};
  return std::string(text.substr(0, end));
}

/// Drops libcu++'s inline namespace: "cuda::std::__4::complex" becomes cuda::std::complex.
void drop_inline_namespace(std::string& name) {
  constexpr std::string_view scope = "cuda::std::__";
  std::string result;
  std::size_t copied = 0;
  for (std::size_t i = name.find(scope); i != npos; i = name.find(scope, i + 1)) {
    const std::size_t digits = i + scope.size();
    std::size_t end = digits;
    while (end < name.size() && is_digit(name[end])) ++end;
    if (end > digits && name.compare(end, 2, "::") == 0) {
      result.append(name, copied, digits - 2 - copied);
      copied = end + 2;
    }
  }
  if (copied != 0) name = result.append(name, copied);
}

/// A list of template arguments or of a function's parameters, in canonical spelling.
std::string canonical_arguments(std::string_view list, Nesting& nesting) {
  std::string result;
  const bool entered = nesting.enter(list, [&] {
    bool first = true;
    for (const auto argument : split_arguments(list)) {
      result += first ? "" : ", ";
      result += argument == "..." ? std::string(argument) : canonical(argument, nesting);
      first = false;
    }
  });
  return entered ? result : std::string(list);
}

/// A word with its template arguments in canonical spelling.
std::string canonical_word(std::string_view word, Nesting& nesting) {
  std::string result;
  for (std::size_t i = 0; i < word.size();) {
    const char c = word[i];
    if (is_space(c)) {
      const std::size_t next = skip_spaces(word, i);
      if (!result.empty() && is_word_char(result.back()) && next < word.size() &&
          is_word_char(word[next])) {
        result += ' ';
      }
      i = next;
      continue;
    }
    if (c == '<') {
      const std::size_t end = skip_group(word, i);
      if (end == npos) return result.append(word.substr(i));
      result += '<';
      const std::string_view inside = word.substr(i + 1, end - i - 2);
      result += canonical_arguments(inside, nesting);
      result += '>';
      i = end;
      continue;
    }
    if (is_word_char(c)) {
      const std::size_t end = skip_identifier(word, i);
      const std::string_view part = word.substr(i, end - i);
      result += part;
      i = end;
      if (part == "operator" && i < word.size()) {
        // The symbol's angle brackets are not template arguments.
        while (i < word.size() && (word[i] == '<' || word[i] == '>')) result += word[i++];
      }
      continue;
    }
    if (c == '(' || c == '{' || c == '[') {
      const std::size_t end = skip_group(word, i);
      if (end == npos) return result.append(word.substr(i));
      const std::string_view inside = word.substr(i + 1, end - i - 2);
      result += c;
      if (!nesting.enter(inside, [&] { result += canonical_word(inside, nesting); })) {
        result += inside;
      }
      i = end - 1;
      continue;
    }
    result += c;
    ++i;
  }
  drop_inline_namespace(result);
  return result;
}

/// "unsigned long" for "long unsigned int"; empty if the words are not a type.
std::string spell_fundamental(std::span<const std::string_view> words) {
  const auto count = [&](std::string_view word) {
    return std::count(words.begin(), words.end(), word);
  };
  const auto longs = count("long");
  const bool is_signed = count("signed") == 1;
  const bool is_unsigned = count("unsigned") == 1;
  std::string_view core;
  for (const std::string_view word : words) {
    if (word != "signed" && word != "unsigned" && word != "long" && word != "short" &&
        !(word == "int" && words.size() > 1)) {
      if (!core.empty()) return {};
      core = word;
    }
  }
  if (count("short") > 1 || longs > 2 || (longs > 0 && count("short") > 0) || count("int") > 1 ||
      count("signed") + count("unsigned") > 1) {
    return {};
  }
  if (core == "char" && longs == 0 && count("short") == 0 && count("int") == 0) {
    return is_signed ? "signed char" : is_unsigned ? "unsigned char" : "char";
  }
  if (core == "__int128" && longs == 0 && count("short") == 0 && count("int") == 0) {
    return is_unsigned ? "unsigned __int128" : "__int128";
  }
  if (core == "double" && longs == 1 && words.size() == 2) return "long double";
  if (!core.empty() && core != "int") return words.size() == 1 ? std::string(core) : std::string{};
  const std::string_view body = count("short") == 1 ? "short"
                                : longs == 1        ? "long"
                                : longs == 2        ? "long long"
                                                    : "int";
  return is_unsigned ? "unsigned " + std::string(body) : std::string(body);
}

/// A type under construction: the parameter so far, and whether its current type is const.
struct Type {
  Param param;
  bool is_const = false;
  bool is_volatile = false;

  /// Moves out the type's spelling and what follows it: copying it for each of a million stars
  /// would take forever.
  [[nodiscard]] std::string take_spelling(std::initializer_list<std::string_view> tail = {}) {
    std::string spelled = std::move(param.type);
    spelled.append(is_const ? " const" : "").append(is_volatile ? " volatile" : "");
    for (const std::string_view text : tail) spelled.append(text);
    return spelled;
  }

  void qualify(std::string_view word) noexcept {
    (word == "const" ? is_const : is_volatile) = true;
  }

  /// Makes it a pointer to the current type.
  void point(std::string_view symbol) {
    Param pointer;
    pointer.kind = ParamKind::pointer;
    pointer.size = pointer.align = 8;
    pointer.type = take_spelling({symbol});
    pointer.pointee = param.kind;
    pointer.pointee_size = param.size;
    pointer.pointee_const = is_const;
    *this = Type{std::move(pointer), false, false};
  }

  /// The same with a different spelling.
  void point_as(std::string spelled) {
    point({});
    param.type = std::move(spelled);
  }

  void point_at_function(std::string spelled) {
    point_as(std::move(spelled));
    param.pointee = ParamKind::opaque;
    param.pointee_size = 0;
    param.pointee_const = false;
  }
};

/// The type that the words before the first declarator token name. Moves `i` past them.
Type base_type(const Tokens& tokens, std::size_t& i, std::string_view declaration,
               Nesting& nesting) {
  Type type;
  std::vector<std::string_view> fundamental;
  std::string_view user;
  for (; i < tokens.size() && tokens[i].kind == Token::Kind::word; ++i) {
    const std::string_view word = tokens[i].text;
    if (is_cv(word)) {
      type.qualify(word);
    } else if (is_fundamental(word) && user.empty()) {
      fundamental.push_back(word);
    } else if (user.empty() && fundamental.empty()) {
      user = word;
    } else {
      throw_not_a_type(word, declaration);
    }
  }
  std::string spelled;
  if (!user.empty()) {
    spelled = canonical_word(user, nesting);
    if (spelled.starts_with("::")) spelled.erase(0, 2);
    spelled = std::string(resolve_typedef(spelled));
  } else if (!fundamental.empty()) {
    spelled = spell_fundamental(fundamental);
  }
  if (spelled.empty()) throw_not_a_type(declaration, declaration);
  const NamedType named = named_type(spelled);
  type.param.kind = named.kind;
  type.param.size = named.size;
  type.param.align = named.align;
  type.param.type = std::move(spelled);
  return type;
}

/// Keeps track of whether the tokens so far make a reference, because there are no pointers to
/// references and no arrays of them.
/// @throw std::invalid_argument
void refuse_after_reference(bool& is_reference, const Token& token, std::string_view declaration) {
  const bool changes = token.kind != Token::Kind::word && token.kind != Token::Kind::parens;
  if (is_reference && changes) throw_not_a_type(declaration, declaration);
  is_reference = is_reference || token.kind == Token::Kind::reference;
}

/// "(*)" and what follows it: a pointer or a reference to a function or to an array.
void apply_declarator(Type& type, const Tokens& tokens, std::size_t& i, std::string_view name,
                      std::string_view declaration, Nesting& nesting) {
  const std::string_view inside = tokens[i].text;
  const Tokens inner = tokens_of(inside, declaration);
  std::string symbols;
  int levels = 0;
  bool member = false;
  bool is_reference = false;
  for (const Token& token : inner) {
    refuse_after_reference(is_reference, token, declaration);
    if (token.kind == Token::Kind::word) {
      if (token.text != name && !is_cv(token.text)) throw_not_a_type(token.text, declaration);
      continue;
    }
    member = member || token.kind == Token::Kind::member_pointer;
    levels += 1;
    symbols += token.kind == Token::Kind::parens  ? "(" + std::string(token.text) + ")"
               : token.kind == Token::Kind::array ? "[" + std::string(token.text) + "]"
                                                  : std::string(token.text);
  }
  bool function = false;
  std::string tail;
  for (++i; i < tokens.size(); ++i) {
    if (tokens[i].kind == Token::Kind::parens) {
      function = true;
      tail += "(";
      tail += canonical_arguments(tokens[i].text, nesting);
      tail += ")";
    } else if (tokens[i].kind == Token::Kind::array) {
      tail += tail.empty() ? " [" : "[";
      tail += std::string(tokens[i].text) + "]";
    } else if (tokens[i].kind != Token::Kind::word || !is_cv(tokens[i].text)) {
      throw_not_a_type(tokens[i].text, declaration);
    }
  }
  if (tail.empty() && name.empty()) throw_not_a_type("(" + std::string(inside) + ")", declaration);
  std::string spelled = type.take_spelling({" (", symbols, ")", tail});
  function ? type.point_at_function({}) : type.point({});
  if (levels > 1) type.point({});
  if (member) {
    type.param = Param{};
    type.param.kind = ParamKind::structure;
  }
  type.param.type = std::move(spelled);
}

Type parse_type(const Tokens& tokens, std::string_view name, std::string_view declaration,
                Nesting& nesting) {
  std::size_t i = 0;
  Type type = base_type(tokens, i, declaration, nesting);
  bool is_reference = false;
  while (i < tokens.size()) {
    const Token& token = tokens[i];
    refuse_after_reference(is_reference, token, declaration);
    switch (token.kind) {
      case Token::Kind::pointer:
      case Token::Kind::reference:
        type.point(token.text);
        break;
      case Token::Kind::member_pointer: {
        std::string spelled = type.take_spelling({" ", token.text});
        type = Type{};
        type.param.kind = ParamKind::structure;
        type.param.type = std::move(spelled);
        break;
      }
      case Token::Kind::word:
        if (!is_cv(token.text)) throw_not_a_type(token.text, declaration);
        type.qualify(token.text);
        break;
      case Token::Kind::array: {
        std::string rest;
        for (++i; i < tokens.size() && tokens[i].kind == Token::Kind::array; ++i) {
          rest += "[" + std::string(tokens[i].text) + "]";
        }
        if (rest.empty()) {
          type.point("*");
        } else {
          type.point_as(type.take_spelling({" (*) ", rest}));
        }
        continue;
      }
      case Token::Kind::parens:
        if (holds_declarator(token)) {
          apply_declarator(type, tokens, i, name, declaration, nesting);
        } else {
          type.point_at_function(type.take_spelling({" (*)(", token.text, ")"}));
          ++i;
        }
        continue;
    }
    ++i;
  }
  return type;
}

/// A template argument: a type, or a value without optional spaces.
std::string canonical(std::string_view text, Nesting& nesting) {
  text = trim(text);
  if (std::string literal = canonical_literal(text); !literal.empty()) return literal;
  try {
    return parse_type(tokens_of(text, text), {}, text, nesting).take_spelling();
  } catch (const std::invalid_argument&) {
    // A value, not a type.
  }
  return canonical_word(text, nesting);
}

}  // namespace

Param parse_parameter(std::string_view declaration) {
  declaration = trim(declaration);
  Tokens tokens = tokens_of(without_default(declaration), declaration);
  const std::string_view name = name_of(tokens);
  if (const std::size_t i = name_position(tokens); i < tokens.size() && tokens[i].text == name) {
    tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(i));
  }
  Nesting nesting(declaration);
  Param param = parse_type(tokens, name, declaration, nesting).param;
  if (param.kind == ParamKind::void_type) throw_not_a_type(declaration, declaration);
  param.name = name;
  return param;
}

std::string_view declared_name(std::string_view declaration) {
  try {
    return name_of(tokens_of(without_default(declaration), declaration));
  } catch (const std::invalid_argument&) {
    return {};
  }
}

std::string canonical_name(std::string_view name) {
  name = trim(name);
  if (name.starts_with("::")) name.remove_prefix(2);
  Nesting nesting(name);
  return canonical_word(name, nesting);
}

}  // namespace cudacore::signature
