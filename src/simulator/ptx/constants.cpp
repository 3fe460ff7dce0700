// SPDX-License-Identifier: Apache-2.0
#include "simulator/ptx/constants.hpp"

#include <bit>
#include <string>

namespace cudacore::simulator::ptx {
namespace {

constexpr std::uint32_t warp_size = 32;
constexpr unsigned deepest = 200;

enum class Operation : std::uint8_t {
  none,
  logical_or,
  logical_and,
  bit_or,
  bit_xor,
  bit_and,
  equal,
  not_equal,
  less,
  less_equal,
  greater,
  greater_equal,
  shift_left,
  shift_right,
  add,
  subtract,
  multiply,
  divide,
  remainder,
};

struct Operator {
  Operation operation = Operation::none;
  int precedence = 0;
  bool is_double = false;  ///< has two characters
};

constexpr int loosest = 1;

Operator operator_at(const Lexer& lexer) noexcept {
  const char second = lexer.following();
  switch (lexer.token().symbol) {
    case '|':
      if (second == '|') return {Operation::logical_or, 1, true};
      return {Operation::bit_or, 3, false};
    case '&':
      if (second == '&') return {Operation::logical_and, 2, true};
      return {Operation::bit_and, 5, false};
    case '^':
      return {Operation::bit_xor, 4, false};
    case '=':
      if (second == '=') return {Operation::equal, 6, true};
      return {};
    case '!':
      if (second == '=') return {Operation::not_equal, 6, true};
      return {};
    case '<':
      if (second == '<') return {Operation::shift_left, 8, true};
      if (second == '=') return {Operation::less_equal, 7, true};
      return {Operation::less, 7, false};
    case '>':
      if (second == '>') return {Operation::shift_right, 8, true};
      if (second == '=') return {Operation::greater_equal, 7, true};
      return {Operation::greater, 7, false};
    case '+':
      return {Operation::add, 9, false};
    case '-':
      return {Operation::subtract, 9, false};
    case '*':
      return {Operation::multiply, 10, false};
    case '/':
      return {Operation::divide, 10, false};
    case '%':
      return {Operation::remainder, 10, false};
    default:
      return {};
  }
}

Constant signed_constant(std::int64_t value) noexcept {
  return {Constant::Kind::s64, static_cast<std::uint64_t>(value)};
}

Constant real_constant(double value) noexcept {
  return {Constant::Kind::f64, std::bit_cast<std::uint64_t>(value)};
}

bool is_true(const Constant& value) noexcept {
  return value.is_integer() ? value.bits != 0 : value.real() != 0;
}

/// Comparisons, which give an s64, for any type that supports them.
template <typename T>
bool compare(Operation operation, T a, T b) noexcept {
  switch (operation) {
    case Operation::equal:
      return a == b;
    case Operation::not_equal:
      return a != b;
    case Operation::less:
      return a < b;
    case Operation::less_equal:
      return a <= b;
    case Operation::greater:
      return a > b;
    default:
      return a >= b;
  }
}

bool is_comparison(Operation operation) noexcept {
  return operation >= Operation::equal && operation <= Operation::greater_equal;
}

bool is_shift(Operation operation) noexcept {
  return operation == Operation::shift_left || operation == Operation::shift_right;
}

class Parser {
 public:
  explicit Parser(Lexer& lexer) noexcept : lexer_(lexer) {}

  Constant ternary() {
    const Depth depth(*this);
    const Constant condition = binary(loosest);
    if (!lexer_.at('?')) return condition;
    lexer_.next();
    const Constant chosen = ternary();
    lexer_.expect(':');
    const Constant other = ternary();
    return is_true(condition) ? chosen : other;
  }

 private:
  /// Guards one level of recursion.
  class Depth {
   public:
    explicit Depth(Parser& parser) : parser_(parser) {
      if (++parser_.depth_ > deepest) parser_.lexer_.fail("this expression is nested too deep");
    }
    ~Depth() { --parser_.depth_; }
    Depth(const Depth&) = delete;
    Depth& operator=(const Depth&) = delete;

   private:
    Parser& parser_;
  };

  Constant binary(int precedence) {
    Constant left = unary();
    for (;;) {
      lexer_.split_percent();
      const Operator found = operator_at(lexer_);
      if (found.operation == Operation::none || found.precedence < precedence) return left;
      const Position position = lexer_.token().position;
      lexer_.next();
      if (found.is_double) lexer_.next();
      const Depth depth(*this);
      left = apply(found.operation, left, binary(found.precedence + 1), position);
    }
  }

  Constant unary() {
    const Depth depth(*this);
    const Token token = lexer_.token();
    switch (token.kind) {
      case Token::Kind::integer:
        lexer_.next();
        return {token.is_unsigned ? Constant::Kind::u64 : Constant::Kind::s64, token.bits};
      case Token::Kind::f32:
        lexer_.next();
        return {Constant::Kind::f32, token.bits};
      case Token::Kind::f64:
        lexer_.next();
        return {Constant::Kind::f64, token.bits};
      case Token::Kind::name:
        if (token.text != "WARP_SZ") break;
        lexer_.next();
        return signed_constant(warp_size);
      case Token::Kind::symbol:
        return prefixed(token);
      default:
        break;
    }
    lexer_.fail_expected("a constant");
  }

  Constant prefixed(const Token& token) {
    switch (token.symbol) {
      case '+':
        lexer_.next();
        return unary();
      case '-':
        lexer_.next();
        return negated(unary());
      case '!':
        lexer_.next();
        return signed_constant(is_true(unary()) ? 0 : 1);
      case '~': {
        lexer_.next();
        const Constant value = unary();
        if (!value.is_integer()) Lexer::fail(token.position, "'~' takes an integer");
        return {value.kind, ~value.bits};
      }
      case '(':
        lexer_.next();
        if (lexer_.at(Token::Kind::directive)) return cast();
        return parenthesised();
      default:
        lexer_.fail_expected("a constant");
    }
  }

  Constant parenthesised() {
    const Constant value = ternary();
    lexer_.expect(')');
    return value;
  }

  Constant cast() {
    const Token type = lexer_.token();
    Constant::Kind kind{};
    if (type.text == ".s64") {
      kind = Constant::Kind::s64;
    } else if (type.text == ".u64") {
      kind = Constant::Kind::u64;
    } else if (type.text == ".f64") {
      kind = Constant::Kind::f64;
    } else {
      lexer_.fail_expected("'.s64', '.u64' or '.f64'");
    }
    lexer_.next();
    lexer_.expect(')');
    const Constant value = unary();
    if (kind == Constant::Kind::f64) return real_constant(value.real());
    if (value.is_integer()) return {kind, value.bits};
    const double real = value.real();
    const double lowest = kind == Constant::Kind::s64 ? -0x1p63 : 0.0;
    const double limit = kind == Constant::Kind::s64 ? 0x1p63 : 0x1p64;
    if (!(real >= lowest && real < limit)) Lexer::fail(type.position, "this cast overflows");
    if (kind == Constant::Kind::s64) return signed_constant(static_cast<std::int64_t>(real));
    return {kind, static_cast<std::uint64_t>(real)};
  }

  static Constant negated(const Constant& value) noexcept {
    constexpr std::uint64_t f32_sign = std::uint64_t{1} << 31U;
    constexpr std::uint64_t f64_sign = std::uint64_t{1} << 63U;
    switch (value.kind) {
      case Constant::Kind::f32:
        return {value.kind, value.bits ^ f32_sign};
      case Constant::Kind::f64:
        return {value.kind, value.bits ^ f64_sign};
      default:
        return {value.kind, ~value.bits + 1};
    }
  }

  static Constant apply(Operation operation, const Constant& a, const Constant& b,
                        Position position) {
    if (operation == Operation::logical_or) return signed_constant(is_true(a) || is_true(b));
    if (operation == Operation::logical_and) return signed_constant(is_true(a) && is_true(b));
    if (!a.is_integer() || !b.is_integer()) return apply_real(operation, a, b, position);
    if (is_shift(operation)) return shift(operation, a, b.bits);
    const bool is_unsigned = a.kind == Constant::Kind::u64 || b.kind == Constant::Kind::u64;
    if (is_comparison(operation)) {
      const bool result = is_unsigned ? compare(operation, a.bits, b.bits)
                                      : compare(operation, static_cast<std::int64_t>(a.bits),
                                                static_cast<std::int64_t>(b.bits));
      return signed_constant(result ? 1 : 0);
    }
    const Constant::Kind kind = is_unsigned ? Constant::Kind::u64 : Constant::Kind::s64;
    return {kind, apply_bits(operation, is_unsigned, a.bits, b.bits, position)};
  }

  static std::uint64_t apply_bits(Operation operation, bool is_unsigned, std::uint64_t a,
                                  std::uint64_t b, Position position) {
    switch (operation) {
      case Operation::bit_or:
        return a | b;
      case Operation::bit_xor:
        return a ^ b;
      case Operation::bit_and:
        return a & b;
      case Operation::add:
        return a + b;
      case Operation::subtract:
        return a - b;
      case Operation::multiply:
        return a * b;
      default:
        break;
    }
    const bool divides = operation == Operation::divide;
    if (b == 0) Lexer::fail(position, "division by zero");
    if (is_unsigned) return divides ? a / b : a % b;
    // The only quotient that overflows.
    if (b == ~std::uint64_t{0}) return divides ? ~a + 1 : 0;
    const auto left = static_cast<std::int64_t>(a);
    const auto right = static_cast<std::int64_t>(b);
    return static_cast<std::uint64_t>(divides ? left / right : left % right);
  }

  static Constant shift(Operation operation, const Constant& a, std::uint64_t count) noexcept {
    constexpr std::uint64_t width = 64;
    if (operation == Operation::shift_left) return {a.kind, count < width ? a.bits << count : 0};
    if (a.kind == Constant::Kind::u64) return {a.kind, count < width ? a.bits >> count : 0};
    return signed_constant(static_cast<std::int64_t>(a.bits) >>
                           (count < width ? count : width - 1));
  }

  static Constant apply_real(Operation operation, const Constant& a, const Constant& b,
                             Position position) {
    const double left = a.real();
    const double right = b.real();
    switch (operation) {
      case Operation::add:
        return real_constant(left + right);
      case Operation::subtract:
        return real_constant(left - right);
      case Operation::multiply:
        return real_constant(left * right);
      case Operation::divide:
        return real_constant(left / right);
      default:
        if (!is_comparison(operation)) Lexer::fail(position, "this operator takes integers");
        return signed_constant(compare(operation, left, right) ? 1 : 0);
    }
  }

  Lexer& lexer_;
  unsigned depth_ = 0;
};

/// Whether a literal followed by this character is the whole expression, as it nearly always is.
bool ends_constant(char following) noexcept {
  return following == ',' || following == ';' || following == ']' || following == '}' ||
         following == ')';
}

}  // namespace

double Constant::real() const noexcept {
  switch (kind) {
    case Kind::s64:
      return static_cast<double>(static_cast<std::int64_t>(bits));
    case Kind::u64:
      return static_cast<double>(bits);
    case Kind::f32:
      return static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    default:
      return std::bit_cast<double>(bits);
  }
}

bool at_constant(const Lexer& lexer) noexcept {
  switch (lexer.token().kind) {
    case Token::Kind::integer:
    case Token::Kind::f32:
    case Token::Kind::f64:
      return true;
    case Token::Kind::name:
      return lexer.at_name("WARP_SZ");
    case Token::Kind::symbol:
      switch (lexer.token().symbol) {
        case '+':
        case '-':
        case '!':
        case '~':
        case '(':
          return true;
        default:
          return false;
      }
    default:
      return false;
  }
}

Constant parse_constant(Lexer& lexer) {
  if (lexer.at(Token::Kind::integer) && ends_constant(lexer.following())) {
    const Token& token = lexer.token();
    const Constant value{token.is_unsigned ? Constant::Kind::u64 : Constant::Kind::s64, token.bits};
    lexer.next();
    return value;
  }
  return Parser(lexer).ternary();
}

std::int64_t parse_integer(Lexer& lexer, std::string_view what) {
  const Position position = lexer.token().position;
  const Constant value = parse_constant(lexer);
  if (!value.is_integer()) Lexer::fail(position, std::string(what) + " must be an integer");
  return static_cast<std::int64_t>(value.bits);
}

}  // namespace cudacore::simulator::ptx
