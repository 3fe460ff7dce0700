// SPDX-License-Identifier: Apache-2.0
//
// Conversions between integer types.
#include "simulator/ops/integer_forms.hpp"

namespace cudacore::simulator {
namespace {

template <class D, class S>
D convert(S a) {
  return static_cast<D>(a);
}

/// Whether D can represent all values of S.
template <class D, class S>
inline constexpr bool holds_all = is_signed<D> == is_signed<S>
                                      ? sizeof(D) >= sizeof(S)
                                      : is_signed<D> && sizeof(D) > sizeof(S);

template <class D, class S>
D convert_sat(S a) {
  constexpr D low = std::numeric_limits<D>::min();
  constexpr D high = std::numeric_limits<D>::max();
  if constexpr (is_signed<S> && !is_signed<D>) {
    if constexpr (sizeof(D) >= sizeof(S)) {
      return a < 0 ? D{0} : static_cast<D>(a);
    } else {
      return a < 0 ? D{0} : a > static_cast<S>(high) ? high : static_cast<D>(a);
    }
  } else if constexpr (is_signed<S>) {
    return a < static_cast<S>(low) ? low : a > static_cast<S>(high) ? high : static_cast<D>(a);
  } else {
    return a > static_cast<S>(high) ? high : static_cast<D>(a);
  }
}

template <class D, class S>
void add_cvt(FormTable& table) {
  // Only widening depends on the sign.
  using From = std::conditional_t<(sizeof(D) > sizeof(S)), S, Unsigned<S>>;
  table.add({"cvt", dot_name<D>(), dot_name<S>()}, rows<D, S>,
            Lanes<convert<Unsigned<D>, From>>::run);
  if constexpr (!holds_all<D, S>) {
    table.add({"cvt.sat", dot_name<D>(), dot_name<S>()}, rows<D, S>, Lanes<convert_sat<D, S>>::run);
  }
}
template <class D>
void add_cvt_to(FormTable& table) {
  add_cvt<D, u8>(table);
  add_cvt<D, s8>(table);
  add_cvt<D, u16>(table);
  add_cvt<D, s16>(table);
  add_cvt<D, u32>(table);
  add_cvt<D, s32>(table);
  add_cvt<D, u64>(table);
  add_cvt<D, s64>(table);
}

template <bool is_signed_field, unsigned bits>
u32 field_sat(s32 a) {
  constexpr s32 low = is_signed_field ? -(1 << (bits - 1)) : 0;
  constexpr s32 high = is_signed_field ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
  return static_cast<u32>(a < low ? low : a > high ? high : a) & ((1u << bits) - 1);
}
/// a above b.
template <bool is_signed_field>
u32 pack_halves(s32 a, s32 b) {
  return field_sat<is_signed_field, 16>(a) << 16 | field_sat<is_signed_field, 16>(b);
}
/// The bottom of c above a above b.
template <bool is_signed_field, unsigned bits>
u32 pack(s32 a, s32 b, u32 c) {
  return c << (2 * bits) | field_sat<is_signed_field, bits>(a) << bits |
         field_sat<is_signed_field, bits>(b);
}

}  // namespace

template <>
void add_integer_convert<this_isa>(FormTable& table) {
  const FormTable::Family family(table, {.converts = true});
  add_cvt_to<u8>(table);
  add_cvt_to<s8>(table);
  add_cvt_to<u16>(table);
  add_cvt_to<s16>(table);
  add_cvt_to<u32>(table);
  add_cvt_to<s32>(table);
  add_cvt_to<u64>(table);
  add_cvt_to<s64>(table);

  add_lanes<pack_halves<false>>(table, "cvt.pack.sat.u16", ".s32");
  add_lanes<pack_halves<true>>(table, "cvt.pack.sat.s16", ".s32");
  add_lanes<pack<false, 8>>(table, "cvt.pack.sat.u8", ".s32.b32");
  add_lanes<pack<true, 8>>(table, "cvt.pack.sat.s8", ".s32.b32");
  add_lanes<pack<false, 4>>(table, "cvt.pack.sat.u4", ".s32.b32");
  add_lanes<pack<true, 4>>(table, "cvt.pack.sat.s4", ".s32.b32");
  add_lanes<pack<false, 2>>(table, "cvt.pack.sat.u2", ".s32.b32");
  add_lanes<pack<true, 2>>(table, "cvt.pack.sat.s2", ".s32.b32");
}

}  // namespace cudacore::simulator
