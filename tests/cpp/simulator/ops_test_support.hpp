// SPDX-License-Identifier: Apache-2.0
//
// Runs one form of one instruction over rows given by the test:
//
//   OneInstruction add(Isa::avx2, "add.s32", "www");
//   add.row<int>(1) = {1, 2, 3};
//   add.row<int>(2) = ...;
//   add.run(0x0000ffff);
//   EXPECT_EQ(add.row<int>(0), ...);
#pragma once

#include <array>
#include <bit>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "simulator/engine/machine.hpp"
#include "simulator/ops/isa.hpp"

namespace cudacore::simulator::testing {

template <class T>
using Row = std::array<T, warp_size>;

/// One operand of a signature.
struct Operand {
  char kind = 'w';        ///< b h w x q p m n i l
  unsigned elements = 0;  ///< of a vector; 0: not a vector
  bool paired = false;    ///< follows a '|'
  bool optional = false;  ///< follows a '?'

  /// Bytes per lane.
  [[nodiscard]] std::size_t width() const {
    switch (kind) {
      case 'b':
        return 1;
      case 'h':
        return 2;
      case 'w':
      case 'n':
        return 4;
      case 'x':
      case 'm':
        return 8;
      case 'q':
        return 16;
      default:
        return 0;
    }
  }
};

inline std::vector<Operand> operands_of(std::string_view signature) {
  std::vector<Operand> operands;
  Operand next;
  for (const char letter : signature) {
    if (letter == '|') {
      next.paired = true;
    } else if (letter == '?') {
      next.optional = true;
    } else if (std::isdigit(static_cast<unsigned char>(letter)) != 0) {
      next.elements = next.elements * 10 + static_cast<unsigned>(letter - '0');
    } else {
      next.kind = letter;
      operands.push_back(next);
      next = Operand{};
    }
  }
  return operands;
}

/// The ISAs that this machine has.
inline std::vector<Isa> available_isas() {
  std::vector<Isa> isas;
  for (const Isa isa : {Isa::baseline, Isa::avx2, Isa::avx512}) {
    if (form_table(isa) != nullptr) isas.push_back(isa);
  }
  return isas;
}

/// A warp with its own frame that runs a form. Every operand has space for 16 rows, so that rows of
/// any width and vectors fit; masks are at the beginning of that space.
class OneInstruction {
 public:
  static constexpr std::size_t max_operands = 7;
  static constexpr std::size_t max_elements = 16;
  static constexpr std::size_t row_bytes = std::size_t{16} * warp_size;
  static constexpr std::size_t operand_bytes = max_elements * row_bytes;
  static constexpr std::uint32_t guard_at = 16;

  explicit OneInstruction(const Form& form)
      : form_(&form), operands_(operands_of(form.signature)), frame_(lines) {
    std::memset(frame_.data(), 0x5a, lines * sizeof(Line));  // what a handler must replace
    warp_.rows = frame_.front().bytes.data();
    warp_.mask(true_mask) = all_lanes;
    warp_.mask(carry_mask) = 0;
    warp_.mask(guard_at) = all_lanes;
    in_.run = form.run;
    if (operands_.size() > max_operands) throw std::logic_error("too many operands: " + form.key);
    for (std::size_t i = 0; i < operands_.size(); ++i) {
      const unsigned elements = operands_[i].elements;
      if (elements > max_elements) throw std::logic_error("too many elements: " + form.key);
      if (elements == 0) {
        set_operand(i, offset(i));
      } else {
        set_operand(i, static_cast<std::uint32_t>(list_.size()));
        for (unsigned k = 0; k < elements; ++k) list_.push_back(offset(i, k));
      }
    }
    in_.list = list_.data();
  }

  /// @throws std::invalid_argument if the table has no such form.
  OneInstruction(Isa isa, std::string_view key, std::string_view signature)
      : OneInstruction(form_of(isa, key, signature)) {}

  static const Form& form_of(Isa isa, std::string_view key, std::string_view signature) {
    const FormTable* table = form_table(isa);
    if (table == nullptr) throw std::invalid_argument("this machine lacks the ISA");
    for (const Form& form : table->find(key)) {
      if (form.signature == signature) return form;
    }
    throw std::invalid_argument("no form " + std::string(key) + " " + std::string(signature));
  }

  /// The row of operand i (element k of a vector), as 32 values of T.
  template <class T>
  [[nodiscard]] Row<T>& row(std::size_t i, std::size_t k = 0) {
    return *reinterpret_cast<Row<T>*>(warp_.rows + offset(i, k));
  }
  /// The predicate that is operand i.
  [[nodiscard]] std::uint32_t& mask(std::size_t i) { return warp_.mask(offset(i)); }
  [[nodiscard]] std::uint32_t& carry() { return warp_.mask(carry_mask); }
  /// The constant that is operand i ('i').
  void set_immediate(std::size_t i, std::uint32_t value) { set_operand(i, value); }
  /// Makes operand i the same register as operand j.
  void alias(std::size_t i, std::size_t j) { set_operand(i, offset(j)); }
  /// Leaves out operand i ('?').
  void leave_out(std::size_t i) { set_operand(i, no_operand); }
  /// Guards the instruction with @p, or @!p.
  void set_guard(std::uint32_t bits, bool negated = false) {
    warp_.mask(guard_at) = bits;
    in_.guard = guard_at;
    in_.guard_flip = negated ? all_lanes : 0;
  }

  void run(std::uint32_t active = all_lanes) {
    warp_.active = active;
    in_.run(warp_, in_);
  }

  [[nodiscard]] const Form& form() const { return *form_; }
  [[nodiscard]] const std::vector<Operand>& operands() const { return operands_; }
  [[nodiscard]] Warp& warp() { return warp_; }
  [[nodiscard]] Instruction& instruction() { return in_; }

 private:
  struct alignas(64) Line {
    std::array<std::byte, 64> bytes;
  };
  static constexpr std::size_t lines = 1 + max_operands * operand_bytes / sizeof(Line);

  [[nodiscard]] static std::uint32_t offset(std::size_t i, std::size_t k = 0) {
    return static_cast<std::uint32_t>(sizeof(Line) + i * operand_bytes + k * row_bytes);
  }
  void set_operand(std::size_t i, std::uint32_t value) {
    if (i < in_.op.size()) {
      in_.op[i] = value;
    } else {
      in_.imm = value;
    }
  }

  const Form* form_;
  std::vector<Operand> operands_;
  std::vector<Line> frame_;
  std::vector<std::uint32_t> list_;
  Warp warp_;
  Instruction in_;
};

/// Integers that are likely to reveal mistakes: extremes, small ones, single bits, limits of bytes
/// and halves, and random ones.
template <class T>
[[nodiscard]] T interesting(std::mt19937_64& random) {
  static_assert(std::is_integral_v<T>);
  using U = std::make_unsigned_t<T>;
  constexpr unsigned bits = std::numeric_limits<U>::digits;
  const std::uint64_t any = random();
  switch (random() % 8) {
    case 0:
      return static_cast<T>(0);
    case 1:
      return static_cast<T>(static_cast<U>(~U{0}));
    case 2:
      return static_cast<T>(static_cast<U>(U{1} << (bits - 1)));
    case 3:
      return static_cast<T>(static_cast<U>(static_cast<U>(~U{0}) >> 1));
    case 4:
      return static_cast<T>(static_cast<U>(any % 80));
    case 5:
      return static_cast<T>(static_cast<U>(U{1} << (any % bits)));
    case 6:
      return static_cast<T>(static_cast<U>(0x80ff7f0100ff8000u >> (any % 32)));
    default:
      return static_cast<T>(static_cast<U>(any));
  }
}

template <class T>
[[nodiscard]] Row<T> interesting_row(std::mt19937_64& random) {
  Row<T> row;
  for (T& value : row) value = interesting<T>(random);
  return row;
}

/// Lanes to run with: all, none, one, half of them, and random ones.
[[nodiscard]] inline std::vector<std::uint32_t> interesting_masks(std::mt19937_64& random) {
  return {
      all_lanes, 0, 1, 0x80000000u, 0x0000ffffu, 0x55555555u, static_cast<std::uint32_t>(random())};
}

}  // namespace cudacore::simulator::testing
