// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cudacore::tile {

/// A piece of one line of the text.
struct Token {
  enum class Kind { word, value, integer, number, string, mark, end };
  Kind kind = Kind::end;
  std::string text;  ///< of a value: its name; of a string: what it stands for
  std::int64_t integer = 0;
  double number = 0;
};

/// Takes one line of the text apart. Bad lines throw Error with the text's line.
class Tokens {
 public:
  Tokens(std::string_view line, int number);

  [[nodiscard]] const Token& next() const { return token_; }
  Token take();
  [[nodiscard]] bool at(std::string_view mark) const;  ///< whether a mark or word comes next
  bool accept(std::string_view mark);
  void expect(std::string_view mark);
  std::string word();
  std::string value();
  std::int64_t integer();
  [[noreturn]] void fail(const std::string& message) const;

 private:
  void advance();
  void scan_string();
  void scan_number();

  std::string_view rest_;
  int line_;
  Token token_;
};

}  // namespace cudacore::tile
