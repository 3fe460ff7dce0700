// SPDX-License-Identifier: Apache-2.0
#include "tile/tokens.hpp"

#include <cerrno>
#include <cstdlib>
#include <limits>

#include "tile/error.hpp"

namespace cudacore::tile {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_';
}

std::size_t name_length(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_name_char(text[n])) ++n;
  return n;
}

void append_utf8(std::string& text, unsigned code) {
  const auto byte = [&](unsigned value) { text += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xC0 | (code >> 6));
    byte(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    byte(0xE0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  } else {
    byte(0xF0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3F));
    byte(0x80 | ((code >> 6) & 0x3F));
    byte(0x80 | (code & 0x3F));
  }
}

}  // namespace

Tokens::Tokens(std::string_view line, int number) : rest_(line), line_(number) { advance(); }

void Tokens::fail(const std::string& message) const {
  throw Error("line " + std::to_string(line_) + " of the tile text: " + message);
}

bool Tokens::at(std::string_view mark) const {
  return (token_.kind == Token::Kind::mark || token_.kind == Token::Kind::word) &&
         token_.text == mark;
}

Token Tokens::take() {
  Token taken = std::move(token_);
  advance();
  return taken;
}

bool Tokens::accept(std::string_view mark) {
  if (!at(mark)) return false;
  advance();
  return true;
}

void Tokens::expect(std::string_view mark) {
  if (!accept(mark))
    fail("expected '" + std::string(mark) + "'" +
         (token_.kind == Token::Kind::end ? " before the end of the line"
                                          : ", not '" + token_.text + "'"));
}

std::string Tokens::word() {
  if (token_.kind != Token::Kind::word) fail("expected a word, not '" + token_.text + "'");
  return take().text;
}

std::string Tokens::value() {
  if (token_.kind != Token::Kind::value) fail("expected a value, not '" + token_.text + "'");
  return take().text;
}

std::int64_t Tokens::integer() {
  if (token_.kind != Token::Kind::integer) fail("expected an integer, not '" + token_.text + "'");
  return take().integer;
}

void Tokens::advance() {
  while (!rest_.empty() && (rest_.front() == ' ' || rest_.front() == '\t' || rest_.front() == '\r'))
    rest_.remove_prefix(1);
  token_ = {};
  if (rest_.empty() || rest_.front() == '#') return;
  const char c = rest_.front();
  const bool sign = c == '-' && rest_.size() > 1;
  if (c == '%') {
    const std::size_t length = name_length(rest_.substr(1));
    if (length == 0) fail("a % without a name");
    token_.kind = Token::Kind::value;
    token_.text = rest_.substr(1, length);
    rest_.remove_prefix(length + 1);
  } else if (c == '"') {
    scan_string();
  } else if (is_digit(c) || (sign && (is_digit(rest_[1]) || rest_.substr(1, 3) == "inf"))) {
    scan_number();
  } else if (is_name_char(c)) {
    const std::size_t length = name_length(rest_);
    token_.text = rest_.substr(0, length);
    token_.kind = Token::Kind::word;
    rest_.remove_prefix(length);
  } else {
    token_.kind = Token::Kind::mark;
    token_.text = rest_.substr(0, 1);
    rest_.remove_prefix(1);
  }
}

void Tokens::scan_number() {
  std::size_t length = rest_.front() == '-' ? 1 : 0;
  while (length < rest_.size() &&
         (is_name_char(rest_[length]) || rest_[length] == '.' ||
          ((rest_[length] == '-' || rest_[length] == '+') &&
           (rest_[length - 1] == 'e' || rest_[length - 1] == 'E' || rest_[length - 1] == 'p'))))
    ++length;
  token_.text = rest_.substr(0, length);
  rest_.remove_prefix(length);
  char* end = nullptr;
  errno = 0;
  if (token_.text.find_first_not_of("-0123456789") == std::string::npos) {
    token_.kind = Token::Kind::integer;
    // Numbers of u64 above the largest of i64 keep their bits.
    token_.integer = token_.text.front() == '-'
                         ? std::strtoll(token_.text.c_str(), &end, 10)
                         : static_cast<std::int64_t>(std::strtoull(token_.text.c_str(), &end, 10));
    if (errno == ERANGE) fail("the integer " + token_.text + " has more than 64 bits");
  } else {
    token_.kind = Token::Kind::number;
    token_.number = std::strtod(token_.text.c_str(), &end);
  }
  if (*end != '\0') fail("'" + token_.text + "' is not a number");
}

void Tokens::scan_string() {
  token_.kind = Token::Kind::string;
  std::size_t i = 1;
  const auto hex = [&](std::size_t at) {
    unsigned code = 0;
    for (std::size_t k = at; k < at + 4; ++k) {
      const char c = k < rest_.size() ? rest_[k] : '\0';
      const char lower = static_cast<char>(c | 0x20);
      if (!is_digit(c) && (lower < 'a' || lower > 'f')) fail("\\u without four hexadecimal digits");
      code = code * 16 + static_cast<unsigned>(is_digit(c) ? c - '0' : lower - 'a' + 10);
    }
    return code;
  };
  for (; i < rest_.size() && rest_[i] != '"'; ++i) {
    if (rest_[i] != '\\') {
      token_.text += rest_[i];
      continue;
    }
    if (++i >= rest_.size()) break;
    switch (rest_[i]) {
      case 'n':
        token_.text += '\n';
        break;
      case 't':
        token_.text += '\t';
        break;
      case 'r':
        token_.text += '\r';
        break;
      case 'b':
        token_.text += '\b';
        break;
      case 'f':
        token_.text += '\f';
        break;
      case 'u': {
        unsigned code = hex(i + 1);
        i += 4;
        if (code >= 0xD800 && code < 0xDC00 && rest_.substr(i + 1, 2) == "\\u") {
          code = 0x10000 + ((code - 0xD800) << 10) + (hex(i + 3) - 0xDC00);
          i += 6;
        }
        append_utf8(token_.text, code);
        break;
      }
      default:
        token_.text += rest_[i];
    }
  }
  if (i >= rest_.size()) fail("a string without its end");
  rest_.remove_prefix(i + 1);
}

}  // namespace cudacore::tile
