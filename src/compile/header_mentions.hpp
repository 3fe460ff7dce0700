// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "compile/directive_text.hpp"

namespace cudacore::compile {

/// What a C++ text without line continuations says about headers, whether or not the preprocessor
/// gets there: includes in skipped groups count as well, as do those in strings and comments that
/// look like directives. So nothing that the compiler looks for is left out.
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

[[nodiscard]] HeaderMentions header_mentions(std::string_view text);

/// What a text asks for with a macro that stands for __has_include: only `headers`, `queries` and
/// `trouble`.
[[nodiscard]] HeaderMentions mentions_by(std::string_view query, std::string_view text);

}  // namespace cudacore::compile
