// SPDX-License-Identifier: Apache-2.0
#include "compile/header_mentions.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "signature/cxx_text.hpp"

namespace cudacore::compile {
namespace {

using signature::is_word_char;

constexpr std::size_t npos = std::string_view::npos;
constexpr std::string_view has_include = "__has_include";
constexpr std::array<std::string_view, 3> built_in = {has_include, "__has_include_next",
                                                      "__has_embed"};

/// Like std::string_view::find(), which is slow for more than a character.
std::size_t index_of(std::string_view text, std::string_view wanted, std::size_t i) noexcept {
#if defined(__SSE2__)
  // 16 places at once, by the first and the last character.
  const __m128i first = _mm_set1_epi8(wanted.front());
  const __m128i last = _mm_set1_epi8(wanted.back());
  const std::size_t length = wanted.size();
  for (; i + length + sizeof(__m128i) <= text.size(); i += sizeof(__m128i)) {
    const char* const place = text.data() + i;
    const auto load = [](const char* from) {
      return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
    };
    const __m128i match = _mm_and_si128(_mm_cmpeq_epi8(first, load(place)),
                                        _mm_cmpeq_epi8(last, load(place + length - 1)));
    for (auto found = static_cast<unsigned>(_mm_movemask_epi8(match)); found != 0;
         found &= found - 1) {
      const auto at = static_cast<std::size_t>(std::countr_zero(found));
      if (std::memcmp(place + at, wanted.data(), length) == 0) return i + at;
    }
  }
#endif
  return text.find(wanted, i);
}

/// The size of the line continuation at `i`; 0 if there is none.
std::size_t continuation(std::string_view text, std::size_t i) noexcept {
  if (text.substr(i, 2) == "\\\n") return 2;
  return text.substr(i, 3) == "\\\r\n" ? 3 : 0;
}

/// Where comments of a text end. Asked again for one that began before, it need not search again.
class CommentEnds {
 public:
  explicit CommentEnds(std::string_view text) noexcept : text_(text) {}

  /// The index behind the comment that begins with the two characters at `i`.
  std::size_t behind(std::size_t i) noexcept {
    const std::size_t from = i + 2;
    if (from < from_ || from > end_) {
      from_ = from;
      end_ = std::min(text_.find("*/", from), text_.size());
    }
    return std::min(end_ + 2, text_.size());
  }

 private:
  std::string_view text_;
  std::size_t from_ = npos;
  std::size_t end_ = 0;
};

/// The first index at or after `i` on the same logical line that is neither white space nor part
/// of a comment; the end of the line or of the text if there is none.
std::size_t skip_blanks(std::string_view text, std::size_t i, CommentEnds& ends) noexcept {
  while (i < text.size()) {
    if (const std::size_t joined = continuation(text, i); joined != 0) {
      i += joined;
    } else if (text[i] != '\n' && signature::is_space(text[i])) {
      ++i;
    } else if (text.substr(i, 2) == "/*") {
      i = ends.behind(i);
    } else {
      break;
    }
  }
  return i;
}

std::size_t skip_blanks(std::string_view text, std::size_t i) noexcept {
  CommentEnds ends(text);
  return skip_blanks(text, i, ends);
}

/// Takes characters as long as `belongs` says so, without line continuations, and leaves `i`
/// behind them.
template <typename Belongs>
std::string take(std::string_view text, std::size_t& i, Belongs belongs) {
  std::string taken;
  while (i < text.size()) {
    if (const std::size_t joined = continuation(text, i); joined != 0) {
      i += joined;
    } else if (belongs(text[i])) {
      taken += text[i++];
    } else {
      break;
    }
  }
  return taken;
}

std::string take_word(std::string_view text, std::size_t& i) { return take(text, i, is_word_char); }

/// The header at `i`, as "name" or <name>, with `i` behind it; unset if there is none.
std::optional<HeaderMention> take_header(std::string_view text, std::size_t& i) {
  const bool is_quoted = text.substr(i, 1) == "\"";
  if (!is_quoted && text.substr(i, 1) != "<") return std::nullopt;
  const char end = is_quoted ? '"' : '>';
  std::size_t j = i + 1;
  std::string name = take(text, j, [end](char c) { return c != end && c != '\n'; });
  if (j >= text.size() || text[j] != end) return std::nullopt;
  i = j + 1;
  return HeaderMention{std::move(name), is_quoted};
}

bool is_at_end_of_line(std::string_view text, std::size_t i) noexcept {
  return i >= text.size() || text[i] == '\n' || text.substr(i, 2) == "//";
}

/// Whether only blanks and comments may come before `place` on its line. So it is not in a comment
/// that begins with `//` or, in the usual style, with a star.
bool may_start_line(std::string_view text, std::size_t place) noexcept {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  while (place > 0 && text[place - 1] != '\n' && signature::is_space(text[place - 1])) --place;
  const std::string_view before = text.substr(0, place);
  return before.empty() || before.ends_with('\n') || before.ends_with("*/") ||
         before == byte_order_mark;
}

/// The index of the text's next `#`, in either spelling, and of what follows it.
struct Hash {
  std::size_t place = npos;
  std::size_t behind = npos;
};

class Hashes {
 public:
  explicit Hashes(std::string_view text) : text_(text), digraph_(index_of(text, "%:", 0)) {}

  Hash next(std::size_t from) noexcept {
    const std::size_t plain = text_.find('#', from);
    while (digraph_ != npos && digraph_ < from) digraph_ = index_of(text_, "%:", digraph_ + 1);
    if (digraph_ < plain) return {digraph_, digraph_ + 2};
    return plain == npos ? Hash{} : Hash{plain, plain + 1};
  }

 private:
  std::string_view text_;
  std::size_t digraph_;
};

/// The macro whose definition a place belongs to.
struct Definition {
  std::string name;
  std::vector<std::string> parameters;

  [[nodiscard]] bool has_parameter(std::string_view word) const noexcept {
    return std::find(parameters.begin(), parameters.end(), word) != parameters.end();
  }
};

/// The start of the line that `place` belongs to, with the lines that are joined to it by a
/// backslash or by a comment that ends before `place`.
/// @param allowed how many characters may be read; 0 if that weren't enough
std::size_t logical_line(std::string_view text, std::size_t place, std::size_t& allowed) noexcept {
  std::size_t start = place;
  while (start > 0) {
    const std::size_t newline = text.substr(0, start).rfind('\n');
    start = newline == npos ? 0 : newline + 1;
    const std::string_view line = text.substr(start, place - start);
    allowed -= std::min(allowed, line.size());
    if (allowed == 0) break;
    const bool is_joined =
        text.substr(0, start).ends_with("\\\n") || text.substr(0, start).ends_with("\\\r\n");
    if (!is_joined && line.find("*/") >= line.find("/*")) break;
    if (start > 0) --start;
  }
  return start;
}

/// The definition that `place` is in the body of; unset if it is in none.
std::optional<Definition> definition_around(std::string_view text, std::size_t place,
                                            std::size_t& allowed) {
  std::size_t i = skip_blanks(text, logical_line(text, place, allowed));
  const std::size_t hash = text.substr(i, 2) == "%:" ? 2 : text.substr(i, 1) == "#" ? 1 : 0;
  if (hash == 0) return std::nullopt;
  i = skip_blanks(text, i + hash);
  if (take_word(text, i) != "define") return std::nullopt;
  i = skip_blanks(text, i);
  Definition definition{take_word(text, i), {}};
  if (i < place && text[i] == '(') {
    for (++i; i < place && text[i] != ')';) {
      if (is_word_char(text[i])) {
        definition.parameters.push_back(take_word(text, i));
      } else if (text.substr(i, 3) == "...") {
        definition.parameters.emplace_back("__VA_ARGS__");
        i += 3;
      } else {
        ++i;
      }
    }
  }
  return definition;
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

  [[nodiscard]] bool is_after_digit(std::size_t i) const noexcept {
    return i > 0 && is_word_char(text_[i - 1]) && i + 1 < text_.size() &&
           is_word_char(text_[i + 1]) && text_.substr(i + 2, 1) != "'";
  }
  [[nodiscard]] bool is_raw(std::size_t i) const noexcept { return i > 0 && text_[i - 1] == 'R'; }

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

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  HeaderMentions read() && {
    for (const std::string_view unstable : {"__DATE__", "__TIME__", "__TIMESTAMP__"}) {
      if (index_of(text_, unstable, 0) != npos) trouble("uses " + std::string(unstable));
    }
    if (index_of(text_, "?\?=", 0) != npos || index_of(text_, "?\?/", 0) != npos) {
      trouble("contains trigraphs");
    }
    read_directives();
    read_queries();
    return std::move(found_);
  }

  /// Finds a macro that stands for __has_include, and what may become its name by pasting two
  /// words, of which one is at least half as long.
  HeaderMentions read_uses(std::string_view query) && {
    const std::string_view front = query.substr(0, (query.size() + 1) / 2);
    const std::string_view back = query.substr(query.size() / 2);
    for (const std::string_view part : {front, back}) {
      comments_ = Comments(text_);
      for_each_word_with(part, [&](std::size_t begin, std::size_t end, const std::string& word) {
        if (word == query) {
          if (part == front) read_query(query, begin, end);
        } else if (query.starts_with(word) || query.ends_with(word)) {
          trouble("may make " + std::string(query) + " out of " + word);
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
      // Nearly all other directives end here.
      if (i >= text_.size() || (text_[i] != 'i' && text_[i] != 'e')) continue;
      if (!may_start_line(text_, hash.place)) continue;
      const std::string word = take_word(text_, i);
      if (word != "include" && word != "include_next" && word != "import" && word != "embed") {
        continue;
      }
      i = skip_blanks(text_, i, ends);
      if (auto header = take_header(text_, i)) {
        found_.headers.push_back(*std::move(header));
        continue;
      }
      std::string macro = take_word(text_, i);
      const std::string_view harmless = macro.empty() ? "\n\"</" : "";
      const bool is_known = i >= text_.size() || harmless.find(text_[i]) != npos ||
                            (!macro.empty() && text_[i] != '\\' && (text_[i] & 0x80) == 0);
      if (!is_known) trouble("includes what the cache cannot read");
      if (!macro.empty()) found_.macros.push_back(std::move(macro));
    }
  }

  /// Finds __has_include, which may be used anywhere, and what may become it by pasting.
  void read_queries() {
    // Of two words that make one of these names, one contains such a part.
    constexpr std::string_view first = "has_";
    for (const std::string_view part :
         {first, std::string_view("_inc"), std::string_view("_emb")}) {
      comments_ = Comments(text_);
      for_each_word_with(part, [&](std::size_t begin, std::size_t end, const std::string& word) {
        if (is_built_in(word)) {
          if (part == first) read_query(word, begin, end);
        } else if (is_fragment(word)) {
          trouble("may make " + std::string(has_include) + " out of " + word);
        }
      });
    }
  }

  template <typename Work>
  void for_each_word_with(std::string_view part, Work work) {
    std::size_t i = index_of(text_, part, 0);
    while (i != npos && found_.trouble.empty()) {
      std::size_t begin = i;
      while (begin > 0 && is_word_char(text_[begin - 1])) --begin;
      std::size_t end = begin;
      const std::string word = take_word(text_, end);
      work(begin, end, word);
      i = index_of(text_, part, std::max(end, i + part.size()));
    }
  }

  static bool is_fragment(std::string_view word) noexcept {
    constexpr std::size_t shortest = 6;  // of "__has_" and "_embed"
    return word.size() >= shortest && std::any_of(built_in.begin(), built_in.end(), [&](auto name) {
             return name.find(word) != npos;
           });
  }

  void read_query(std::string_view query, std::size_t begin, std::size_t i) {
    if (is_tested(begin) || is_defined(begin) || comments_.contain(begin)) return;
    const std::optional<Definition> definition = definition_around(text_, begin, allowed_);
    if (allowed_ == 0) return trouble("asks for headers in too many ways");
    i = skip_blanks(text_, i);
    if (text_.substr(i, 1) == "(") {
      i = skip_blanks(text_, i + 1);
      if (auto header = take_header(text_, i)) {
        header->is_expanded = definition || !is_built_in(query);
        if (!header->is_expanded || is_whole(*header, definition, i)) {
          found_.headers.push_back(*std::move(header));
          return;
        }
      } else if (definition && definition->parameters.size() == 1 &&
                 take_word(text_, i) == definition->parameters.front() && is_closed(i)) {
        found_.queries.push_back(definition->name);
        return;
      }
    }
    trouble("asks for a header by a macro with " + std::string(query));
  }

  static bool is_built_in(std::string_view word) noexcept {
    return std::find(built_in.begin(), built_in.end(), word) != built_in.end();
  }

  [[nodiscard]] bool is_closed(std::size_t i) const noexcept {
    return text_.substr(skip_blanks(text_, i), 1) == ")";
  }

  /// Whether a header that ends before `i` is all that is asked for, whatever a macro is given.
  [[nodiscard]] bool is_whole(const HeaderMention& header,
                              const std::optional<Definition>& definition, std::size_t i) const {
    if (!is_closed(i)) return false;
    if (header.is_quoted || !definition) return true;
    const auto words = replaceable_words(header.name);
    return words && std::none_of(words->begin(), words->end(), [&](const std::string& word) {
             return definition->has_parameter(word);
           });
  }

  /// Whether a text ends with a whole word, and blanks.
  static bool ends_with_word(std::string_view text, std::string_view word) noexcept {
    text = signature::trim(text);
    if (!text.ends_with(word)) return false;
    text.remove_suffix(word.size());
    return text.empty() || (!is_word_char(text.back()) && (text.back() & 0x80) == 0);
  }

  /// Whether the word at `begin` is the name of a macro that begins or ends there.
  [[nodiscard]] bool is_defined(std::size_t begin) const noexcept {
    std::string_view before = signature::trim(text_.substr(0, begin));
    for (const std::string_view word : {"define", "undef"}) {
      if (!ends_with_word(before, word)) continue;
      before = signature::trim(before.substr(0, before.size() - word.size()));
      return before.ends_with('#') || before.ends_with("%:");
    }
    return false;
  }

  /// Whether the word at `begin` only is asked whether it exists: `defined(__has_include)`.
  [[nodiscard]] bool is_tested(std::size_t begin) const noexcept {
    std::string_view before = signature::trim(text_.substr(0, begin));
    if (before.ends_with('(')) before = signature::trim(before.substr(0, before.size() - 1));
    return ends_with_word(before, "defined") || ends_with_word(before, "ifdef") ||
           ends_with_word(before, "ifndef");
  }

  std::string_view text_;
  Comments comments_{text_};
  std::size_t allowed_ = std::size_t{64} << 20U;  ///< characters to read again
  HeaderMentions found_;
};

/// Calls `work` with the name of each macro that a text defines, and the index behind it.
template <typename Work>
void for_each_definition(std::string_view text, Work work) {
  Hashes hashes(text);
  CommentEnds ends(text);
  for (Hash hash = hashes.next(0); hash.place != npos; hash = hashes.next(hash.behind)) {
    std::size_t i = skip_blanks(text, hash.behind, ends);
    if (i >= text.size() || (text[i] != 'd' && text[i] != '\\')) continue;
    if (take_word(text, i) != "define") continue;
    i = skip_blanks(text, i, ends);
    const std::string name = take_word(text, i);
    work(name, i);
  }
}

}  // namespace

std::optional<std::string> joined_lines(std::string_view text) {
  std::string joined;
  std::size_t copied = 0;
  bool is_any = false;
  for (std::size_t i = text.find('\\'); i != npos; i = text.find('\\', i + 1)) {
    const std::size_t size = continuation(text, i);
    if (size == 0) continue;
    is_any = true;
    joined.append(text, copied, i - copied);
    copied = i + size;
  }
  if (!is_any) return std::nullopt;
  return joined.append(text, copied);
}

HeaderMentions header_mentions(std::string_view text) {
  const std::optional<std::string> joined = joined_lines(text);
  return Reader(joined ? *joined : text).read();
}

HeaderMentions mentions_by(std::string_view query, std::string_view text) {
  const std::optional<std::string> joined = joined_lines(text);
  return Reader(joined ? *joined : text).read_uses(query);
}

std::optional<std::vector<std::string>> replaceable_words(std::string_view name) {
  std::vector<std::string> words;
  if (name.find("//") != npos) return std::nullopt;
  for (std::size_t i = 0; i < name.size();) {
    if (is_word_char(name[i])) {
      std::string word = take_word(name, i);
      // Compilers define such macros themselves.
      const bool is_reserved = word.starts_with("__") && word.ends_with("__");
      if (is_reserved || word == "linux" || word == "unix") return std::nullopt;
      words.push_back(std::move(word));
    } else if (name[i] == '.' || name[i] == '/' || name[i] == '-' || name[i] == '+') {
      ++i;
    } else {
      return std::nullopt;
    }
  }
  return words;
}

MacroBody macro_body(std::string_view text) {
  std::size_t i = skip_blanks(text, 0);
  MacroBody body;
  body.header = take_header(text, i);
  if (body.header) body.header->is_expanded = true;
  if (!body.header) body.macro = take_word(text, i);
  if (!is_at_end_of_line(text, skip_blanks(text, i))) return {};
  return body;
}

std::vector<MacroBody> definitions_of(std::string_view macro, std::string_view text) {
  std::vector<MacroBody> bodies;
  for_each_definition(text, [&](const std::string& name, std::size_t i) {
    if (name != macro) return;
    const bool has_parameters = i < text.size() && text[i] == '(';
    bodies.push_back(has_parameters ? MacroBody{} : macro_body(text.substr(i)));
  });
  return bodies;
}

std::vector<std::pair<std::string, std::string>> bodies_in(std::span<const std::string> names,
                                                           std::string_view text) {
  std::vector<std::pair<std::string, std::string>> found;
  for_each_definition(text, [&](const std::string& name, std::size_t i) {
    if (i < text.size() && text[i] == '(') return;
    if (!std::binary_search(names.begin(), names.end(), name)) return;
    i = skip_blanks(text, i);
    const std::string line = take(text, i, [](char c) { return c != '\n'; });
    const std::string_view body = std::string_view(line).substr(0, line.find("//"));
    found.emplace_back(name, signature::trim(body));
  });
  return found;
}

}  // namespace cudacore::compile
