// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <type_traits>

#include "simulator/ops/families.hpp"
#include "simulator/ops/warp_wide.hpp"

namespace cudacore::simulator {
namespace {

/// Writes a value to a part's lanes of a row.
template <class T>
void fill(const Part& part, unsigned operand, T value) noexcept {
  T* const to = part.row<T>(operand);
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    if (part.has(lane)) to[lane] = value;
  }
}

/// An operand of all lanes, wherever they are.
template <class T>
Row<T> gather(Parts parts, unsigned operand) {
  return gather_rows<T>(parts, [operand](const Part& part) { return part.row<T>(operand); });
}

std::uint32_t gather_mask(Parts parts, unsigned operand) {
  std::uint32_t bits = 0;
  for (const Part& part : parts) bits |= part.mask(operand) & part.lanes;
  return bits;
}

std::uint32_t lanes_with(std::uint32_t lanes, const std::uint32_t* row, std::uint32_t value) {
  std::uint32_t same = 0;
  for (unsigned lane = 0; lane < warp_size; ++lane) same |= row[lane] == value ? 1u << lane : 0;
  return same & lanes;
}

/// A form with .sync: operand `named` is the row with the masks of members.
template <Together exchange, unsigned named>
void sync(Warp& warp, const Instruction& in) {
  std::uint32_t left = warp.enabled(in);
  const std::uint32_t* const row = warp.row<std::uint32_t>(in.op[named]);
  alignas(64) Row<std::uint32_t> masks;
  std::copy_n(row, warp_size, masks.begin());
  while (left != 0) {
    const std::uint32_t mask = masks[static_cast<unsigned>(std::countr_zero(left))];
    const std::uint32_t same = lanes_with(left, masks.data(), mask);
    run_together(warp, in, mask, same, exchange);
    left &= ~same;
  }
}

/// A form without .sync: applies to the lanes that run it.
template <Together exchange>
void at_once(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  if (lanes == 0) return;
  const Part part{warp.rows, &in, lanes};
  exchange(warp, Parts(&part, 1), lanes);
}

void nothing(Warp&, Parts, std::uint32_t) {}

enum class Shuffle : std::uint8_t { up, down, bfly, idx };

/// d|p, a, b, c: op[0] to op[4].
template <Shuffle mode>
void shuffle(Warp&, Parts parts, std::uint32_t) {
  const Row<std::uint32_t> values = gather<std::uint32_t>(parts, 2);
  for (const Part& part : parts) {
    const std::uint32_t* const b = part.row<std::uint32_t>(3);
    const std::uint32_t* const c = part.row<std::uint32_t>(4);
    alignas(64) Row<std::uint32_t> source;
    alignas(64) Row<std::uint32_t> result;
    std::uint32_t in_range = 0;
    for (std::uint32_t lane = 0; lane < warp_size; ++lane) {
      const std::uint32_t segment = c[lane] >> 8 & 31;
      const std::uint32_t clamp = c[lane] & 31;
      const std::uint32_t by = b[lane] & 31;
      const std::uint32_t lowest = lane & segment;
      const std::uint32_t limit = lowest | (clamp & ~segment);
      std::uint32_t from = 0;
      bool inside = false;
      if constexpr (mode == Shuffle::up) {
        from = lane - by;
        inside = static_cast<std::int32_t>(from) >= static_cast<std::int32_t>(limit);
      } else {
        from = mode == Shuffle::down   ? lane + by
               : mode == Shuffle::bfly ? lane ^ by
                                       : lowest | (by & ~segment);
        inside = from <= limit;
      }
      source[lane] = inside ? from % warp_size : lane;
      in_range |= static_cast<std::uint32_t>(inside) << lane;
    }
    for (unsigned lane = 0; lane < warp_size; ++lane) result[lane] = values[source[lane]];
    std::uint32_t* const to = part.row<std::uint32_t>(0);
    if (part.lanes == all_lanes) {
      std::copy(result.begin(), result.end(), to);
    } else {
      part.write(to, result);
    }
    part.set_mask(1, in_range);
  }
}

enum class Vote : std::uint8_t { all, any, uni, ballot };

/// d, a: op[0] and op[1].
template <Vote mode>
void vote(Warp&, Parts parts, std::uint32_t members) {
  const std::uint32_t bits = gather_mask(parts, 1);
  for (const Part& part : parts) {
    if constexpr (mode == Vote::ballot) {
      fill<std::uint32_t>(part, 0, bits);
    } else {
      const bool result = mode == Vote::all   ? bits == members
                          : mode == Vote::any ? bits != 0
                                              : bits == 0 || bits == members;
      part.set_mask(0, result ? all_lanes : 0);
    }
  }
}

/// d, a: op[0] and op[1].
template <class T>
void match_any(Warp&, Parts parts, std::uint32_t members) {
  const Row<T> values = gather<T>(parts, 1);
  Row<std::uint32_t> same{};
  for (std::uint32_t left = members; left != 0;) {
    const T value = values[static_cast<unsigned>(std::countr_zero(left))];
    std::uint32_t found = 0;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      found |= values[lane] == value ? 1u << lane : 0;
    }
    found &= members;
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      if ((found >> lane & 1) != 0) same[lane] = found;
    }
    left &= ~found;
  }
  for (const Part& part : parts) part.write(part.row<std::uint32_t>(0), same);
}

/// d|p, a: op[0] to op[2].
template <class T>
void match_all(Warp&, Parts parts, std::uint32_t members) {
  const Row<T> values = gather<T>(parts, 2);
  const T first = values[static_cast<unsigned>(std::countr_zero(members))];
  bool same = true;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    same &= (members >> lane & 1) == 0 || values[lane] == first;
  }
  for (const Part& part : parts) {
    fill<std::uint32_t>(part, 0, same ? members : 0);
    part.set_mask(1, same ? all_lanes : 0);
  }
}

template <class T>
T reduce_add(T a, T b) {
  return a + b;
}
template <class T>
T reduce_min(T a, T b) {
  return std::min(a, b);
}
template <class T>
T reduce_max(T a, T b) {
  return std::max(a, b);
}
std::uint32_t reduce_and(std::uint32_t a, std::uint32_t b) { return a & b; }
std::uint32_t reduce_or(std::uint32_t a, std::uint32_t b) { return a | b; }
std::uint32_t reduce_xor(std::uint32_t a, std::uint32_t b) { return a ^ b; }

/// min and max of f32: a number takes precedence over a NaN unless nan is set, and -0 is less than
/// +0.
template <bool least, bool nan>
float reduce_float(float a, float b) {
  constexpr auto canonical = std::bit_cast<float>(0x7fffffffu);
  if (std::isnan(a) || std::isnan(b)) {
    return nan || (std::isnan(a) && std::isnan(b)) ? canonical : std::isnan(a) ? b : a;
  }
  const bool a_is_less = a < b || (a == b && std::signbit(a));
  return a_is_less == least ? a : b;
}
template <auto F>
float of_magnitudes(float a, float b) {
  return F(std::abs(a), std::abs(b));
}

/// d, a: op[0] and op[1].
template <class T, auto F>
void reduce(Warp&, Parts parts, std::uint32_t members) {
  const Row<T> values = gather<T>(parts, 1);
  const auto first = static_cast<unsigned>(std::countr_zero(members));
  // A float is first reduced with itself, which only applies .abs, even for a single member.
  T result = values[first];
  if constexpr (std::is_same_v<T, float>) result = F(result, result);
  for (unsigned lane = first + 1; lane < warp_size; ++lane) {
    if ((members >> lane & 1) != 0) result = F(result, values[lane]);
  }
  for (const Part& part : parts) fill<T>(part, 0, result);
}

/// d|p: op[0] and op[1].
void elect(Warp&, Parts parts, std::uint32_t members) {
  const auto leader = static_cast<unsigned>(std::countr_zero(members));
  for (const Part& part : parts) {
    fill<std::uint32_t>(part, 0, leader);
    part.set_mask(1, 1u << leader);
  }
}

void active_mask(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  fill<std::uint32_t>(Part{warp.rows, &in, lanes}, 0, warp.active);
}

template <Shuffle mode>
void add_shuffle(FormTable& table, const char* name) {
  table.add({"shfl.sync.", name, ".b32"}, "w|pwwww", sync<shuffle<mode>, 5>);
  table.add({"shfl.", name, ".b32"}, "w|pwww", at_once<shuffle<mode>>);
}

template <Vote mode>
void add_vote(FormTable& table, const char* name) {
  const char* const now = mode == Vote::ballot ? "wp" : "pp";
  const char* const with_members = mode == Vote::ballot ? "wpw" : "ppw";
  table.add({"vote.sync", name}, with_members, sync<vote<mode>, 2>);
  table.add({"vote", name}, now, at_once<vote<mode>>);
}

}  // namespace

void add_warp_exchange(FormTable& table) {
  add_shuffle<Shuffle::up>(table, "up");
  add_shuffle<Shuffle::down>(table, "down");
  add_shuffle<Shuffle::bfly>(table, "bfly");
  add_shuffle<Shuffle::idx>(table, "idx");
  add_vote<Vote::all>(table, ".all.pred");
  add_vote<Vote::any>(table, ".any.pred");
  add_vote<Vote::uni>(table, ".pred");  // A key has no ".uni".
  add_vote<Vote::ballot>(table, ".ballot.b32");
  table.add({"match.any.sync.b32"}, "www", sync<match_any<std::uint32_t>, 2>);
  table.add({"match.any.sync.b64"}, "wxw", sync<match_any<std::uint64_t>, 2>);
  table.add({"match.all.sync.b32"}, "w|pww", sync<match_all<std::uint32_t>, 3>);
  table.add({"match.all.sync.b64"}, "w|pxw", sync<match_all<std::uint64_t>, 3>);

  using U = std::uint32_t;
  using S = std::int32_t;
  table.add({"redux.sync.add.u32"}, "www", sync<reduce<U, reduce_add<U>>, 2>);
  table.add({"redux.sync.add.s32"}, "www", sync<reduce<U, reduce_add<U>>, 2>);
  table.add({"redux.sync.min.u32"}, "www", sync<reduce<U, reduce_min<U>>, 2>);
  table.add({"redux.sync.max.u32"}, "www", sync<reduce<U, reduce_max<U>>, 2>);
  table.add({"redux.sync.min.s32"}, "www", sync<reduce<S, reduce_min<S>>, 2>);
  table.add({"redux.sync.max.s32"}, "www", sync<reduce<S, reduce_max<S>>, 2>);
  table.add({"redux.sync.and.b32"}, "www", sync<reduce<U, reduce_and>, 2>);
  table.add({"redux.sync.or.b32"}, "www", sync<reduce<U, reduce_or>, 2>);
  table.add({"redux.sync.xor.b32"}, "www", sync<reduce<U, reduce_xor>, 2>);
  constexpr auto least = reduce_float<true, false>;
  constexpr auto most = reduce_float<false, false>;
  constexpr auto least_or_nan = reduce_float<true, true>;
  constexpr auto most_or_nan = reduce_float<false, true>;
  const auto add = [&](std::initializer_list<const char*> key, const char* signature, Handler run) {
    table.add(key, signature, run, {.literals = Literals::any});  // of members, not of values
  };
  add({"redux.sync.min.f32"}, "www", sync<reduce<float, least>, 2>);
  add({"redux.sync.max.f32"}, "www", sync<reduce<float, most>, 2>);
  add({"redux.sync.min.NaN.f32"}, "www", sync<reduce<float, least_or_nan>, 2>);
  add({"redux.sync.max.NaN.f32"}, "www", sync<reduce<float, most_or_nan>, 2>);
  add({"redux.sync.min.abs.f32"}, "www", sync<reduce<float, of_magnitudes<least>>, 2>);
  add({"redux.sync.max.abs.f32"}, "www", sync<reduce<float, of_magnitudes<most>>, 2>);
  add({"redux.sync.min.abs.NaN.f32"}, "www", sync<reduce<float, of_magnitudes<least_or_nan>>, 2>);
  add({"redux.sync.max.abs.NaN.f32"}, "www", sync<reduce<float, of_magnitudes<most_or_nan>>, 2>);

  table.add({"elect.sync"}, "w|pw", sync<elect, 2>);
  table.add({"bar.warp.sync"}, "w", sync<nothing, 0>, {.effect = Effect::acts, .only_reads = true});
  table.add({"activemask.b32"}, "w", active_mask);
}

}  // namespace cudacore::simulator
