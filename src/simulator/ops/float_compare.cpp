// SPDX-License-Identifier: Apache-2.0
//
// setp for floating-point values.
#include "simulator/ops/float_compare.hpp"

namespace cudacore::simulator {
namespace {

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

template <Compare How, Combine With>
void add_singles(FormTable& table, const char* compare, const char* bools) {
  constexpr bool third = With != Combine::none;
  const char* pww = third ? "p|pwwp" : "p|pww";
  table.add({"setp", compare, bools, ".f32"}, pww, set_predicates<How, Single<false>, With>);
  table.add({"setp", compare, bools, ".ftz.f32"}, pww, set_predicates<How, Single<true>, With>);
  table.add({"setp", compare, bools, ".f64"}, third ? "p|pxxp" : "p|pxx",
            set_predicates<How, Double, With>);
}

template <Compare How, Combine With, class Type>
void add_halves(FormTable& table, const Names& names) {
  constexpr bool third = With != Combine::none;
  table.add({"setp", names.compare, names.combine, names.ftz, names.type},
            third ? "p|phhp" : "p|phh", set_predicates<How, Type, With>);
  table.add({"setp", names.compare, names.combine, names.ftz, names.type, "x2"},
            third ? "p|pwwp" : "p|pww", set_packed_predicates<How, Type, With>);
}

}  // namespace

template <>
void add_float_compare<this_isa>(FormTable& table) {
  for_each_comparison([&]<Compare How, Combine With>(const char* compare, const char* bools) {
    add_singles<How, With>(table, compare, bools);
    add_halves<How, With, Half<F16, false>>(table, {compare, bools, "", ".f16"});
    add_halves<How, With, Half<F16, true>>(table, {compare, bools, ".ftz", ".f16"});
    add_halves<How, With, Half<Bf16, false>>(table, {compare, bools, "", ".bf16"});
  });
}

}  // namespace cudacore::simulator
