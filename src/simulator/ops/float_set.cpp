// SPDX-License-Identifier: Apache-2.0
//
// set for floating-point values: too rare to be compiled for each ISA.
#include "simulator/ops/float_compare.hpp"

namespace cudacore::simulator {
namespace {

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

void add_set(FormTable& table, const Names& names, const char* result, const char* signature,
             Handler run) {
  table.add({"set", names.compare, names.combine, names.ftz, result, names.type}, signature, run);
}
template <Compare How, class Type, Combine With>
void add_single_sets(FormTable& table, const Names& names, const char* full, const char* half) {
  add_set(table, names, ".u32", full, set_values<How, Type, With, std::uint32_t, 0xffffffff>);
  add_set(table, names, ".s32", full, set_values<How, Type, With, std::uint32_t, 0xffffffff>);
  add_set(table, names, ".f32", full, set_values<How, Type, With, std::uint32_t, 0x3f800000>);
  add_set(table, names, ".f16", half, set_values<How, Type, With, std::uint16_t, F16::one>);
  if (*names.ftz != '\0') return;
  add_set(table, names, ".bf16", half, set_values<How, Type, With, std::uint16_t, Bf16::one>);
}
template <Compare How, class Type, Combine With>
void add_half_sets(FormTable& table, const Names& names, const char* full, const char* half) {
  add_set(table, names, ".u32", full, set_values<How, Type, With, std::uint32_t, 0xffffffff>);
  add_set(table, names, ".s32", full, set_values<How, Type, With, std::uint32_t, 0xffffffff>);
  add_set(table, names, ".u16", half, set_values<How, Type, With, std::uint16_t, 0xffff>);
  add_set(table, names, ".s16", half, set_values<How, Type, With, std::uint16_t, 0xffff>);
}

template <Compare How, Combine With>
void add_sets_of_singles(FormTable& table, const char* compare, const char* bools) {
  constexpr bool third = With != Combine::none;
  const char* www = third ? "wwwp" : "www";
  const char* hww = third ? "hwwp" : "hww";
  add_single_sets<How, Single<false>, With>(table, {compare, bools, "", ".f32"}, www, hww);
  add_single_sets<How, Single<true>, With>(table, {compare, bools, ".ftz", ".f32"}, www, hww);
  add_single_sets<How, Double, With>(table, {compare, bools, "", ".f64"}, third ? "wxxp" : "wxx",
                                     third ? "hxxp" : "hxx");
}

template <Compare How, Combine With, class Format, bool Ftz>
void add_sets_of_halves(FormTable& table, const Names& names) {
  using Type = Half<Format, Ftz>;
  constexpr bool bf16 = Format::infinity == Bf16::infinity;
  constexpr bool third = With != Combine::none;
  const char* www = third ? "wwwp" : "www";
  const char* hhh = third ? "hhhp" : "hhh";
  add_half_sets<How, Type, With>(table, names, third ? "whhp" : "whh", hhh);
  if constexpr (!bf16) {
    add_set(table, names, ".f16", hhh, set_values<How, Type, With, std::uint16_t, F16::one>);
  }
  if constexpr (!Ftz) {
    add_set(table, names, ".bf16", hhh, set_values<How, Type, With, std::uint16_t, Bf16::one>);
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

}  // namespace

void add_float_set(FormTable& table) {
  for_each_comparison([&]<Compare How, Combine With>(const char* compare, const char* bools) {
    add_sets_of_singles<How, With>(table, compare, bools);
    add_sets_of_halves<How, With, F16, false>(table, {compare, bools, "", ".f16"});
    add_sets_of_halves<How, With, F16, true>(table, {compare, bools, ".ftz", ".f16"});
    add_sets_of_halves<How, With, Bf16, false>(table, {compare, bools, "", ".bf16"});
  });
}

}  // namespace cudacore::simulator
