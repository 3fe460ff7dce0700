// SPDX-License-Identifier: Apache-2.0
//
// Splits PTX text into tokens, one at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include "simulator/ptx/module.hpp"

namespace cudacore::simulator::ptx {

/// What fits 32 bits.
inline constexpr std::uint64_t largest_32 = std::numeric_limits<std::uint32_t>::max();

struct Token {
  enum class Kind : std::uint8_t {
    end,
    name,       ///< "foo", "%r1", "$L_0"
    directive,  ///< ".foo"
    integer,    ///< bits
    f32,        ///< bits
    f64,        ///< bits
    string,     ///< with its quotes
    symbol,     ///< one character
  };

  Kind kind = Kind::end;
  char symbol = 0;           ///< for Kind::symbol, else 0
  bool is_unsigned = false;  ///< an integer that ends in U, or that is too large for a signed one
  std::uint64_t bits = 0;
  std::string_view text;
  Position position;

  /// The word after the dot of a directive.
  [[nodiscard]] std::string_view word() const noexcept { return text.substr(1); }
};

/// Reads a text that must be followed by a NUL, as the text of a std::string is.
class Lexer {
 public:
  /// @param start the text's position in what the user passed.
  /// @param end_name how messages refer to the end of the text.
  Lexer(std::string_view text, Position start, std::string_view end_name);

  [[nodiscard]] const Token& token() const noexcept { return token_; }
  void next();

  [[nodiscard]] bool at(char symbol) const noexcept { return token_.symbol == symbol; }
  [[nodiscard]] bool at(Token::Kind kind) const noexcept { return token_.kind == kind; }
  [[nodiscard]] bool at_name(std::string_view name) const noexcept {
    return token_.kind == Token::Kind::name && token_.text == name;
  }
  /// Consumes the token if it is that symbol.
  bool accept(char symbol) {
    if (token_.symbol != symbol) return false;
    next();
    return true;
  }
  void expect(char symbol);
  /// Consumes a name and returns it.
  std::string_view expect_name(std::string_view what);
  /// Consumes an integer literal that is at most limit, and returns it.
  std::uint64_t expect_integer(std::string_view what, std::uint64_t limit);

  /// The character immediately after the token.
  [[nodiscard]] char following() const noexcept { return *cursor_; }
  /// Extends a name to a complete opcode: all of "ld.global.L2::128B", not just "ld".
  void extend_opcode() noexcept;
  /// Extends a name with the component that follows its dot: "%tid.x".
  void extend_component() noexcept;
  /// Splits "%3" into the operator '%' and 3.
  void split_percent() noexcept;
  /// Skips everything up to and including the brace that closes the one just consumed.
  void skip_block(Position opening);
  void skip_line();

  [[noreturn]] static void fail(Position position, const std::string& message);
  [[noreturn]] void fail(const std::string& message) const { fail(token_.position, message); }
  /// "expected WHAT, found TOKEN"
  [[noreturn]] void fail_expected(std::string_view what) const;

 private:
  void skip_blanks();
  void skip_comment();
  void read_number(const char* begin);
  void read_integer(const char* begin);
  void read_bits(const char* begin, unsigned digits);
  void read_decimal(const char* begin);
  void read_string(const char* begin);
  void end_number(const char* begin, const char* end);
  [[nodiscard]] Position position_of(const char* at) const noexcept;

  const char* cursor_;
  const char* end_;
  const char* line_begin_;
  std::uint32_t line_;
  std::uint32_t column_shift_;  ///< columns before the text's first character, on its first line
  std::string_view end_name_;
  Token token_;
};

/// A piece of text as messages show it: short, printable and quoted.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace cudacore::simulator::ptx
