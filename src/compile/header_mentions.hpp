// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace cudacore::compile {

/// A header that a text may include, or ask for with __has_include.
struct HeaderMention {
  std::string name;
  bool is_quoted = false;    ///< "name" rather than <name>
  bool is_expanded = false;  ///< words of the name that are macros are replaced
};

/// What a C++ text says about headers, whether or not the preprocessor gets there: includes in
/// skipped groups count as well, as do those in strings and comments that look like directives. So
/// nothing that the compiler looks for is left out.
struct HeaderMentions {
  std::vector<HeaderMention> headers;
  /// What macros stand for headers: `#include NAME`.
  std::vector<std::string> macros;
  /// Macros that hand their parameter to __has_include, or to another such macro. What texts ask
  /// for with them is in mentions_by().
  std::vector<std::string> queries;
  /// Why it cannot be known which headers the text includes, or why its meaning changes without
  /// them; empty if neither is so.
  std::string trouble;
};

/// The text without line continuations; unset if it has none.
[[nodiscard]] std::optional<std::string> joined_lines(std::string_view text);

[[nodiscard]] HeaderMentions header_mentions(std::string_view text);

/// What a text asks for with a macro that stands for __has_include: only `headers`, `queries` and
/// `trouble`.
[[nodiscard]] HeaderMentions mentions_by(std::string_view query, std::string_view text);

/// The words in a header's name, or in a part of it, which the preprocessor replaces if they are
/// macros; unset if it may change the name in other ways.
[[nodiscard]] std::optional<std::vector<std::string>> replaceable_words(std::string_view name);

/// What the body of a macro stands for.
struct MacroBody {
  std::optional<HeaderMention> header;  ///< "name" or <name>
  std::string macro;                    ///< another macro; empty if it is something else
};

[[nodiscard]] MacroBody macro_body(std::string_view text);

/// The bodies of all definitions of a macro in a text; for a macro with parameters, the body is
/// something else.
[[nodiscard]] std::vector<MacroBody> definitions_of(std::string_view macro, std::string_view text);

/// The definitions in a text of macros without parameters, as pairs of name and body.
/// @param names in ascending order
[[nodiscard]] std::vector<std::pair<std::string, std::string>> bodies_in(
    std::span<const std::string> names, std::string_view text);

}  // namespace cudacore::compile
