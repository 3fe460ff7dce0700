// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Scans C++ names and declarations, as written or as demangled, and understands brackets.
namespace cudacore::signature {

inline constexpr std::size_t npos = std::string_view::npos;

/// Whether `c` can be part of an identifier.
[[nodiscard]] constexpr bool is_word_char(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         c == '$';
}

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

[[nodiscard]] constexpr bool is_space(char c) noexcept {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v';
}

[[nodiscard]] std::string_view trim(std::string_view text) noexcept;

/// The first index at or after `i` that is not white space.
[[nodiscard]] std::size_t skip_spaces(std::string_view text, std::size_t i) noexcept;

/// One past the identifier at `i`.
[[nodiscard]] std::size_t skip_identifier(std::string_view text, std::size_t i) noexcept;

/// One past the bracket that closes the one at `open` (any of "([{<"); npos if there is none.
[[nodiscard]] std::size_t skip_group(std::string_view text, std::size_t open);

/// One past the qualified name at `i`, including template arguments, "(anonymous namespace)",
/// enclosing functions and lambdas; `i` itself if no name starts there, npos if one of its brackets
/// is not closed. A name that ends in "::*" makes a pointer to member.
[[nodiscard]] std::size_t skip_name(std::string_view text, std::size_t i);

/// The text between top-level commas, trimmed; an empty list for blank text.
[[nodiscard]] std::vector<std::string_view> split_arguments(std::string_view text);

/// The index of `c` outside any brackets and quotes; npos if there is none.
[[nodiscard]] std::size_t find_outside_groups(std::string_view text, char c);

/// A function's declaration, split into its parts.
struct FunctionText {
  std::string_view name;        ///< with namespaces and template arguments, without a return type
  std::string_view parameters;  ///< between the parentheses
  bool has_parameters = false;  ///< false if there was no parameter list at all
};

[[nodiscard]] FunctionText split_function(std::string_view text);

/// A name without its namespaces: "ns::scale<float>" becomes "scale<float>".
[[nodiscard]] std::string_view unqualified(std::string_view name);

/// The text as messages show it: without the middle if it is long.
[[nodiscard]] std::string abbreviated(std::string_view text);

/// A name without the template arguments at its end: "ns::scale<float>" becomes "ns::scale".
[[nodiscard]] std::string_view without_arguments(std::string_view name);

}  // namespace cudacore::signature
