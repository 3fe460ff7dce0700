// SPDX-License-Identifier: Apache-2.0
//
// Video instructions, scalar and SIMD. One function for each kind implements all of them; what
// differs is a constant that the handler passes. Only those that compilers emit are optimized for
// speed.
#include <utility>

#include "simulator/ops/integer_video.hpp"

namespace cudacore::simulator {
namespace {

constexpr const char* then_names[] = {"", ".sat", ".add", ".min", ".max"};
constexpr const char* comparison_names[] = {".eq", ".ne", ".lt", ".le", ".gt", ".ge"};
constexpr const char* sign_names[] = {".u32", ".s32"};
constexpr Op arithmetic_ops[] = {Op::add, Op::sub, Op::absdiff, Op::min, Op::max, Op::avrg};
constexpr const char* scalar_names[] = {"vadd", "vsub", "vabsdiff", "vmin", "vmax"};
constexpr const char* names_of_2[] = {"vadd2", "vsub2", "vabsdiff2", "vmin2", "vmax2", "vavrg2"};
constexpr const char* names_of_4[] = {"vadd4", "vsub4", "vabsdiff4", "vmin4", "vmax4", "vavrg4"};

u32 selector(const Instruction& in, unsigned operand) {
  return (static_cast<u32>(in.imm2) >> (4 * operand)) & 7;
}
bool negated(const Instruction& in, unsigned operand) {
  return ((static_cast<u32>(in.imm2) >> (4 * operand)) & 8) != 0;
}

/// The row of operand 3, if there is one.
const u32* third_row(Warp& warp, const Instruction& in) {
  return warp.row<u32>(in.op[3] != no_operand ? in.op[3] : in.op[2]);
}

[[gnu::noinline]] void run_scalar(Warp& warp, const Instruction& in, const Video& video) {
  const u32* a = warp.row<u32>(in.op[1]);
  const u32* b = warp.row<u32>(in.op[2]);
  const u32* c = third_row(warp, in);
  const Part part_d(selector(in, 0));
  const Part part_a(selector(in, 1));
  const Part part_b(selector(in, 2));
  write_row(warp.row<u32>(in.op[0]), warp.enabled(in), [&](u32* d) {
    for (unsigned i = 0; i < warp_size; ++i) {
      d[i] = scalar_lane(video, part_d, part_a, part_b, a[i], b[i], c[i]);
    }
  });
}
template <Video video>
void scalar(Warp& warp, const Instruction& in) {
  static constexpr Video what = video;
  run_scalar(warp, in, what);
}

[[gnu::noinline]] void run_mad(Warp& warp, const Instruction& in, const Mad& mad) {
  const u32* a = warp.row<u32>(in.op[1]);
  const u32* b = warp.row<u32>(in.op[2]);
  const u32* c = warp.row<u32>(in.op[3]);
  const Part part_a(selector(in, 1));
  const Part part_b(selector(in, 2));
  const bool minus_product = negated(in, 1) != negated(in, 2);
  const bool minus_c = negated(in, 3);
  write_row(warp.row<u32>(in.op[0]), warp.enabled(in), [&](u32* d) {
    for (unsigned i = 0; i < warp_size; ++i) {
      d[i] = mad_lane(mad, minus_product, minus_c, part_a.of(a[i], mad.signed_a),
                      part_b.of(b[i], mad.signed_b), c[i]);
    }
  });
}
template <Mad mad>
void vmad(Warp& warp, const Instruction& in) {
  static constexpr Mad what = mad;
  run_mad(warp, in, what);
}

/// Elements are selected from a and b together.
s64 choose(u32 a, u32 b, unsigned index, unsigned elements, bool with_sign) {
  const unsigned bits = 32 / elements;
  const u32 raw = index < elements ? a : b;
  return extend(raw, bits * (index & (elements - 1)), bits, with_sign);
}
u32 simd_lane(const Video& video, unsigned elements, u32 modifiers, u32 a, u32 b, u32 c) {
  const unsigned bits = 32 / elements;
  const u32 field = (1u << bits) - 1;
  u32 d = video.then == Then::add ? c : 0;
  for (unsigned k = 0; k < elements; ++k) {
    const bool kept = ((modifiers >> k) & 1) == 0;
    const unsigned from_a = k ^ ((modifiers >> (4 + 3 * k)) & 7);
    const unsigned from_b = (elements + k) ^ ((modifiers >> (16 + 3 * k)) & 7);
    s64 value = operate(video, choose(a, b, from_a, elements, video.signed_a),
                        choose(a, b, from_b, elements, video.signed_b));
    if (video.then == Then::add) {
      d += kept ? static_cast<u32>(value) : 0;
      continue;
    }
    if (video.then == Then::sat) value = clamp_to(bits, video.signed_d, value);
    d |= ((kept ? static_cast<u32>(value) : c >> (bits * k)) & field) << (bits * k);
  }
  return d;
}
[[gnu::noinline]] void run_simd(Warp& warp, const Instruction& in, unsigned elements,
                                const Video& video) {
  const u32* a = warp.row<u32>(in.op[1]);
  const u32* b = warp.row<u32>(in.op[2]);
  const u32* c = third_row(warp, in);
  const auto modifiers = static_cast<u32>(in.imm2);
  write_row(warp.row<u32>(in.op[0]), warp.enabled(in), [&](u32* d) {
    for (unsigned i = 0; i < warp_size; ++i) {
      d[i] = simd_lane(video, elements, modifiers, a[i], b[i], c[i]);
    }
  });
}

/// |a - b| for each element, or c + their sum, for unsigned elements and all of them.
template <class E, bool accumulate>
u32 absolute_differences(u32 a, u32 b, u32 c) {
  constexpr unsigned bits = bits_of<E>;
  constexpr u32 field = (1u << bits) - 1;
  u32 d = accumulate ? c : 0;
  for (unsigned at = 0; at < 32; at += bits) {
    const u32 x = (a >> at) & field;
    const u32 y = (b >> at) & field;
    const u32 difference = x < y ? y - x : x - y;
    d += accumulate ? difference : difference << at;
  }
  return d;
}

template <unsigned elements, Video video>
void simd(Warp& warp, const Instruction& in) {
  static constexpr Video what = video;
  if constexpr (what.op == Op::absdiff && !what.signed_a && !what.signed_b &&
                what.then != Then::sat) {
    using E = std::conditional_t<elements == 2, u16, u8>;
    if (in.imm2 == 0) return Lanes<absolute_differences<E, what.then == Then::add>>::run(warp, in);
  }
  run_simd(warp, in, elements, what);
}

/// The digits of `index` in the given bases, lowest first.
template <std::size_t n>
struct Digits {
  constexpr Digits(unsigned index, const unsigned (&bases)[n]) {
    for (std::size_t i = 0; i < n; ++i) {
      digit[i] = index % bases[i];
      index /= bases[i];
    }
  }
  unsigned digit[n] = {};
};

constexpr Then scalar_then[] = {Then::none, Then::add, Then::min, Then::max};
constexpr const char* sat_names[] = {"", ".sat"};

/// Adds a form and, if it has no second operation, also the one that merges with c.
void add_scalar(FormTable& table, std::initializer_list<const char*> key, Then then, Handler run) {
  if (then == Then::none) table.add(key, "www", run);
  table.add(key, "wwww", run);
}

template <unsigned index>
void add_scalar_arithmetic(FormTable& table) {
  constexpr Digits<6> n(index, {5, 2, 2, 2, 2, 4});
  constexpr Video video{.op = arithmetic_ops[n.digit[0]],
                        .then = scalar_then[n.digit[5]],
                        .sat = n.digit[4] != 0,
                        .signed_d = n.digit[1] != 0,
                        .signed_a = n.digit[2] != 0,
                        .signed_b = n.digit[3] != 0};
  add_scalar(table,
             {scalar_names[n.digit[0]], sign_names[n.digit[1]], sign_names[n.digit[2]],
              sign_names[n.digit[3]], sat_names[n.digit[4]],
              then_names[static_cast<unsigned>(video.then)]},
             video.then, scalar<video>);
}
template <unsigned index>
void add_scalar_shift(FormTable& table) {
  constexpr Digits<6> n(index, {2, 2, 2, 2, 2, 4});
  constexpr Video video{.op = n.digit[0] != 0 ? Op::shr : Op::shl,
                        .then = scalar_then[n.digit[5]],
                        .sat = n.digit[3] != 0,
                        .wrap = n.digit[4] != 0,
                        .signed_d = n.digit[1] != 0,
                        .signed_a = n.digit[2] != 0};
  add_scalar(table,
             {n.digit[0] != 0 ? "vshr" : "vshl", sign_names[n.digit[1]], sign_names[n.digit[2]],
              ".u32", sat_names[n.digit[3]], n.digit[4] != 0 ? ".wrap" : ".clamp",
              then_names[static_cast<unsigned>(video.then)]},
             video.then, scalar<video>);
}
template <unsigned index>
void add_scalar_set(FormTable& table) {
  constexpr Digits<4> n(index, {2, 2, 6, 4});
  // The third operand has the same signedness as the first.
  constexpr Video video{.op = Op::set,
                        .then = scalar_then[n.digit[3]],
                        .comparison = static_cast<Comparison>(n.digit[2]),
                        .signed_d = n.digit[0] != 0,
                        .signed_a = n.digit[0] != 0,
                        .signed_b = n.digit[1] != 0};
  add_scalar(table,
             {"vset", sign_names[n.digit[0]], sign_names[n.digit[1]], comparison_names[n.digit[2]],
              then_names[static_cast<unsigned>(video.then)]},
             video.then, scalar<video>);
}
template <unsigned index>
void add_mad(FormTable& table) {
  constexpr Digits<5> n(index, {2, 2, 2, 2, 3});
  constexpr const char* shifts[] = {"", ".shr7", ".shr15"};
  constexpr Mad mad{.signed_a = n.digit[0] != 0,
                    .signed_b = n.digit[1] != 0,
                    .plus_one = n.digit[2] != 0,
                    .sat = n.digit[3] != 0,
                    .shift = n.digit[4] == 0   ? 0u
                             : n.digit[4] == 1 ? 7u
                                               : 15u};
  // The destination's type makes no difference.
  for (const char* to : sign_names) {
    table.add({"vmad", to, sign_names[n.digit[0]], sign_names[n.digit[1]],
               mad.plus_one ? ".po" : "", sat_names[n.digit[3]], shifts[n.digit[4]]},
              "wwww", vmad<mad>);
  }
}

template <unsigned index>
void add_simd_arithmetic(FormTable& table) {
  constexpr Digits<5> n(index, {6, 2, 2, 2, 3});
  constexpr Video video{.op = arithmetic_ops[n.digit[0]],
                        .then = static_cast<Then>(n.digit[4]),
                        .signed_d = n.digit[1] != 0,
                        .signed_a = n.digit[2] != 0,
                        .signed_b = n.digit[3] != 0};
  const char* to = sign_names[n.digit[1]];
  const char* a = sign_names[n.digit[2]];
  const char* b = sign_names[n.digit[3]];
  table.add({names_of_2[n.digit[0]], to, a, b, then_names[n.digit[4]]}, "wwww", simd<2, video>,
            {.video = 2});
  table.add({names_of_4[n.digit[0]], to, a, b, then_names[n.digit[4]]}, "wwww", simd<4, video>,
            {.video = 4});
}
template <unsigned index>
void add_simd_set(FormTable& table) {
  constexpr Digits<4> n(index, {2, 2, 6, 2});
  constexpr Video video{.op = Op::set,
                        .then = n.digit[3] != 0 ? Then::add : Then::none,
                        .comparison = static_cast<Comparison>(n.digit[2]),
                        .signed_a = n.digit[0] != 0,
                        .signed_b = n.digit[1] != 0};
  const char* a = sign_names[n.digit[0]];
  const char* b = sign_names[n.digit[1]];
  const char* comparison = comparison_names[n.digit[2]];
  const char* then = then_names[static_cast<unsigned>(video.then)];
  table.add({"vset2", a, b, comparison, then}, "wwww", simd<2, video>, {.video = 2});
  table.add({"vset4", a, b, comparison, then}, "wwww", simd<4, video>, {.video = 4});
}

template <unsigned... i>
void add_all(FormTable& table, std::integer_sequence<unsigned, i...>) {
  constexpr unsigned all = sizeof...(i);
  static_assert(all == 5 * 2 * 2 * 2 * 2 * 4);
  (add_scalar_arithmetic<i>(table), ...);
  ((i < 128 ? add_scalar_shift<i % 128>(table) : void()), ...);
  ((i < 96 ? add_scalar_set<i % 96>(table) : void()), ...);
  ((i < 48 ? add_mad<i % 48>(table) : void()), ...);
  ((i < 144 ? add_simd_arithmetic<i % 144>(table) : void()), ...);
  ((i < 48 ? add_simd_set<i % 48>(table) : void()), ...);
}

}  // namespace

void add_integer_simd(FormTable& table) {
  const FormTable::Family family(table, {.video = 1});
  add_all(table, std::make_integer_sequence<unsigned, 320>{});
}

}  // namespace cudacore::simulator
