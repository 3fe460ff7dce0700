// SPDX-License-Identifier: Apache-2.0
//
// Comparisons of integers, and selections by a predicate or a sign.
#include "simulator/ops/integer_forms.hpp"

namespace cudacore::simulator {
namespace {

struct Equal {
  [[maybe_unused]] static constexpr int predicate = 0;
  template <class V>
  [[gnu::always_inline]] static auto holds(const V& x, const V& y) {
    return x == y;
  }
};
struct Less {
  [[maybe_unused]] static constexpr int predicate = 1;
  template <class V>
  [[gnu::always_inline]] static auto holds(const V& x, const V& y) {
    return x < y;
  }
};
enum class Comparison { eq, ne, lt, le, gt, ge };

/// All comparisons, built from two.
template <Comparison comparison, class T>
[[gnu::always_inline]] inline std::uint32_t compare_rows(const T* a, const T* b) {
  switch (comparison) {
    case Comparison::eq:
      return mask_where<Equal>(a, b);
    case Comparison::ne:
      return ~mask_where<Equal>(a, b);
    case Comparison::lt:
      return mask_where<Less>(a, b);
    case Comparison::le:
      return ~mask_where<Less>(b, a);
    case Comparison::gt:
      return mask_where<Less>(b, a);
    case Comparison::ge:
      return ~mask_where<Less>(a, b);
  }
  return 0;
}
/// The same as a function, for less frequent forms.
template <Comparison comparison, class T>
[[gnu::noinline]] std::uint32_t compare(const T* a, const T* b) {
  return compare_rows<comparison>(a, b);
}

enum class Combine { none, and_, or_, xor_ };

template <Combine combine>
std::uint32_t combined(std::uint32_t mask, std::uint32_t with) {
  if constexpr (combine == Combine::and_) return mask & with;
  if constexpr (combine == Combine::or_) return mask | with;
  if constexpr (combine == Combine::xor_) return mask ^ with;
  return mask;
}

template <Comparison comparison, class T>
void setp(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  const std::uint32_t mask = compare_rows<comparison>(warp.row<T>(in.op[2]), warp.row<T>(in.op[3]));
  warp.set_mask(in.op[0], lanes, mask);
  warp.set_mask(in.op[1], lanes, ~mask);
}
template <Comparison comparison, class T, Combine combine>
void setp_combined(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  const std::uint32_t mask = compare<comparison>(warp.row<T>(in.op[2]), warp.row<T>(in.op[3]));
  const std::uint32_t with = warp.mask(in.op[4]);
  warp.set_mask(in.op[0], lanes, combined<combine>(mask, with));
  warp.set_mask(in.op[1], lanes, combined<combine>(~mask, with));
}

constexpr std::uint32_t all_ones = ~std::uint32_t{0};
constexpr std::uint32_t one_f32 = 0x3f800000;

/// Writes `value` or zero.
[[gnu::noinline]] void write_set(Warp& warp, const Instruction& in, std::uint32_t mask,
                                 std::uint32_t value) {
  write_each(
      warp.row<u32>(in.op[0]), warp.enabled(in), [&](unsigned i) __attribute__((always_inline)) {
        return (mask & lane_bit[i]) != 0 ? value : 0;
      });
}
template <Comparison comparison, class T, Combine combine, std::uint32_t value>
void set(Warp& warp, const Instruction& in) {
  const std::uint32_t mask = compare<comparison>(warp.row<T>(in.op[1]), warp.row<T>(in.op[2]));
  const std::uint32_t with = combine == Combine::none ? 0 : warp.mask(in.op[3]);
  write_set(warp, in, combined<combine>(mask, with), value);
}

template <class T>
void selp(Warp& warp, const Instruction& in) {
  const T* a = warp.row<T>(in.op[1]);
  const T* b = warp.row<T>(in.op[2]);
  const std::uint32_t mask = warp.mask(in.op[3]);
  write_row(
      warp.row<T>(in.op[0]),
      warp.enabled(in), [&](T * d) __attribute__((always_inline)) { select_row(d, a, b, mask); });
}

template <class T>
T slct_s32(T a, T b, s32 c) {
  return c >= 0 ? a : b;
}
/// c is the bits of a float: numbers below zero and NaNs select b.
template <class T, bool ftz>
T slct_f32(T a, T b, u32 c) {
  const u32 magnitude = c & 0x7fffffff;
  const bool zero = ftz ? magnitude < 0x00800000 : magnitude == 0;
  return zero || c <= 0x7f800000 ? a : b;
}

template <Comparison comparison, class T>
void add_setp(FormTable& table, const char* name, const char* type) {
  constexpr const char* signature = sizeof(T) == 2 ? "p|phh" : sizeof(T) == 4 ? "p|pww" : "p|pxx";
  constexpr const char* combining = sizeof(T) == 2   ? "p|phhp"
                                    : sizeof(T) == 4 ? "p|pwwp"
                                                     : "p|pxxp";
  table.add({"setp", name, type}, signature, setp<comparison, T>);
  table.add({"setp", name, ".and", type}, combining, setp_combined<comparison, T, Combine::and_>);
  table.add({"setp", name, ".or", type}, combining, setp_combined<comparison, T, Combine::or_>);
  table.add({"setp", name, ".xor", type}, combining, setp_combined<comparison, T, Combine::xor_>);
}
template <Comparison comparison, class T, std::uint32_t value>
void add_set(FormTable& table, const char* name, const char* to, const char* type) {
  constexpr const char* signature = sizeof(T) == 2 ? "whh" : sizeof(T) == 4 ? "www" : "wxx";
  constexpr const char* combining = sizeof(T) == 2 ? "whhp" : sizeof(T) == 4 ? "wwwp" : "wxxp";
  table.add({"set", name, to, type}, signature, set<comparison, T, Combine::none, value>);
  table.add({"set", name, ".and", to, type}, combining, set<comparison, T, Combine::and_, value>);
  table.add({"set", name, ".or", to, type}, combining, set<comparison, T, Combine::or_, value>);
  table.add({"set", name, ".xor", to, type}, combining, set<comparison, T, Combine::xor_, value>);
}
template <Comparison comparison, class T>
void add_comparison(FormTable& table, const char* name, const char* type) {
  add_setp<comparison, T>(table, name, type);
  add_set<comparison, T, all_ones>(table, name, ".u32", type);
  add_set<comparison, T, all_ones>(table, name, ".s32", type);
  add_set<comparison, T, one_f32>(table, name, ".f32", type);
}

template <class U>
void add_equalities(FormTable& table) {
  for (const char* type : {dot_bits<U>(), dot_name<U>(), dot_name<Signed<U>>()}) {
    add_comparison<Comparison::eq, U>(table, ".eq", type);
    add_comparison<Comparison::ne, U>(table, ".ne", type);
  }
}
template <class T>
void add_orders(FormTable& table) {
  constexpr const char* type = dot_name<T>();
  add_comparison<Comparison::lt, T>(table, ".lt", type);
  add_comparison<Comparison::le, T>(table, ".le", type);
  add_comparison<Comparison::gt, T>(table, ".gt", type);
  add_comparison<Comparison::ge, T>(table, ".ge", type);
  if constexpr (!is_signed<T>) {
    add_comparison<Comparison::lt, T>(table, ".lo", type);
    add_comparison<Comparison::le, T>(table, ".ls", type);
    add_comparison<Comparison::gt, T>(table, ".hi", type);
    add_comparison<Comparison::ge, T>(table, ".hs", type);
  }
}

template <class T>
void add_selections(FormTable& table, const char* type) {
  constexpr const char* signature = sizeof(T) == 2 ? "hhhp" : sizeof(T) == 4 ? "wwwp" : "xxxp";
  table.add({"selp", type}, signature, selp<T>);
  // Literals are those of what is selected.
  const Traits traits{.literals = type[1] == 'f' ? Literals::floating : Literals::any};
  table.add({"slct", type, ".s32"}, rows<T, T, T, s32>, Lanes<slct_s32<T>>::run, traits);
  table.add({"slct", type, ".f32"}, rows<T, T, T, u32>, Lanes<slct_f32<T, false>>::run, traits);
  table.add({"slct.ftz", type, ".f32"}, rows<T, T, T, u32>, Lanes<slct_f32<T, true>>::run, traits);
}

}  // namespace

template <>
void add_integer_compare<this_isa>(FormTable& table) {
  add_equalities<u16>(table);
  add_equalities<u32>(table);
  add_equalities<u64>(table);
  add_orders<u16>(table);
  add_orders<s16>(table);
  add_orders<u32>(table);
  add_orders<s32>(table);
  add_orders<u64>(table);
  add_orders<s64>(table);
  for (const char* type : {".b16", ".u16", ".s16"}) add_selections<u16>(table, type);
  for (const char* type : {".b32", ".u32", ".s32", ".f32"}) add_selections<u32>(table, type);
  for (const char* type : {".b64", ".u64", ".s64", ".f64"}) add_selections<u64>(table, type);
}

}  // namespace cudacore::simulator
