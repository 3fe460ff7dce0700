// SPDX-License-Identifier: Apache-2.0
#include "signature/compiler_log.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "cudacore/signature.hpp"
#include "signature/cxx_text.hpp"

namespace cudacore::signature {
namespace {

/// How NVRTC begins an error that has no line: `At end of source: error: expected a "}"`.
constexpr std::string_view end_of_source = "At end of source: ";

/// Whether `text` starts with "error   :" or "fatal   :".
bool starts_with_severity(std::string_view text) {
  constexpr std::array<std::string_view, 2> words = {"error", "fatal"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) {
    return text.starts_with(word) && trim(text.substr(word.size())).starts_with(':');
  });
}

/// Whether a line is only a summary: "ptxas fatal   : Ptx assembly aborted due to errors".
bool sums_up(std::string_view line) {
  return line.starts_with("ERROR") || line.ends_with("aborted due to errors");
}

/// Whether a line of a log reports an error: "k.cu(3): error: …", "Catastrophic error: …", "nvrtc:
/// error: …", "ptxas fatal   : …", "ptxas application ptx input, line 4; fatal   : …", "error   :
/// …", "At end of source: error: …", "unrecognized option: …".
bool tells_of_error(std::string_view line) {
  if (line.starts_with(' ')) return false;
  for (const std::string_view start :
       {"nvrtc: error", "Catastrophic error:", "ERROR", "unrecognized option"}) {
    if (line.starts_with(start)) return true;
  }
  if (starts_with_severity(line)) return true;
  if (line.starts_with("ptxas ")) {
    const std::size_t place = line.find("; ");
    if (starts_with_severity(line.substr(std::string_view("ptxas ").size()))) return true;
    if (place != std::string_view::npos) return starts_with_severity(line.substr(place + 2));
  }
  std::string_view rest;
  if (line.starts_with(end_of_source)) {
    rest = line.substr(end_of_source.size());
  } else if (const std::size_t place = line.find("): "); place != std::string_view::npos) {
    rest = line.substr(place + 3);
  }
  return rest.starts_with("error:") || rest.starts_with("error #") ||
         rest.starts_with("catastrophic error:") || rest.starts_with("internal error:");
}

/// Whether an error may be a consequence of a later one: NVRTC takes a function with a parameter of
/// an unknown type for a variable, and reports that first.
bool follows_from_another(std::string_view line) {
  constexpr std::array<std::string_view, 4> signs = {"does not apply here", "incomplete type",
                                                     "without memory space annotations",
                                                     "expected a \")\""};
  return std::any_of(signs.begin(), signs.end(), [&](std::string_view sign) {
    return line.find(sign) != std::string_view::npos;
  });
}

/// Sets file and line from "k.cu(3): error: …".
void read_place(std::string_view line, FirstError& error) {
  const std::size_t close = line.find("): ");
  if (close == std::string_view::npos) return;
  const std::size_t open = line.rfind('(', close);
  if (open == std::string_view::npos || open == 0) return;
  std::size_t number = 0;
  const auto [end, result] = std::from_chars(line.data() + open + 1, line.data() + close, number);
  if (result != std::errc() || end != line.data() + close) return;
  error.file = line.substr(0, open);
  error.line = number;
}

}  // namespace

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

std::string_view undefined_identifier(std::string_view line) {
  constexpr std::string_view start = "identifier \"";
  constexpr std::string_view end = "\" is undefined";
  const std::size_t open = line.find(start);
  if (open == std::string_view::npos || !line.ends_with(end)) return {};
  line.remove_suffix(end.size());
  return line.substr(open + start.size());
}

std::string FirstError::count_of_more() const {
  if (more == 0) return {};
  return "\n(and " + std::to_string(more) + (more == 1 ? " more error" : " more errors") +
         "; see .log)";
}

FirstError first_error(std::string_view log) {
  FirstError error;
  const std::vector<std::string_view> lines = lines_of(log);
  std::optional<std::size_t> first;
  bool has_cause = true;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (!tells_of_error(lines[i])) continue;
    if (!first) {
      first = i;
      has_cause = !follows_from_another(lines[i]);
      continue;
    }
    if (sums_up(lines[i])) continue;
    ++error.more;
    if (!has_cause && !undefined_identifier(lines[i]).empty()) {
      first = i;
      has_cause = true;
    }
  }
  if (!first) return error;
  error.text = lines[*first];
  read_place(lines[*first], error);
  std::size_t begin = *first + 1;
  std::size_t end = std::min(begin + 2, lines.size());
  // At the end of the source there is nothing to show. A note may say what begins further up.
  if (error.text.starts_with(end_of_source) && begin < lines.size() &&
      lines[begin].find("): note") != std::string_view::npos) {
    error.excerpt = lines[begin++];
    end = std::min(begin + 2, lines.size());
  }
  for (std::size_t i = begin; i < end; ++i) {
    if (!lines[i].starts_with("  ")) break;
    error.excerpt += (error.excerpt.empty() ? "" : "\n") + std::string(lines[i]);
  }
  return error;
}

std::string demangle_all(std::string_view text) {
  std::string readable;
  std::size_t i = 0;
  while (i < text.size()) {
    const std::size_t start = text.find("_Z", i);
    if (start == std::string_view::npos) break;
    readable += text.substr(i, start - i);
    std::size_t end = start;
    while (end < text.size() && is_word_char(text[end])) ++end;
    const bool inside_word = start > 0 && is_word_char(text[start - 1]);
    const std::string_view word = text.substr(start, end - start);
    readable += inside_word ? std::string(word) : demangle(word);
    i = end;
  }
  readable += text.substr(std::min(i, text.size()));
  return readable;
}

}  // namespace cudacore::signature
