// SPDX-License-Identifier: Apache-2.0
#include "signature/ptx_directives.hpp"

#include <algorithm>
#include <array>

#include "signature/ptx_tokens.hpp"

namespace cudacore::signature {
namespace {

bool is_linkage(std::string_view token) {
  return token == ".visible" || token == ".extern" || token == ".weak" || token == ".common";
}

bool is_space(std::string_view token) {
  constexpr std::array<std::string_view, 5> spaces = {".entry", ".func", ".global", ".const",
                                                      ".shared"};
  return std::find(spaces.begin(), spaces.end(), token) != spaces.end();
}

bool is_symbol(std::string_view token) {
  return is_ptx_word_char(token.front()) && token.front() != '.' && !is_digit(token.front());
}

/// After an opening bracket has been read, reads past the bracket that closes it.
void skip_brackets(PtxTokens& tokens, std::string_view open, std::string_view close) {
  for (std::size_t depth = 1; depth > 0;) {
    const std::string_view token = tokens.next();
    if (token.empty()) return;
    if (token == open) ++depth;
    if (token == close) --depth;
  }
}

/// Reads the directive that `token` begins, to its end; without a symbol if the text ends first.
PtxDirective read_directive(PtxTokens& tokens, std::string_view token) {
  PtxDirective directive;
  const char* const start = token.data();
  for (; !token.empty() && token != ";"; token = tokens.next()) {
    if (token == "{") {
      skip_brackets(tokens, "{", "}");
      directive.has_body = true;
      if (directive.is_function()) break;  // after a variable's initializer comes its semicolon
    } else if (token == "(") {
      skip_brackets(tokens, "(", ")");
    } else if (is_linkage(token)) {
      directive.linkage = token;
    } else if (is_space(token)) {
      directive.space = token;
    } else if (directive.symbol.empty() && is_symbol(token)) {
      directive.symbol = token;
      directive.head = {start, static_cast<std::size_t>(token.data() - start)};
    }
  }
  if (token.empty()) directive.symbol = {};
  return directive;
}

}  // namespace

std::vector<PtxDirective> directives_in_ptx(std::string_view ptx) {
  std::vector<PtxDirective> directives;
  PtxTokens tokens(ptx);
  for (std::string_view token = tokens.next(); !token.empty(); token = tokens.next()) {
    if (token == "{") {
      skip_brackets(tokens, "{", "}");
    } else if (is_linkage(token) || is_space(token)) {
      const PtxDirective directive = read_directive(tokens, token);
      if (!directive.symbol.empty()) directives.push_back(directive);
    }
  }
  return directives;
}

}  // namespace cudacore::signature
