// SPDX-License-Identifier: Apache-2.0
#include "simulator/ptx/initializers.hpp"

#include <bit>
#include <cstring>
#include <string>
#include <utility>

#include "simulator/ptx/constants.hpp"

namespace cudacore::simulator::ptx {
namespace {

class Filler {
 public:
  Filler(Lexer& lexer, Ledger& ledger, Variable& variable, std::vector<std::size_t> dimensions,
         bool is_unsized)
      : lexer_(lexer),
        ledger_(ledger),
        variable_(variable),
        shape_(std::move(dimensions)),
        is_unsized_(is_unsized),
        element_(size_of(variable.type)) {
    if (variable.vector > 1) shape_.push_back(variable.vector);
  }

  void fill() {
    if (!is_unsized_) grow(variable_.size);
    if (shape_.empty()) {
      read_value(0);
    } else {
      std::size_t stride = element_;
      for (std::size_t level = 1; level < shape_.size(); ++level) stride *= shape_[level];
      read_list(0, stride, 0);
    }
    if (is_unsized_) variable_.size = variable_.initial.size();
  }

 private:
  void grow(std::size_t bytes) {
    if (bytes > ledger_.initial_bytes) {
      Lexer::fail(variable_.position, "too many bytes of initial values");
    }
    ledger_.initial_bytes -= bytes;
    variable_.initial.resize(variable_.initial.size() + bytes);
  }

  /// @param stride size in bytes of one element at this level.
  void read_list(std::size_t level, std::size_t stride, std::size_t offset) {
    lexer_.expect('{');
    if (lexer_.accept('}')) return;
    const bool is_last = level + 1 == shape_.size();
    const bool grows = level == 0 && is_unsized_;
    std::size_t count = 0;
    do {
      if (grows) {
        grow(stride);
      } else if (count == shape_[level]) {
        lexer_.fail(quoted(variable_.name) + " has room for no more than " + std::to_string(count) +
                    " values here");
      }
      if (is_last) {
        read_value(offset);
      } else {
        read_list(level + 1, stride / shape_[level + 1], offset);
      }
      offset += stride;
      ++count;
    } while (lexer_.accept(','));
    lexer_.expect('}');
  }

  void read_value(std::size_t offset) {
    if (lexer_.at(Token::Kind::name) && !lexer_.at_name("WARP_SZ")) return read_address(offset);
    if (lexer_.at(Token::Kind::integer) && lexer_.following() == '(') return read_byte(offset);
    const Position position = lexer_.token().position;
    write(offset, encode(parse_constant(lexer_), position));
  }

  void write(std::size_t offset, std::uint64_t bits) {
    std::byte* const at = variable_.initial.data() + offset;
    std::memcpy(at, &bits, element_ < sizeof(bits) ? element_ : sizeof(bits));
  }

  [[noreturn]] void refuse(const char* what, Position position) const {
    Lexer::fail(position, std::string(what) + " cannot be a value of type ." +
                              std::string(name_of(variable_.type)));
  }

  [[nodiscard]] std::uint64_t encode(const Constant& value, Position position) const {
    switch (variable_.type) {
      case Type::f32:
        if (value.is_integer()) refuse("an integer", position);
        if (value.kind == Constant::Kind::f32) return value.bits;
        return std::bit_cast<std::uint32_t>(static_cast<float>(value.real()));
      case Type::f64:
        if (value.is_integer()) refuse("an integer", position);
        return std::bit_cast<std::uint64_t>(value.real());
      case Type::f16:
      case Type::f16x2:
      case Type::bf16:
      case Type::bf16x2:
      case Type::b128:
        refuse("a constant", position);
      case Type::b32:
        if (value.kind != Constant::Kind::f64) return value.bits;
        return std::bit_cast<std::uint32_t>(static_cast<float>(value.real()));
      case Type::b64:
        if (value.kind != Constant::Kind::f32) return value.bits;
        return std::bit_cast<std::uint64_t>(value.real());
      default:
        if (!value.is_integer()) refuse("a floating-point number", position);
        return value.bits;
    }
  }

  /// "foo", "foo+8", "generic(foo)", "generic(foo)+8"
  void read_address(std::size_t offset) {
    const Position position = lexer_.token().position;
    Relocation relocation;
    relocation.offset = offset;
    relocation.size = element_;
    if (element_ != sizeof(std::uint32_t) && element_ != sizeof(std::uint64_t)) {
      refuse("an address", position);
    }
    if (variable_.type == Type::f32 || variable_.type == Type::f64) refuse("an address", position);
    read_symbol(relocation);
    variable_.relocations.push_back(relocation);
  }

  /// "0xff00(foo)": one byte of an address.
  void read_byte(std::size_t offset) {
    constexpr std::uint64_t byte = 0xff;
    constexpr unsigned byte_bits = 8;
    const Token mask = lexer_.token();
    const auto shift = static_cast<unsigned>(std::countr_zero(mask.bits));
    if (mask.bits == 0 || shift % byte_bits != 0 || mask.bits >> shift != byte) {
      lexer_.fail("a mask must choose one byte, as 0xff00 does");
    }
    if (element_ != 1) refuse("a byte of an address", mask.position);
    lexer_.next();
    lexer_.expect('(');
    Relocation relocation;
    relocation.offset = offset;
    relocation.size = 1;
    relocation.shift = shift;
    read_symbol(relocation);
    lexer_.expect(')');
    variable_.relocations.push_back(relocation);
  }

  void read_symbol(Relocation& relocation) {
    relocation.generic = lexer_.at_name("generic") && lexer_.following() == '(';
    if (relocation.generic) {
      lexer_.next();
      lexer_.next();
    }
    const Position position = lexer_.token().position;
    relocation.symbol = lexer_.expect_name("a symbol");
    ledger_.references.push_back({relocation.symbol, position});
    read_addend(relocation);
    if (!relocation.generic) return;
    lexer_.expect(')');
    read_addend(relocation);
  }

  void read_addend(Relocation& relocation) {
    if (!lexer_.at('+') && !lexer_.at('-')) return;
    const auto sum = static_cast<std::uint64_t>(relocation.addend) +
                     static_cast<std::uint64_t>(parse_integer(lexer_, "an offset"));
    relocation.addend = static_cast<std::int64_t>(sum);
  }

  Lexer& lexer_;
  Ledger& ledger_;
  Variable& variable_;
  std::vector<std::size_t> shape_;
  bool is_unsized_;
  unsigned element_;
};

}  // namespace

void parse_initializer(Lexer& lexer, Ledger& ledger, Variable& variable,
                       const std::vector<std::size_t>& dimensions, bool is_unsized) {
  Filler(lexer, ledger, variable, dimensions, is_unsized).fill();
}

}  // namespace cudacore::simulator::ptx
