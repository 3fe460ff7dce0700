// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "signature/cxx_text.hpp"

// What a preprocessor sees in a C++ text: words, blanks and comments, the `#` of directives, and
// the names of headers. Everything but joined_lines() takes texts without line continuations.

namespace cudacore::compile {

/// The text without line continuations; unset if it has none. To be called once for a text, as the
/// compiler does: what is left may look like a continuation again.
[[nodiscard]] std::optional<std::string> joined_lines(std::string_view text);

/// Whether NVRTC takes a character as part of an identifier; not so a dollar sign.
[[nodiscard]] constexpr bool is_identifier_char(char c) noexcept {
  return c != '$' && signature::is_word_char(c);
}

/// Like std::string_view::find(), which is slow for more than a character.
[[nodiscard]] std::size_t index_of(std::string_view text, std::string_view wanted,
                                   std::size_t i) noexcept;

/// Which of at most 32 texts of two characters or more occur in a text, as bits. One pass, where
/// index_of() would take one for each.
[[nodiscard]] std::uint32_t occurring(std::string_view text,
                                      std::span<const std::string_view> wanted) noexcept;

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
  std::size_t from_ = std::string_view::npos;
  std::size_t end_ = 0;
};

/// The first index at or after `i` on the same line that is neither white space nor part of a
/// comment; the end of the line or of the text if there is none.
[[nodiscard]] std::size_t skip_blanks(std::string_view text, std::size_t i,
                                      CommentEnds& ends) noexcept;
[[nodiscard]] std::size_t skip_blanks(std::string_view text, std::size_t i) noexcept;

/// The word at `i`, which may be empty, with `i` behind it.
[[nodiscard]] std::string_view take_word(std::string_view text, std::size_t& i) noexcept;

/// A header that a text may include, or ask for with __has_include.
struct HeaderMention {
  std::string name;
  bool is_quoted = false;    ///< "name" rather than <name>
  bool is_expanded = false;  ///< words of the name that are macros are replaced
};

/// The header at `i`, as "name" or <name>, with `i` behind it; unset if there is none.
[[nodiscard]] std::optional<HeaderMention> take_header(std::string_view text, std::size_t& i);

/// The index of the text's next `#`, in either spelling, and of what follows it.
struct Hash {
  std::size_t place = std::string_view::npos;
  std::size_t behind = std::string_view::npos;
};

class Hashes {
 public:
  explicit Hashes(std::string_view text) : text_(text), digraph_(index_of(text, "%:", 0)) {}

  Hash next(std::size_t from) noexcept {
    const std::size_t plain = text_.find('#', from);
    while (digraph_ != std::string_view::npos && digraph_ < from) {
      digraph_ = index_of(text_, "%:", digraph_ + 1);
    }
    if (digraph_ < plain) return {digraph_, digraph_ + 2};
    return plain == std::string_view::npos ? Hash{} : Hash{plain, plain + 1};
  }

 private:
  std::string_view text_;
  std::size_t digraph_;
};

}  // namespace cudacore::compile
