// SPDX-License-Identifier: Apache-2.0
#include "simulator/ptx/lexer.hpp"

#include <array>
#include <charconv>
#include <cstring>

namespace cudacore::simulator::ptx {
namespace {

enum class Class : std::uint8_t { other, end, blank, newline, word, digit, lead };

constexpr std::array<Class, 256> make_classes() {
  std::array<Class, 256> classes{};
  classes[0] = Class::end;
  for (const char c : {' ', '\t', '\r', '\f', '\v'})
    classes[static_cast<unsigned char>(c)] = Class::blank;
  classes['\n'] = Class::newline;
  for (std::size_t c = 'a'; c <= 'z'; ++c) classes[c] = Class::word;
  for (std::size_t c = 'A'; c <= 'Z'; ++c) classes[c] = Class::word;
  classes['_'] = classes['$'] = Class::word;
  for (std::size_t c = '0'; c <= '9'; ++c) classes[c] = Class::digit;
  classes['%'] = Class::lead;
  return classes;
}

constexpr std::array<Class, 256> classes = make_classes();

constexpr Class class_of(char c) noexcept { return classes[static_cast<unsigned char>(c)]; }

constexpr bool in_name(char c) noexcept {
  const Class found = class_of(c);
  return found == Class::word || found == Class::digit;
}

const char* end_of_name(const char* at) noexcept {
  while (in_name(*at)) ++at;
  return at;
}

std::string_view between(const char* begin, const char* end) noexcept {
  return {begin, static_cast<std::size_t>(end - begin)};
}

constexpr std::size_t longest_quotation = 60;

}  // namespace

std::string quoted(std::string_view text) {
  std::string out = "'";
  for (const char c : text.substr(0, longest_quotation)) out += c >= ' ' && c <= '~' ? c : '?';
  out += text.size() > longest_quotation ? "...'" : "'";
  return out;
}

Lexer::Lexer(std::string_view text, Position start, std::string_view end_name)
    : cursor_(text.data()),
      end_(text.data() + text.size()),
      line_begin_(text.data()),
      line_(start.line),
      column_shift_(start.column - 1),
      end_name_(end_name) {
  next();
}

Position Lexer::position_of(const char* at) const noexcept {
  return {line_, static_cast<std::uint32_t>(at - line_begin_) + 1 + column_shift_};
}

void Lexer::fail(Position position, const std::string& message) {
  throw SyntaxError(position, message);
}

void Lexer::fail_expected(std::string_view what) const {
  const std::string found = at(Token::Kind::end) ? std::string(end_name_) : quoted(token_.text);
  fail("expected " + std::string(what) + ", found " + found);
}

void Lexer::expect(char symbol) {
  if (!accept(symbol)) fail_expected(std::string{'\'', symbol, '\''});
}

std::string_view Lexer::expect_name(std::string_view what) {
  if (!at(Token::Kind::name)) fail_expected(what);
  const std::string_view name = token_.text;
  next();
  return name;
}

std::uint64_t Lexer::expect_integer(std::string_view what, std::uint64_t limit) {
  if (!at(Token::Kind::integer)) fail_expected(what);
  if (token_.bits > limit) {
    fail(std::string(what) + " is " + std::string(token_.text) + ", more than " +
         std::to_string(limit));
  }
  const std::uint64_t value = token_.bits;
  next();
  return value;
}

void Lexer::skip_comment() {
  if (cursor_[1] == '/') {
    const void* const newline =
        std::memchr(cursor_, '\n', static_cast<std::size_t>(end_ - cursor_));
    cursor_ = newline == nullptr ? end_ : static_cast<const char*>(newline);
    return;
  }
  const Position opening = position_of(cursor_);
  for (cursor_ += 2; !(cursor_[0] == '*' && cursor_[1] == '/'); ++cursor_) {
    if (cursor_ == end_) fail(opening, "this comment has no end");
    if (*cursor_ == '\n') {
      ++line_;
      line_begin_ = cursor_ + 1;
      column_shift_ = 0;
    }
  }
  cursor_ += 2;
}

void Lexer::skip_blanks() {
  for (;;) {
    switch (class_of(*cursor_)) {
      case Class::newline:
        ++line_;
        line_begin_ = cursor_ + 1;
        column_shift_ = 0;
        [[fallthrough]];
      case Class::blank:
        ++cursor_;
        break;
      default:
        if (*cursor_ != '/' || (cursor_[1] != '/' && cursor_[1] != '*')) return;
        skip_comment();
    }
  }
}

void Lexer::next() {
  skip_blanks();
  const char* const begin = cursor_;
  token_.symbol = 0;
  token_.position = position_of(begin);
  switch (class_of(*begin)) {
    case Class::end:
      token_.kind = Token::Kind::end;
      token_.text = {};
      return;
    case Class::lead:
      if (!in_name(begin[1])) break;
      [[fallthrough]];
    case Class::word:
      cursor_ = end_of_name(begin + 1);
      token_.kind = Token::Kind::name;
      token_.text = between(begin, cursor_);
      return;
    case Class::digit:
      read_number(begin);
      return;
    default:
      break;
  }
  if (*begin == '.' && class_of(begin[1]) == Class::word) {
    cursor_ = end_of_name(begin + 1);
    token_.kind = Token::Kind::directive;
    token_.text = between(begin, cursor_);
    return;
  }
  if (*begin == '.' && class_of(begin[1]) == Class::digit) return read_decimal(begin);
  if (*begin == '"') return read_string(begin);
  cursor_ = begin + 1;
  token_.kind = Token::Kind::symbol;
  token_.symbol = *begin;
  token_.text = between(begin, cursor_);
}

void Lexer::read_number(const char* begin) {
  if (*begin == '0') {
    const char form = static_cast<char>(begin[1] | 0x20);
    if (form == 'f') return read_bits(begin, 8);
    if (form == 'd') return read_bits(begin, 16);
  }
  const char* digits = begin;
  while (class_of(*digits) == Class::digit) ++digits;
  const bool exponent = (*digits | 0x20) == 'e';
  if (*digits == '.' || exponent) return read_decimal(begin);
  read_integer(begin);
}

void Lexer::end_number(const char* begin, const char* end) {
  const char* const whole = end_of_name(end);
  token_.text = between(begin, whole);
  if (whole != end) fail(quoted(token_.text) + " is not a number");
  cursor_ = end;
}

void Lexer::read_integer(const char* begin) {
  const char* digits = begin;
  unsigned base = 10;
  const char form = static_cast<char>(begin[1] | 0x20);
  if (*begin == '0' && form == 'x') {
    base = 16;
    digits += 2;
  } else if (*begin == '0' && form == 'b') {
    base = 2;
    digits += 2;
  } else if (*begin == '0') {
    base = 8;
  }
  std::uint64_t value = 0;
  const auto [rest, error] = std::from_chars(digits, end_, value, static_cast<int>(base));
  if (error == std::errc::result_out_of_range) {
    fail(quoted(between(begin, end_of_name(begin))) + " does not fit in 64 bits");
  }
  if (error != std::errc{}) fail(quoted(between(begin, end_of_name(begin))) + " is not a number");
  const bool suffixed = *rest == 'U' || *rest == 'u';
  token_.kind = Token::Kind::integer;
  token_.bits = value;
  token_.is_unsigned = suffixed || value > static_cast<std::uint64_t>(INT64_MAX);
  end_number(begin, suffixed ? rest + 1 : rest);
}

void Lexer::read_bits(const char* begin, unsigned digits) {
  std::uint64_t value = 0;
  const char* const first = begin + 2;
  const auto [rest, error] = std::from_chars(first, end_, value, 16);
  const char* const whole = end_of_name(begin);
  if (error != std::errc{} || rest != first + digits || whole != rest) {
    fail(quoted(between(begin, whole)) + " is not a number: " + std::string(begin, 2) + " takes " +
         std::to_string(digits) + " hexadecimal digits");
  }
  token_.kind = digits == 8 ? Token::Kind::f32 : Token::Kind::f64;
  token_.bits = value;
  token_.text = between(begin, rest);
  cursor_ = rest;
}

void Lexer::read_decimal(const char* begin) {
  double value = 0;
  const auto [rest, error] = std::from_chars(begin, end_, value);
  if (error == std::errc::result_out_of_range) {
    fail(quoted(between(begin, rest)) + " is beyond the range of a double");
  }
  token_.kind = Token::Kind::f64;
  std::memcpy(&token_.bits, &value, sizeof(value));
  end_number(begin, rest);
}

void Lexer::read_string(const char* begin) {
  const char* at = begin + 1;
  while (*at != '"') {
    if (*at == '\\' && at[1] != '\n' && at + 1 < end_) ++at;
    if (at == end_ || *at == '\n') fail("this string has no end");
    ++at;
  }
  cursor_ = at + 1;
  token_.kind = Token::Kind::string;
  token_.text = between(begin, cursor_);
}

void Lexer::extend_opcode() noexcept {
  const char* at = cursor_;
  for (;;) {
    if (*at == '.' && in_name(at[1])) {
      at = end_of_name(at + 1);
    } else if (at[0] == ':' && at[1] == ':' && in_name(at[2])) {
      at = end_of_name(at + 2);
    } else {
      break;
    }
  }
  cursor_ = at;
  token_.text = between(token_.text.data(), at);
}

void Lexer::extend_component() noexcept {
  if (*cursor_ != '.' || !in_name(cursor_[1])) return;
  cursor_ = end_of_name(cursor_ + 1);
  token_.text = between(token_.text.data(), cursor_);
}

void Lexer::split_percent() noexcept {
  if (token_.kind != Token::Kind::name || token_.text.front() != '%') return;
  cursor_ = token_.text.data() + 1;
  token_.kind = Token::Kind::symbol;
  token_.symbol = '%';
  token_.text = token_.text.substr(0, 1);
}

void Lexer::skip_block(Position opening) {
  for (std::size_t depth = 1;;) {
    if (at(Token::Kind::end)) fail(opening, "this '{' is never closed");
    if (at('{')) ++depth;
    if (at('}') && --depth == 0) break;
    skip_blanks();
    if (const char c = *cursor_; c == '"' || c == '{' || c == '}' || c == '\0') {
      next();
      continue;
    }
    // Debug data is a large part of the text, and none of its numbers matter.
    while (std::strchr("\"{}/\n", *cursor_) == nullptr) ++cursor_;
    if (*cursor_ == '/' && cursor_[1] != '/' && cursor_[1] != '*') ++cursor_;
    token_.kind = Token::Kind::symbol;
    token_.symbol = ' ';
  }
  next();
}

void Lexer::skip_line() {
  const void* const newline = std::memchr(cursor_, '\n', static_cast<std::size_t>(end_ - cursor_));
  cursor_ = newline == nullptr ? end_ : static_cast<const char*>(newline);
  next();
}

}  // namespace cudacore::simulator::ptx
