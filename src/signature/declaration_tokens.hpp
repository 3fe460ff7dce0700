// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace cudacore::signature {

/// A token of a declaration: a keyword, a complete qualified name, or a part of the declarator.
struct Token {
  enum class Kind { word, pointer, reference, member_pointer, parens, array };
  Kind kind;
  std::string_view text;  ///< for parens and array: the text inside
};
using Tokens = std::vector<Token>;

[[nodiscard]] bool is_cv(std::string_view word) noexcept;

/// Whether `word` is part of the fundamental types' names.
[[nodiscard]] bool is_fundamental(std::string_view word) noexcept;

/// @throw std::invalid_argument that says that `part` of `declaration` is not a type.
[[noreturn]] void throw_not_a_type(std::string_view part, std::string_view declaration);

/// The tokens of `text`, without those that say nothing about the type: attributes, elaborated type
/// keywords, __restrict__. `declaration` is shown in the error.
/// @throw std::invalid_argument that names the part that cannot be in a declaration.
[[nodiscard]] Tokens tokens_of(std::string_view text, std::string_view declaration);

/// Whether a token is a declarator in parentheses, "(*f)", rather than parameters.
[[nodiscard]] bool holds_declarator(const Token& token) noexcept;

/// The position of the word outside parentheses that names the parameter; tokens.size() if there is
/// none.
[[nodiscard]] std::size_t name_position(const Tokens& tokens) noexcept;

/// The name that the tokens of a declaration contain; empty if there is none.
[[nodiscard]] std::string_view name_of(const Tokens& tokens);

/// A declaration without its default argument, trimmed.
[[nodiscard]] std::string_view without_default(std::string_view declaration);

}  // namespace cudacore::signature
