// SPDX-License-Identifier: Apache-2.0
//
// What asynchronous copies have in common: addresses, reductions, and mbarriers that count bytes.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <type_traits>

#include "simulator/engine/memory_access.hpp"
#include "simulator/ops/atomic_bytes.hpp"
#include "simulator/ops/half_bits.hpp"
#include "simulator/ops/mbarrier_object.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: shared by files of forms

/// The address that a lane specifies in an operand, m or n, with an offset.
template <class Base>
std::uint64_t address_of(const Warp& warp, const Instruction& in, unsigned operand,
                         std::uint64_t offset, unsigned lane) {
  return static_cast<Base>(warp.row<Base>(in.op[operand])[lane] + offset);
}

/// Calls use(lane) for each enabled lane, until it returns false.
template <class Use>
void for_each_lane(Warp& warp, const Instruction& in, Use use) {
  const std::uint32_t lanes = warp.enabled(in);
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    if ((lanes >> lane & 1) != 0 && !use(lane)) return;
  }
}

/// Reports to an mbarrier that bytes have arrived.
template <class Base>
bool complete_bytes(Warp& warp, const Instruction& in, unsigned operand, unsigned lane,
                    std::int64_t bytes, std::uint32_t rank_plus_one = 0) {
  std::uint64_t address = address_of<Base>(warp, in, operand, 0, lane);
  if (rank_plus_one != 0) {
    address = (address & ((1U << cluster_rank_shift) - 1)) | std::uint64_t{rank_plus_one}
                                                                 << cluster_rank_shift;
  }
  std::byte* host = resolve(warp, in, Space::shared, address, 8, Access::update, lane);
  if (host == nullptr) return false;
  bool valid = false;
  (void)change_mbarrier(host, {.complete_bytes = bytes}, valid);
  if (!valid) {
    warp.fault(in, FaultKind::illegal_instruction, lane,
               "completes more bytes of an mbarrier than it can count");
  }
  return valid;
}

enum class Reduction : std::uint8_t { none, add, min, max, inc, dec, bit_and, bit_or, bit_xor };

template <class T>
T reduced(Reduction reduction, T old, T value) {
  switch (reduction) {
    case Reduction::add:
      if constexpr (std::is_integral_v<T>) {
        using Bits = std::make_unsigned_t<T>;
        return static_cast<T>(static_cast<Bits>(old) + static_cast<Bits>(value));
      } else {
        return static_cast<T>(old + value);
      }
    case Reduction::min:
      return value < old ? value : old;
    case Reduction::max:
      return old < value ? value : old;
    default:
      break;
  }
  if constexpr (std::is_integral_v<T>) {
    switch (reduction) {
      case Reduction::inc:
        return old >= value ? T{0} : static_cast<T>(old + 1);
      case Reduction::dec:
        return old == 0 || old > value ? value : static_cast<T>(old - 1);
      case Reduction::bit_and:
        return static_cast<T>(old & value);
      case Reduction::bit_or:
        return static_cast<T>(old | value);
      case Reduction::bit_xor:
        return static_cast<T>(old ^ value);
      default:
        break;
    }
  }
  return value;
}

/// f16 and bf16 as used in arithmetic.
template <class Format>
struct HalfValue {
  std::uint16_t bits;
};

template <class T>
using WordOf = std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                  std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;

/// The extreme, ignoring NaN, with -0 less than +0.
inline float extreme(Reduction reduction, float a, float b) {
  if (std::isnan(a)) return b;
  if (std::isnan(b)) return a;
  if (a == b) return (reduction == Reduction::min) == std::signbit(a) ? a : b;
  return (reduction == Reduction::min) == (a < b) ? a : b;
}

template <class Format>
HalfValue<Format> reduced(Reduction reduction, HalfValue<Format> old, HalfValue<Format> value) {
  const float a = Format::widen(old.bits);
  const float b = Format::widen(value.bits);
  return {Format::narrow(reduction == Reduction::add ? a + b : extreme(reduction, a, b))};
}

template <class T>
void reduce_at(std::byte* host, Reduction reduction, const std::byte* from) {
  using Word = WordOf<T>;
  T value;
  std::memcpy(&value, from, sizeof(value));
  atomic_change<Word>(host, [&](Word old) {
    return std::bit_cast<Word>(reduced(reduction, std::bit_cast<T>(old), value));
  });
}

}  // namespace
}  // namespace cudacore::simulator
