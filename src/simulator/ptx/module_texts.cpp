// SPDX-License-Identifier: Apache-2.0
#include "simulator/ptx/module_texts.hpp"

#include <algorithm>

namespace cudacore::simulator::ptx {
namespace {

constexpr std::string_view mark = ".version";

bool in_word(char c) noexcept {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
         c == '$' || c == '.';
}

/// The end of the comment or string that begins at `at`; `at` itself if none begins there.
std::size_t end_of_opaque(std::string_view text, std::size_t at) noexcept {
  const std::string_view rest = text.substr(at);
  std::size_t length = 0;
  if (rest.starts_with("//")) {
    length = rest.find('\n');
  } else if (rest.starts_with("/*")) {
    length = rest.find("*/", 2);
  } else if (rest.starts_with('"')) {
    length = rest.find_first_of("\"\n", 1);
    if (length != std::string_view::npos) ++length;
  }
  return length == std::string_view::npos ? text.size() : at + length;
}

Position advance(Position from, std::string_view over) noexcept {
  const auto lines = std::ranges::count(over, '\n');
  const std::size_t last = over.rfind('\n');
  if (lines == 0) return {from.line, from.column + static_cast<std::uint32_t>(over.size())};
  return {from.line + static_cast<std::uint32_t>(lines),
          static_cast<std::uint32_t>(over.size() - last)};
}

}  // namespace

std::vector<ModuleText> split_modules(std::string_view text) {
  const std::size_t first = text.find(mark);
  const bool alone = first == std::string_view::npos ||
                     text.find(mark, first + mark.size()) == std::string_view::npos;
  if (alone) return {ModuleText{text, {1, 1}, true}};
  std::vector<ModuleText> texts;
  std::size_t begin = 0;
  std::size_t marks = 0;
  Position start{1, 1};
  const auto cut = [&](std::size_t end, bool is_last) {
    const std::string_view piece = text.substr(begin, end - begin);
    texts.push_back({piece, start, is_last});
    start = advance(start, piece);
    begin = end;
  };
  for (std::size_t at = 0; (at = text.find_first_of("/\".", at)) != std::string_view::npos;) {
    const std::size_t opaque = end_of_opaque(text, at);
    if (opaque != at) {
      at = opaque;
      continue;
    }
    const std::size_t end = at + mark.size();
    const bool found = text.substr(at).starts_with(mark) && (at == 0 || !in_word(text[at - 1])) &&
                       (end == text.size() || !in_word(text[end]));
    if (found && marks++ != 0) cut(at, false);
    ++at;
  }
  cut(text.size(), true);
  return texts;
}

}  // namespace cudacore::simulator::ptx
