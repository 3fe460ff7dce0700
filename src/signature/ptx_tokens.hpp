// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <stdexcept>

#include "signature/cxx_text.hpp"

namespace cudacore::signature {

/// Whether a word of PTX can begin with `c`.
[[nodiscard]] constexpr bool is_ptx_word_char(char c) noexcept {
  return is_word_char(c) || c == '%' || c == '.';
}

/// PTX as tokens: words (with a leading dot, if any), strings, numbers and single characters.
/// Comments are skipped.
class PtxTokens {
 public:
  explicit PtxTokens(std::string_view text) noexcept : text_(text.substr(0, text.find('\0'))) {}

  /// The next token; empty at the end.
  std::string_view next() noexcept {
    skip_blank();
    if (position_ >= text_.size()) return {};
    const std::size_t start = position_;
    if (text_[start] == '"') {
      const std::size_t quote = text_.find('"', start + 1);
      position_ = quote == std::string_view::npos ? text_.size() : quote + 1;
    } else if (is_ptx_word_char(text_[start])) {
      // A dot begins a new token: ".u64.ptr" is two tokens.
      for (++position_; position_ < text_.size() && is_word_char(text_[position_]);) {
        ++position_;
      }
    } else {
      ++position_;
    }
    return text_.substr(start, position_ - start);
  }

  std::string_view peek() noexcept {
    const std::size_t saved = position_;
    const std::string_view token = next();
    position_ = saved;
    return token;
  }

  [[nodiscard]] std::size_t line() const noexcept {
    const std::string_view read = text_.substr(0, position_);
    return static_cast<std::size_t>(std::count(read.begin(), read.end(), '\n')) + 1;
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw std::invalid_argument("PTX line " + std::to_string(line()) + ": " + what);
  }

  void expect(std::string_view token, std::string_view where) {
    const std::string_view found = next();
    if (found != token) {
      fail("expected '" + std::string(token) + "' " + std::string(where) + ", found " +
           (found.empty() ? "the end of the text" : "'" + std::string(found) + "'"));
    }
  }

 private:
  void skip_blank() noexcept {
    while (position_ < text_.size()) {
      if (is_space(text_[position_])) {
        ++position_;
      } else if (text_.compare(position_, 2, "//") == 0) {
        position_ = std::min(text_.find('\n', position_), text_.size());
      } else if (text_.compare(position_, 2, "/*") == 0) {
        const std::size_t end = text_.find("*/", position_ + 2);
        position_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace cudacore::signature
