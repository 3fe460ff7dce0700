// SPDX-License-Identifier: Apache-2.0
//
// setp and set of floating-point values.
#include <type_traits>

#include "simulator/ops/families.hpp"
#include "simulator/ops/half_bits.hpp"

namespace cudacore::simulator {
namespace {

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

/// setp p|q, a, b, c
template <Combine With>
[[gnu::always_inline]] inline void set_pair(Warp& warp, const Instruction& in, std::uint32_t p,
                                            std::uint32_t q) noexcept {
  const std::uint32_t lanes = warp.enabled(in);
  // Both results are computed before c is overwritten.
  const std::uint32_t first = combine<With>(p, warp, in, 4);
  const std::uint32_t second = combine<With>(q, warp, in, 4);
  warp.set_mask(in.op[1], lanes, second);
  warp.set_mask(in.op[0], lanes, first);
}
template <Compare How, class Type, Combine With>
void set_predicates(Warp& warp, const Instruction& in) {
  constexpr bool frequent = With == Combine::none && !std::is_void_v<typename Type::Plain>;
  using From = std::conditional_t<frequent, PlainRows<Type>, Rows<Type>>;
  const std::uint32_t mask = compared<How, From>(warp, in.op[2], in.op[3]);
  set_pair<With>(warp, in, mask, ~mask);
}
template <Compare How, class Type, Combine With>
void set_packed_predicates(Warp& warp, const Instruction& in) {
  set_pair<With>(warp, in, compared<How, LowHalves<Type>>(warp, in.op[2], in.op[3]),
                 compared<How, HighHalves<Type>>(warp, in.op[2], in.op[3]));
}

/// set d, a, b, c, where d is True or zero
template <class D, D True>
[[gnu::noinline]] void spread(Warp& warp, const Instruction& in, std::uint32_t mask) noexcept {
  write_row(
      warp.row<D>(in.op[0]), warp.enabled(in), [&](D * d) __attribute__((always_inline)) {
        for (unsigned i = 0; i < warp_size; ++i) d[i] = (mask & lane_bit[i]) != 0 ? True : D{0};
      });
}
template <Compare How, class Type, Combine With, class D, D True>
void set_values(Warp& warp, const Instruction& in) {
  spread<D, True>(warp, in,
                  combine<With>(compared<How, Rows<Type>>(warp, in.op[1], in.op[2]), warp, in, 3));
}
template <std::uint16_t True>
[[gnu::noinline]] void spread_halves(Warp& warp, const Instruction& in, std::uint32_t low,
                                     std::uint32_t high) noexcept {
  write_row(
      warp.row<std::uint32_t>(in.op[0]),
      warp.enabled(in), [&](std::uint32_t * d) __attribute__((always_inline)) {
        for (unsigned i = 0; i < warp_size; ++i) {
          d[i] = ((low & lane_bit[i]) != 0 ? True : 0u) |
                 ((high & lane_bit[i]) != 0 ? std::uint32_t{True} << 16 : 0u);
        }
      });
}
template <Compare How, class Type, Combine With, std::uint16_t True>
void set_packed_values(Warp& warp, const Instruction& in) {
  const std::uint32_t low = compared<How, LowHalves<Type>>(warp, in.op[1], in.op[2]);
  const std::uint32_t high = compared<How, HighHalves<Type>>(warp, in.op[1], in.op[2]);
  spread_halves<True>(warp, in, combine<With>(low, warp, in, 3), combine<With>(high, warp, in, 3));
}

/// How a form's key and signature are built.
struct Names {
  const char* compare;  ///< ".eq"
  const char* combine;  ///< ".and" or nothing
  const char* ftz;
  const char* type;
};

/// Results that are integers or half precision.
template <Compare How, class Type, Combine With>
void add_set(FormTable& table, const Names& names, const char* result, const char* signature,
             Handler run) {
  table.add({"set", names.compare, names.combine, names.ftz, result, names.type}, signature, run);
}
template <Compare How, class Type, Combine With>
void add_single_sets(FormTable& table, const Names& names, const char* full, const char* half) {
  constexpr auto add = add_set<How, Type, With>;
  add(table, names, ".u32", full, set_values<How, Type, With, std::uint32_t, 0xffffffff>);
  add(table, names, ".s32", full, set_values<How, Type, With, std::uint32_t, 0xffffffff>);
  add(table, names, ".f32", full, set_values<How, Type, With, std::uint32_t, 0x3f800000>);
  add(table, names, ".f16", half, set_values<How, Type, With, std::uint16_t, F16::one>);
  if (*names.ftz != '\0') return;
  add(table, names, ".bf16", half, set_values<How, Type, With, std::uint16_t, Bf16::one>);
}
template <Compare How, class Type, Combine With>
void add_half_sets(FormTable& table, const Names& names, const char* full, const char* half) {
  constexpr auto add = add_set<How, Type, With>;
  add(table, names, ".u32", full, set_values<How, Type, With, std::uint32_t, 0xffffffff>);
  add(table, names, ".s32", full, set_values<How, Type, With, std::uint32_t, 0xffffffff>);
  add(table, names, ".u16", half, set_values<How, Type, With, std::uint16_t, 0xffff>);
  add(table, names, ".s16", half, set_values<How, Type, With, std::uint16_t, 0xffff>);
}

template <Compare How, Combine With>
void add_singles(FormTable& table, const char* compare, const char* bools) {
  constexpr bool third = With != Combine::none;
  const char* pww = third ? "p|pwwp" : "p|pww";
  const char* www = third ? "wwwp" : "www";
  const char* hww = third ? "hwwp" : "hww";
  table.add({"setp", compare, bools, ".f32"}, pww, set_predicates<How, Single<false>, With>);
  table.add({"setp", compare, bools, ".ftz.f32"}, pww, set_predicates<How, Single<true>, With>);
  table.add({"setp", compare, bools, ".f64"}, third ? "p|pxxp" : "p|pxx",
            set_predicates<How, Double, With>);
  add_single_sets<How, Single<false>, With>(table, {compare, bools, "", ".f32"}, www, hww);
  add_single_sets<How, Single<true>, With>(table, {compare, bools, ".ftz", ".f32"}, www, hww);
  add_single_sets<How, Double, With>(table, {compare, bools, "", ".f64"}, third ? "wxxp" : "wxx",
                                     third ? "hxxp" : "hxx");
}

template <Compare How, Combine With, class Format, bool Ftz>
void add_halves(FormTable& table, const Names& names) {
  using Type = Half<Format, Ftz>;
  constexpr bool bf16 = Format::infinity == Bf16::infinity;
  constexpr bool third = With != Combine::none;
  const char* pww = third ? "p|pwwp" : "p|pww";
  const char* www = third ? "wwwp" : "www";
  table.add({"setp", names.compare, names.combine, names.ftz, names.type},
            third ? "p|phhp" : "p|phh", set_predicates<How, Type, With>);
  table.add({"setp", names.compare, names.combine, names.ftz, names.type, "x2"}, pww,
            set_packed_predicates<How, Type, With>);
  const char* hhh = third ? "hhhp" : "hhh";
  add_half_sets<How, Type, With>(table, names, third ? "whhp" : "whh", hhh);
  constexpr auto add_one = add_set<How, Type, With>;
  if constexpr (!bf16) {
    add_one(table, names, ".f16", hhh, set_values<How, Type, With, std::uint16_t, F16::one>);
  }
  if constexpr (!Ftz) {
    add_one(table, names, ".bf16", hhh, set_values<How, Type, With, std::uint16_t, Bf16::one>);
  }
  const char* packed = "x2";
  const auto add = [&](const char* type, const char* x2, Handler run) {
    table.add({"set", names.compare, names.combine, names.ftz, type, x2, names.type, packed}, www,
              run);
  };
  add(names.type, packed, set_packed_values<How, Type, With, Format::one>);
  add(".u32", "", set_packed_values<How, Type, With, 0xffff>);
  add(".s32", "", set_packed_values<How, Type, With, 0xffff>);
}

template <Compare How, Combine With>
void add_combined(FormTable& table, const char* compare, const char* bools) {
  add_singles<How, With>(table, compare, bools);
  add_halves<How, With, F16, false>(table, {compare, bools, "", ".f16"});
  add_halves<How, With, F16, true>(table, {compare, bools, ".ftz", ".f16"});
  add_halves<How, With, Bf16, false>(table, {compare, bools, "", ".bf16"});
}

template <Compare How>
void add_compare(FormTable& table, const char* compare) {
  add_combined<How, Combine::none>(table, compare, "");
  add_combined<How, Combine::conjunction>(table, compare, ".and");
  add_combined<How, Combine::disjunction>(table, compare, ".or");
  add_combined<How, Combine::difference>(table, compare, ".xor");
}

}  // namespace

template <>
void add_float_compare<this_isa>(FormTable& table) {
  add_compare<Compare::eq>(table, ".eq");
  add_compare<Compare::ne>(table, ".ne");
  add_compare<Compare::lt>(table, ".lt");
  add_compare<Compare::le>(table, ".le");
  add_compare<Compare::gt>(table, ".gt");
  add_compare<Compare::ge>(table, ".ge");
  add_compare<Compare::equ>(table, ".equ");
  add_compare<Compare::neu>(table, ".neu");
  add_compare<Compare::ltu>(table, ".ltu");
  add_compare<Compare::leu>(table, ".leu");
  add_compare<Compare::gtu>(table, ".gtu");
  add_compare<Compare::geu>(table, ".geu");
  add_compare<Compare::num>(table, ".num");
  add_compare<Compare::nan>(table, ".nan");
}

}  // namespace cudacore::simulator
