// SPDX-License-Identifier: Apache-2.0
//
// atom and red. Lanes run one after another, lowest first; each operation is atomic with respect to
// all other workers.
#include <string>

#include "simulator/ops/atomic_bytes.hpp"
#include "simulator/ops/families.hpp"
#include "simulator/ops/half_bits.hpp"
#include "simulator/ops/lane_addresses.hpp"
#include "simulator/ops/ordered_access.hpp"

namespace cudacore::simulator {
namespace {

// What is done to a value.

template <class T>
struct Type {
  using Value = T;
};

template <class T>
struct Add : Type<T> {
  static T run(std::byte* host, T b) {
    return __atomic_fetch_add(reinterpret_cast<T*>(host), b, __ATOMIC_SEQ_CST);
  }
};
template <class T>
struct And : Type<T> {
  static T run(std::byte* host, T b) {
    return __atomic_fetch_and(reinterpret_cast<T*>(host), b, __ATOMIC_SEQ_CST);
  }
};
template <class T>
struct Or : Type<T> {
  static T run(std::byte* host, T b) {
    return __atomic_fetch_or(reinterpret_cast<T*>(host), b, __ATOMIC_SEQ_CST);
  }
};
template <class T>
struct Xor : Type<T> {
  static T run(std::byte* host, T b) {
    return __atomic_fetch_xor(reinterpret_cast<T*>(host), b, __ATOMIC_SEQ_CST);
  }
};
template <class T>
struct Exchange : Type<T> {
  static T run(std::byte* host, T b) { return atomic_exchange<T>(host, b); }
};

/// With a function of the current value and the operand.
template <class T, T (*F)(T, T)>
struct Change : Type<T> {
  static T run(std::byte* host, T b) {
    return atomic_change<T>(host, [&](T a) { return F(a, b); });
  }
};

/// Compared as numbers of another type: rows hold unsigned ones.
template <class Number, class T>
T least(T a, T b) {
  return static_cast<Number>(b) < static_cast<Number>(a) ? b : a;
}
template <class Number, class T>
T greatest(T a, T b) {
  return static_cast<Number>(a) < static_cast<Number>(b) ? b : a;
}
std::uint32_t increment(std::uint32_t a, std::uint32_t b) { return a >= b ? 0 : a + 1; }
std::uint32_t decrement(std::uint32_t a, std::uint32_t b) { return a == 0 || a > b ? b : a - 1; }

/// Single-precision sums flush subnormals in global memory, and keep them in shared memory.
std::uint32_t add_f32(std::uint32_t a, std::uint32_t b) {
  return bits_as<std::uint32_t>(canonical(bits_as<float>(a) + bits_as<float>(b)));
}
std::uint32_t add_f32_ftz(std::uint32_t a, std::uint32_t b) {
  return bits_as<std::uint32_t>(
      canonical(flush(flush(bits_as<float>(a)) + flush(bits_as<float>(b)))));
}
std::uint64_t add_f64(std::uint64_t a, std::uint64_t b) {
  const auto x = bits_as<double>(a);
  const auto y = bits_as<double>(b);
  return bits_as<std::uint64_t>(finish(x + y, x, y));
}

/// In single precision, the sum of two halves is exact enough to be rounded once more.
template <class Half>
std::uint16_t add_half(std::uint16_t a, std::uint16_t b) {
  return Half::narrow(Half::widen(a) + Half::widen(b));
}
/// A number takes precedence over a NaN, and +0 is greater than -0.
template <class Half>
std::uint16_t least_half(std::uint16_t a, std::uint16_t b) {
  const float x = Half::widen(a);
  const float y = Half::widen(b);
  if (x != x) return y != y ? half_nan : b;
  if (y != y || x < y) return a;
  return y < x || (b & 0x8000) != 0 ? b : a;
}
template <class Half>
std::uint16_t greatest_half(std::uint16_t a, std::uint16_t b) {
  const float x = Half::widen(a);
  const float y = Half::widen(b);
  if (x != x) return y != y ? half_nan : b;
  if (y != y || x > y) return a;
  return y > x || (b & 0x8000) == 0 ? b : a;
}
template <std::uint16_t (*F)(std::uint16_t, std::uint16_t)>
std::uint32_t pair(std::uint32_t a, std::uint32_t b) {
  const std::uint32_t low = F(static_cast<std::uint16_t>(a), static_cast<std::uint16_t>(b));
  const std::uint32_t high =
      F(static_cast<std::uint16_t>(a >> 16), static_cast<std::uint16_t>(b >> 16));
  return low | high << 16;
}

/// Selects the operation by the space that the bytes are in.
template <class Global, class Shared>
struct BySpace : Type<typename Global::Value> {
  using InGlobal = Global;
  using InShared = Shared;
};

bool is_global(const Warp& warp, std::byte* host) {
  const auto address = reinterpret_cast<std::uint64_t>(host);
  const Block& block = *warp.block;
  const auto local = reinterpret_cast<std::uint64_t>(block.local);
  return rank_of_shared(block, address) < 0 &&
         address - local >= std::size_t{block.threads} * block.local_stride;
}

template <class Op, Space space>
typename Op::Value apply(const Warp& warp, std::byte* host, typename Op::Value b) {
  if constexpr (requires { typename Op::InGlobal; }) {
    const bool global =
        space == Space::global || (space == Space::generic && is_global(warp, host));
    return global ? Op::InGlobal::run(host, b) : Op::InShared::run(host, b);
  } else {
    return Op::run(host, b);
  }
}

template <class Op, Space space, class Word, unsigned count>
void atom(Warp& warp, const Instruction& in) {
  using T = typename Op::Value;
  const std::uint32_t enabled = warp.enabled(in);
  if (enabled == 0) return;
  std::byte* at[warp_size];
  if (!find_lanes<space, Word, sizeof(T) * count>(warp, in, 1, enabled, Access::update, at)) return;
  for_each_lane(enabled, [&](unsigned lane) {
    T operands[count];
    for (unsigned k = 0; k < count; ++k) {
      operands[k] = warp.row<T>(count == 1 ? in.op[2] : in.list[in.op[2] + k])[lane];
    }
    for (unsigned k = 0; k < count; ++k) {
      warp.row<T>(count == 1 ? in.op[0] : in.list[in.op[0] + k])[lane] =
          apply<Op, space>(warp, at[lane] + k * sizeof(T), operands[k]);
    }
  });
}

template <class Op, Space space, class Word, unsigned count>
void red(Warp& warp, const Instruction& in) {
  using T = typename Op::Value;
  const std::uint32_t enabled = warp.enabled(in);
  if (enabled == 0) return;
  std::byte* at[warp_size];
  if (!find_lanes<space, Word, sizeof(T) * count>(warp, in, 0, enabled, Access::update, at)) return;
  for_each_lane(enabled, [&](unsigned lane) {
    for (unsigned k = 0; k < count; ++k) {
      const T operand = warp.row<T>(count == 1 ? in.op[1] : in.list[in.op[1] + k])[lane];
      apply<Op, space>(warp, at[lane] + k * sizeof(T), operand);
    }
  });
}

template <class T, Space space, class Word>
void compare_and_swap(Warp& warp, const Instruction& in) {
  const std::uint32_t enabled = warp.enabled(in);
  if (enabled == 0) return;
  std::byte* at[warp_size];
  if (!find_lanes<space, Word, sizeof(T)>(warp, in, 1, enabled, Access::update, at)) return;
  for_each_lane(enabled, [&](unsigned lane) {
    T expected = warp.row<T>(in.op[2])[lane];
    compare_exchange<T>(at[lane], expected, warp.row<T>(in.op[3])[lane]);
    warp.row<T>(in.op[0])[lane] = expected;
  });
}

/// The parts of a key, in addition to the mnemonic and the order.
struct Names {
  const char* space;
  const char* operation;
  const char* type;  ///< with the preceding vector
};

/// All orders do the same, because each is as strict as the strictest.
void add_orders(FormTable& table, const char* mnemonic, const Names& names, const char* signature,
                Handler run, Effect effect) {
  for (const char* order : {"", ".relaxed", ".acquire", ".release", ".acq_rel"}) {
    table.add({mnemonic, order, names.space, names.operation, names.type}, signature, run,
              {.effect = effect});
  }
}

template <Space space, class Word, class Op, unsigned count>
void add_with_base(FormTable& table, const Names& names, const std::string& base, bool has_red) {
  constexpr char letter = width_letters[std::countr_zero(sizeof(typename Op::Value))];
  const std::string value = (count == 1 ? "" : std::to_string(count)) + letter;
  add_orders(table, "atom", names, (value + base + value).c_str(), atom<Op, space, Word, count>,
             has_red ? Effect::none : Effect::looks);
  if (!has_red) return;
  add_orders(table, "red", names, (base + value).c_str(), red<Op, space, Word, count>,
             Effect::acts);
}

template <class Op, Space space, unsigned count = 1>
void add_operation(FormTable& table, const Names& names, bool has_red = true) {
  add_with_base<space, std::uint64_t, Op, count>(table, names, "m", has_red);
  if constexpr (has_narrow_addresses<space>) {
    add_with_base<space, std::uint32_t, Op, count>(table, names, "n", has_red);
  }
}

template <class T, Space space>
void add_cas(FormTable& table, const Names& names) {
  constexpr char letter = width_letters[std::countr_zero(sizeof(T))];
  const char wide[] = {letter, 'm', letter, letter, 0};
  const char narrow[] = {letter, 'n', letter, letter, 0};
  add_orders(table, "atom", names, wide, compare_and_swap<T, space, std::uint64_t>, Effect::looks);
  if constexpr (has_narrow_addresses<space>) {
    add_orders(table, "atom", names, narrow, compare_and_swap<T, space, std::uint32_t>,
               Effect::looks);
  }
}

using AddF32 = BySpace<Change<std::uint32_t, add_f32_ftz>, Change<std::uint32_t, add_f32>>;

template <class Half, Space space>
void add_half_vectors(FormTable& table, const char* space_name, const char* v2, const char* v4,
                      const char* v8, const char* pairs_v2, const char* pairs_v4) {
  using H = std::uint16_t;
  using W = std::uint32_t;
  const auto add = [&]<class Single, class Pair>(const char* operation, Single, Pair) {
    add_operation<Single, space, 2>(table, {space_name, operation, v2});
    add_operation<Single, space, 4>(table, {space_name, operation, v4});
    add_operation<Single, space, 8>(table, {space_name, operation, v8});
    add_operation<Pair, space, 2>(table, {space_name, operation, pairs_v2});
    add_operation<Pair, space, 4>(table, {space_name, operation, pairs_v4});
  };
  add(".add", Change<H, add_half<Half>>{}, Change<W, pair<add_half<Half>>>{});
  add(".min", Change<H, least_half<Half>>{}, Change<W, pair<least_half<Half>>>{});
  add(".max", Change<H, greatest_half<Half>>{}, Change<W, pair<greatest_half<Half>>>{});
}

template <Space space>
void add_space(FormTable& table, const char* name) {
  using H = std::uint16_t;
  using W = std::uint32_t;
  using X = std::uint64_t;
  add_operation<Add<W>, space>(table, {name, ".add", ".u32"});
  add_operation<Add<W>, space>(table, {name, ".add", ".s32"});
  add_operation<Add<X>, space>(table, {name, ".add", ".u64"});
  add_operation<AddF32, space>(table, {name, ".add", ".f32"});
  add_operation<Change<X, add_f64>, space>(table, {name, ".add", ".f64"});
  add_operation<Change<H, add_half<F16>>, space>(table, {name, ".add", ".f16"});
  add_operation<Change<H, add_half<Bf16>>, space>(table, {name, ".add", ".bf16"});
  add_operation<Change<W, pair<add_half<F16>>>, space>(table, {name, ".add", ".f16x2"});
  add_operation<Change<W, pair<add_half<Bf16>>>, space>(table, {name, ".add", ".bf16x2"});
  add_operation<Change<W, least<std::uint32_t>>, space>(table, {name, ".min", ".u32"});
  add_operation<Change<W, least<std::int32_t>>, space>(table, {name, ".min", ".s32"});
  add_operation<Change<X, least<std::uint64_t>>, space>(table, {name, ".min", ".u64"});
  add_operation<Change<X, least<std::int64_t>>, space>(table, {name, ".min", ".s64"});
  add_operation<Change<W, greatest<std::uint32_t>>, space>(table, {name, ".max", ".u32"});
  add_operation<Change<W, greatest<std::int32_t>>, space>(table, {name, ".max", ".s32"});
  add_operation<Change<X, greatest<std::uint64_t>>, space>(table, {name, ".max", ".u64"});
  add_operation<Change<X, greatest<std::int64_t>>, space>(table, {name, ".max", ".s64"});
  add_operation<Change<W, increment>, space>(table, {name, ".inc", ".u32"});
  add_operation<Change<W, decrement>, space>(table, {name, ".dec", ".u32"});
  add_operation<And<W>, space>(table, {name, ".and", ".b32"});
  add_operation<And<X>, space>(table, {name, ".and", ".b64"});
  add_operation<Or<W>, space>(table, {name, ".or", ".b32"});
  add_operation<Or<X>, space>(table, {name, ".or", ".b64"});
  add_operation<Xor<W>, space>(table, {name, ".xor", ".b32"});
  add_operation<Xor<X>, space>(table, {name, ".xor", ".b64"});
  add_operation<Exchange<W>, space>(table, {name, ".exch", ".b32"}, false);
  add_operation<Exchange<X>, space>(table, {name, ".exch", ".b64"}, false);
  add_operation<Exchange<Wide>, space>(table, {name, ".exch", ".b128"}, false);
  add_cas<H, space>(table, {name, ".cas", ".b16"});
  add_cas<W, space>(table, {name, ".cas", ".b32"});
  add_cas<X, space>(table, {name, ".cas", ".b64"});
  add_cas<Wide, space>(table, {name, ".cas", ".b128"});
}

/// Vectors are in global memory.
template <Space space>
void add_vectors(FormTable& table, const char* name) {
  add_operation<AddF32, space, 2>(table, {name, ".add", ".v2.f32"});
  add_operation<AddF32, space, 4>(table, {name, ".add", ".v4.f32"});
  add_half_vectors<F16, space>(table, name, ".v2.f16", ".v4.f16", ".v8.f16", ".v2.f16x2",
                               ".v4.f16x2");
  add_half_vectors<Bf16, space>(table, name, ".v2.bf16", ".v4.bf16", ".v8.bf16", ".v2.bf16x2",
                                ".v4.bf16x2");
}

}  // namespace

void add_atomics(FormTable& table) {
  add_space<Space::generic>(table, "");
  add_space<Space::global>(table, ".global");
  add_space<Space::shared>(table, ".shared");
  add_space<Space::shared>(table, ".shared::cluster");
  add_vectors<Space::generic>(table, "");
  add_vectors<Space::global>(table, ".global");
  add_ordered_access(table);
}

}  // namespace cudacore::simulator
