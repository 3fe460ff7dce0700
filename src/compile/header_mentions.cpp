// SPDX-License-Identifier: Apache-2.0
#include "compile/header_mentions.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "compile/macro_definitions.hpp"
#include "signature/cxx_text.hpp"

namespace cudacore::compile {
namespace {

constexpr std::size_t npos = std::string_view::npos;
constexpr std::size_t most_headers = 10'000;  // of one text
constexpr std::string_view has_include = "__has_include";
constexpr std::array<std::string_view, 3> built_in = {has_include, "__has_include_next",
                                                      "__has_embed"};

/// Whether only blanks and comments may come before `place` on its line. So it is not in a comment
/// that begins with `//` or, in the usual style, with a star.
bool may_start_line(std::string_view text, std::size_t place) noexcept {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  while (place > 0 && text[place - 1] != '\n' && signature::is_space(text[place - 1])) --place;
  const std::string_view before = text.substr(0, place);
  return before.empty() || before.ends_with('\n') || before.ends_with("*/") ||
         before == byte_order_mark;
}

/// Which places of a text are in comments; to be asked in ascending order.
class Comments {
 public:
  explicit Comments(std::string_view text) noexcept : text_(text) {}

  [[nodiscard]] bool contain(std::size_t place) {
    while (end_ <= place && end_ < text_.size()) read_next();
    return is_comment_ && place < end_;
  }

 private:
  /// Reads a comment, a literal or a character.
  void read_next() {
    const std::size_t begin = end_;
    const std::string_view two = text_.substr(begin, 2);
    is_comment_ = two == "//" || two == "/*";
    if (two == "//") {
      end_ = text_.find('\n', begin);
    } else if (two == "/*") {
      end_ = text_.find("*/", begin + 2);
      if (end_ != npos) end_ += 2;
    } else if (text_[begin] == '"' && is_raw(begin)) {
      end_ = behind_raw_literal(begin);
    } else if (text_[begin] == '"' || (text_[begin] == '\'' && !is_after_digit(begin))) {
      for (end_ = begin + 1; end_ < text_.size() && text_[end_] != '\n'; ++end_) {
        if (text_[end_] == text_[begin]) break;
        if (text_[end_] == '\\') ++end_;
      }
      ++end_;
    } else {
      end_ = begin + 1;
    }
    end_ = std::min(end_, text_.size());
  }

  /// Whether an apostrophe stands in a number, as in 1'000.
  [[nodiscard]] bool is_after_digit(std::size_t i) const noexcept {
    std::size_t begin = i;
    while (begin > 0 && (is_identifier_char(text_[begin - 1]) || text_[begin - 1] == '\'' ||
                         text_[begin - 1] == '.')) {
      --begin;
    }
    if (begin < i && text_[begin] == '.') ++begin;
    return begin < i && signature::is_digit(text_[begin]);
  }
  /// Whether a quotation mark stands behind R, u8R, uR, UR or LR.
  [[nodiscard]] bool is_raw(std::size_t i) const noexcept {
    std::size_t begin = i;
    while (begin > 0 && i - begin < 4 && is_identifier_char(text_[begin - 1])) --begin;
    const std::string_view prefix = text_.substr(begin, i - begin);
    return prefix == "R" || prefix == "u8R" || prefix == "uR" || prefix == "UR" || prefix == "LR";
  }

  [[nodiscard]] std::size_t behind_raw_literal(std::size_t begin) const {
    const std::size_t open = text_.find('(', begin);
    if (open == npos) return npos;
    const std::string close = ")" + std::string(text_.substr(begin + 1, open - begin - 1)) + "\"";
    const std::size_t end = text_.find(close, open);
    return end == npos ? npos : end + close.size();
  }

  std::string_view text_;
  std::size_t end_ = 0;
  bool is_comment_ = false;
};

constexpr std::array<std::string_view, 3> unstable = {"__DATE__", "__TIME__", "__TIMESTAMP__"};

/// Of two words that make the name of a query or of a time, one contains such a part, and so does
/// the first of more, unless it is one or two underscores.
constexpr std::array<std::string_view, 9> parts = {"has_", "_inc", "_emb", "__ha", "__TI",
                                                   "__DA", "ME__", "TE__", "MP__"};

/// What few texts contain: how trigraphs begin, and the parts.
constexpr auto rare = [] {
  std::array<std::string_view, 1 + parts.size()> all = {"?\?"};
  std::copy(parts.begin(), parts.end(), all.begin() + 1);
  return all;
}();

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  HeaderMentions read() && {
    const std::uint32_t found = occurring(text_, rare);
    for (const std::string_view name : unstable) {
      if (found != 0 && index_of(text_, name, 0) != npos) trouble("uses " + std::string(name));
    }
    const bool may_have_trigraphs = (found & 1U) != 0;
    if (may_have_trigraphs &&
        (index_of(text_, "?\?=", 0) != npos || index_of(text_, "?\?/", 0) != npos)) {
      trouble("contains trigraphs");
    }
    read_directives();
    read_queries(found >> 1U);
    return std::move(found_);
  }

  /// Finds a macro that stands for __has_include, and what may become its name by pasting two
  /// words, of which one is at least half as long.
  HeaderMentions read_uses(std::string_view query) && {
    const std::string_view front = query.substr(0, (query.size() + 1) / 2);
    const std::string_view back = query.substr(query.size() / 2);
    for (const std::string_view part : {front, back}) {
      comments_ = Comments(text_);
      for_each_word_with(part, [&](std::size_t begin, std::size_t end, std::string_view word) {
        if (word == query) {
          if (part == front) read_query(query, begin, end);
        } else if (query.starts_with(word) || query.ends_with(word)) {
          trouble("may make " + std::string(query) + " out of " + std::string(word));
        }
      });
    }
    return std::move(found_);
  }

 private:
  void trouble(std::string why) {
    if (found_.trouble.empty()) found_.trouble = std::move(why);
  }

  void read_directives() {
    Hashes hashes(text_);
    CommentEnds ends(text_);
    for (Hash hash = hashes.next(0); hash.place != npos; hash = hashes.next(hash.behind)) {
      std::size_t i = skip_blanks(text_, hash.behind, ends);
      allowed_ -= std::min(allowed_, i - hash.behind);
      if (allowed_ == 0) return trouble("has too many blanks");
      // Nearly all other directives end here.
      if (i >= text_.size() || (text_[i] != 'i' && text_[i] != 'e')) continue;
      if (!may_start_line(text_, hash.place)) continue;
      const std::string_view word = take_word(text_, i);
      if (word != "include" && word != "include_next" && word != "import" && word != "embed") {
        continue;
      }
      i = skip_blanks(text_, i, ends);
      if (auto header = take_header(text_, i)) {
        found_.headers.push_back(*std::move(header));
        if (found_.headers.size() > most_headers) return trouble("includes too many headers");
        continue;
      }
      const std::string_view macro = take_word(text_, i);
      const std::string_view harmless = macro.empty() ? "\n\"</" : "";
      const bool is_known = i >= text_.size() || harmless.find(text_[i]) != npos ||
                            (!macro.empty() && text_[i] != '\\' && (text_[i] & 0x80) == 0);
      if (!is_known) trouble("includes what the cache cannot read");
      if (!macro.empty()) found_.macros.emplace_back(macro);
    }
  }

  /// Finds __has_include, which may be used anywhere, and what may become it, or the name of a
  /// time, by pasting.
  /// @param found the parts that the text contains, as bits
  void read_queries(std::uint32_t found) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if ((found >> i & 1U) == 0) continue;
      const std::string_view part = parts.at(i);
      comments_ = Comments(text_);
      for_each_word_with(part, [&](std::size_t begin, std::size_t end, std::string_view word) {
        if (is_built_in(word)) {
          if (part == parts[0]) read_query(word, begin, end);
        } else if (is_fragment(word)) {
          trouble("may make the name of a query or of a time out of " + std::string(word));
        }
      });
    }
  }

  template <typename Work>
  void for_each_word_with(std::string_view part, Work work) {
    std::size_t i = index_of(text_, part, 0);
    while (i != npos && found_.trouble.empty()) {
      std::size_t begin = i;
      while (begin > 0 && is_identifier_char(text_[begin - 1])) --begin;
      std::size_t end = begin;
      const std::string_view word = take_word(text_, end);
      work(begin, end, word);
      i = index_of(text_, part, std::max(end, i + part.size()));
    }
  }

  static bool is_fragment(std::string_view word) noexcept {
    const auto is_part_of = [&](std::string_view name) { return name.find(word) != npos; };
    return std::any_of(built_in.begin(), built_in.end(), is_part_of) ||
           std::any_of(unstable.begin(), unstable.end(), is_part_of);
  }

  void read_query(std::string_view query, std::size_t begin, std::size_t i) {
    const std::optional<EnclosingMacro> macro = macro_around(text_, begin, allowed_);
    if (allowed_ == 0) return trouble("asks for headers in too many ways");
    i = skip_blanks(text_, i, ends_);
    const bool is_call = text_.substr(i, 1) == "(";
    if (is_call) {
      i = skip_blanks(text_, i + 1, ends_);
      std::size_t end = i;
      auto header = take_header(text_, end);
      if (header && is_closed(end) && is_whole(*header, macro, begin)) {
        header->is_expanded = !is_built_in(query) || !is_condition(begin);
        found_.headers.push_back(*std::move(header));
        if (found_.headers.size() > most_headers) trouble("asks for too many headers");
        return;
      }
    }
    if (is_tested(begin) || is_defined(begin) || is_in_comment(begin)) return;
    const bool is_forwarded = is_call && macro && macro->parameters.size() == 1 &&
                              take_word(text_, i) == macro->parameters.front() && is_closed(i);
    if (!is_forwarded) return trouble("asks for a header by a macro with " + std::string(query));
    found_.queries.push_back(macro->name);
  }

  /// In a text with raw strings, never: the lines in them should not have been joined.
  [[nodiscard]] bool is_in_comment(std::size_t place) {
    if (!has_raw_strings_) has_raw_strings_ = index_of(text_, "R\"", 0) != npos;
    return !*has_raw_strings_ && comments_.contain(place);
  }

  static bool is_built_in(std::string_view word) noexcept {
    return std::find(built_in.begin(), built_in.end(), word) != built_in.end();
  }

  /// Whether a query stands in an `#if` itself, not in what a macro is given.
  [[nodiscard]] bool is_condition(std::size_t begin) const noexcept {
    const std::string_view before = text_.substr(0, begin);
    const std::size_t newline = before.rfind('\n');
    const std::string_view line = before.substr(newline == npos ? 0 : newline + 1);
    if (line.find_first_of("\"'") != npos || line.find("/*") != npos || line.find("*/") != npos) {
      return false;
    }
    std::size_t i = skip_blanks(line, 0);
    if (line.substr(i, 1) != "#") return false;
    i = skip_blanks(line, i + 1);
    const std::string_view directive = take_word(line, i);
    if (directive != "if" && directive != "elif") return false;
    for (std::size_t open = line.find('(', i); open != npos; open = line.find('(', open + 1)) {
      std::string_view caller = line.substr(i, open - i);
      const bool is_call = !drop_word(caller, "defined") && ends_with_identifier(caller);
      const std::size_t close = line.find(')', open);
      if (is_call && close == npos) return false;
    }
    return true;
  }

  static bool ends_with_identifier(std::string_view text) noexcept {
    text = without_blanks_behind(text);
    return !text.empty() && is_identifier_char(text.back());
  }

  [[nodiscard]] bool is_closed(std::size_t i) noexcept {
    return text_.substr(skip_blanks(text_, i, ends_), 1) == ")";
  }

  /// Whether a header is all that the query at `begin` asks for, whatever a macro around it is
  /// given.
  [[nodiscard]] bool is_whole(const HeaderMention& header,
                              const std::optional<EnclosingMacro>& macro, std::size_t begin) const {
    if (header.is_quoted) return true;
    if (!macro) {
      // A definition may stand behind a comment that began on a line before.
      const std::string_view before = text_.substr(0, begin);
      const std::size_t newline = before.rfind('\n');
      return before.substr(newline == npos ? 0 : newline + 1).find("*/") == npos;
    }
    const auto words = replaceable_words(header.name);
    return words && std::none_of(words->begin(), words->end(),
                                 [&](std::string_view word) { return macro->has_parameter(word); });
  }

  static std::string_view without_blanks_behind(std::string_view text) noexcept {
    while (!text.empty() && signature::is_space(text.back())) text.remove_suffix(1);
    return text;
  }

  /// Takes a whole word from a text's end, with the blanks around it.
  static bool drop_word(std::string_view& text, std::string_view word) noexcept {
    std::string_view rest = without_blanks_behind(text);
    if (!rest.ends_with(word)) return false;
    rest.remove_suffix(word.size());
    if (!rest.empty() && (is_identifier_char(rest.back()) || (rest.back() & 0x80) != 0)) {
      return false;
    }
    text = without_blanks_behind(rest);
    return true;
  }

  static bool ends_with_hash(std::string_view text) noexcept {
    return text.ends_with('#') || text.ends_with("%:");
  }

  /// Whether the word at `begin` is the name of a macro that begins or ends there.
  [[nodiscard]] bool is_defined(std::size_t begin) const noexcept {
    std::string_view before = text_.substr(0, begin);
    return (drop_word(before, "define") || drop_word(before, "undef")) && ends_with_hash(before);
  }

  /// Whether the word at `begin` only is asked whether it exists: `defined(__has_include)`.
  [[nodiscard]] bool is_tested(std::size_t begin) const noexcept {
    std::string_view before = without_blanks_behind(text_.substr(0, begin));
    if (drop_word(before, "ifdef") || drop_word(before, "ifndef")) return ends_with_hash(before);
    if (before.ends_with('(')) before.remove_suffix(1);
    return drop_word(before, "defined");
  }

  std::string_view text_;
  Comments comments_{text_};
  CommentEnds ends_{text_};
  std::optional<bool> has_raw_strings_;           ///< if it was asked for
  std::size_t allowed_ = std::size_t{64} << 20U;  ///< characters to read again
  HeaderMentions found_;
};

}  // namespace

HeaderMentions header_mentions(std::string_view text) { return Reader(text).read(); }

HeaderMentions mentions_by(std::string_view query, std::string_view text) {
  return Reader(text).read_uses(query);
}

}  // namespace cudacore::compile
