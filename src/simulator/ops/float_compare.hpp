// SPDX-License-Identifier: Apache-2.0
//
// Comparisons of floating-point rows, for setp and set.
#pragma once

#include <cstdint>
#include <type_traits>

#include "simulator/ops/families.hpp"
#include "simulator/ops/half_bits.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: internal linkage keeps the code of each ISA apart

enum class Compare : std::uint8_t {
  eq,
  ne,
  lt,
  le,
  gt,
  ge,
  equ,
  neu,
  ltu,
  leu,
  gtu,
  geu,
  num,
  nan
};

/// The comparisons that are implemented; the others are these with swapped operands, or their
/// complements.
enum class Basic : std::uint8_t { eq, ne, lt, le, num };

template <Basic How, class T>
[[gnu::always_inline]] inline bool holds(T a, T b) noexcept {
  switch (How) {
    case Basic::eq:
      return a == b;
    case Basic::ne:
      return a < b || a > b;
    case Basic::lt:
      return a < b;
    case Basic::le:
      return a <= b;
    case Basic::num:
      return a == a && b == b;
  }
}

/// The same for vectors, with the names of AVX-512: ordered, quiet.
template <Basic How>
struct VectorCompare {
  static constexpr int predicate = How == Basic::eq   ? 0x00
                                   : How == Basic::ne ? 0x0c
                                   : How == Basic::lt ? 0x11
                                   : How == Basic::le ? 0x12
                                                      : 0x07;
  template <class V>
  [[gnu::always_inline]] static auto holds(const V& x, const V& y) {
    if constexpr (How == Basic::eq) return x == y;
    if constexpr (How == Basic::ne) return (x < y) | (x > y);
    if constexpr (How == Basic::lt) return x < y;
    if constexpr (How == Basic::le) return x <= y;
    if constexpr (How == Basic::num) return (x == x) & (y == y);
  }
};

// A type of operand: how its bits are read as a value that can be compared, and the type whose rows
// can be compared directly, or void.
template <bool Ftz>
struct Single {
  using Row = std::uint32_t;
  using Plain = std::conditional_t<Ftz, void, float>;
  [[gnu::always_inline]] static float value(Row bits) noexcept {
    return flush_if<Ftz>(bits_as<float>(bits));
  }
};
struct Double {
  using Row = std::uint64_t;
  using Plain = double;
  [[gnu::always_inline]] static double value(Row bits) noexcept { return bits_as<double>(bits); }
};
template <class Format, bool Ftz>
struct Half {
  using Row = std::uint16_t;
  using Plain = void;
  [[gnu::always_inline]] static float value(Row bits) noexcept {
    return Format::widen(Ftz ? Format::flush(bits) : bits);
  }
};

// Masks of lanes. Not inlined, because a great many forms use them.
template <Basic How, class Type>
[[gnu::noinline]] std::uint32_t compare_rows(const typename Type::Row* a,
                                             const typename Type::Row* b) noexcept {
  std::uint32_t mask = 0;
  for (unsigned i = 0; i < warp_size; ++i) {
    mask |= holds<How>(Type::value(a[i]), Type::value(b[i])) ? lane_bit[i] : 0;
  }
  return mask;
}
template <Basic How, class Type>
[[gnu::noinline]] std::uint32_t compare_low_halves(const std::uint32_t* a,
                                                   const std::uint32_t* b) noexcept {
  std::uint32_t mask = 0;
  for (unsigned i = 0; i < warp_size; ++i) {
    const auto x = static_cast<std::uint16_t>(a[i]);
    const auto y = static_cast<std::uint16_t>(b[i]);
    mask |= holds<How>(Type::value(x), Type::value(y)) ? lane_bit[i] : 0;
  }
  return mask;
}
template <Basic How, class Type>
[[gnu::noinline]] std::uint32_t compare_high_halves(const std::uint32_t* a,
                                                    const std::uint32_t* b) noexcept {
  std::uint32_t mask = 0;
  for (unsigned i = 0; i < warp_size; ++i) {
    const auto x = static_cast<std::uint16_t>(a[i] >> 16);
    const auto y = static_cast<std::uint16_t>(b[i] >> 16);
    mask |= holds<How>(Type::value(x), Type::value(y)) ? lane_bit[i] : 0;
  }
  return mask;
}

template <class Type>
struct Rows {
  using Row = typename Type::Row;
  template <Basic How>
  [[gnu::always_inline]] static std::uint32_t mask(const Row* a, const Row* b) noexcept {
    return compare_rows<How, Type>(a, b);
  }
};
/// Inlined, for the few forms that are frequent.
template <class Type>
struct PlainRows {
  using Row = typename Type::Row;
  template <Basic How>
  [[gnu::always_inline]] static std::uint32_t mask(const Row* a, const Row* b) noexcept {
    using Plain = typename Type::Plain;
    return mask_where<VectorCompare<How>>(reinterpret_cast<const Plain*>(a),
                                          reinterpret_cast<const Plain*>(b));
  }
};
template <class Type>
struct LowHalves {
  using Row = std::uint32_t;
  template <Basic How>
  [[gnu::always_inline]] static std::uint32_t mask(const Row* a, const Row* b) noexcept {
    return compare_low_halves<How, Type>(a, b);
  }
};
template <class Type>
struct HighHalves {
  using Row = std::uint32_t;
  template <Basic How>
  [[gnu::always_inline]] static std::uint32_t mask(const Row* a, const Row* b) noexcept {
    return compare_high_halves<How, Type>(a, b);
  }
};

template <Compare How, class From>
[[gnu::always_inline]] inline std::uint32_t compared(Warp& warp, std::uint32_t first,
                                                     std::uint32_t second) noexcept {
  const auto* a = warp.row<typename From::Row>(first);
  const auto* b = warp.row<typename From::Row>(second);
  switch (How) {
    case Compare::eq:
      return From::template mask<Basic::eq>(a, b);
    case Compare::ne:
      return From::template mask<Basic::ne>(a, b);
    case Compare::lt:
      return From::template mask<Basic::lt>(a, b);
    case Compare::le:
      return From::template mask<Basic::le>(a, b);
    case Compare::gt:
      return From::template mask<Basic::lt>(b, a);
    case Compare::ge:
      return From::template mask<Basic::le>(b, a);
    case Compare::equ:
      return ~From::template mask<Basic::ne>(a, b);
    case Compare::neu:
      return ~From::template mask<Basic::eq>(a, b);
    case Compare::ltu:
      return ~From::template mask<Basic::le>(b, a);
    case Compare::leu:
      return ~From::template mask<Basic::lt>(b, a);
    case Compare::gtu:
      return ~From::template mask<Basic::le>(a, b);
    case Compare::geu:
      return ~From::template mask<Basic::lt>(a, b);
    case Compare::num:
      return From::template mask<Basic::num>(a, b);
    case Compare::nan:
      return ~From::template mask<Basic::num>(a, b);
  }
}

enum class Combine : std::uint8_t { none, conjunction, disjunction, difference };

template <Combine With>
[[gnu::always_inline]] inline std::uint32_t combine(std::uint32_t mask, Warp& warp,
                                                    const Instruction& in, unsigned at) noexcept {
  switch (With) {
    case Combine::none:
      return mask;
    case Combine::conjunction:
      return mask & warp.mask(in.op[at]);
    case Combine::disjunction:
      return mask | warp.mask(in.op[at]);
    case Combine::difference:
      return mask ^ warp.mask(in.op[at]);
  }
}

/// How a form's key and signature are built.
struct Names {
  const char* compare;  ///< ".eq"
  const char* combine;  ///< ".and" or nothing
  const char* ftz;
  const char* type;
};

/// Calls add.template operator()<How, With>(compare, combine) for each comparison and combination.
template <class Add>
void for_each_comparison(Add add) {
  const auto combined = [&]<Compare How>(const char* compare) {
    add.template operator()<How, Combine::none>(compare, "");
    add.template operator()<How, Combine::conjunction>(compare, ".and");
    add.template operator()<How, Combine::disjunction>(compare, ".or");
    add.template operator()<How, Combine::difference>(compare, ".xor");
  };
  combined.template operator()<Compare::eq>(".eq");
  combined.template operator()<Compare::ne>(".ne");
  combined.template operator()<Compare::lt>(".lt");
  combined.template operator()<Compare::le>(".le");
  combined.template operator()<Compare::gt>(".gt");
  combined.template operator()<Compare::ge>(".ge");
  combined.template operator()<Compare::equ>(".equ");
  combined.template operator()<Compare::neu>(".neu");
  combined.template operator()<Compare::ltu>(".ltu");
  combined.template operator()<Compare::leu>(".leu");
  combined.template operator()<Compare::gtu>(".gtu");
  combined.template operator()<Compare::geu>(".geu");
  combined.template operator()<Compare::num>(".num");
  combined.template operator()<Compare::nan>(".nan");
}

}  // namespace
}  // namespace cudacore::simulator
