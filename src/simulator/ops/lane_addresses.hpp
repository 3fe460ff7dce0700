// SPDX-License-Identifier: Apache-2.0
//
// Checks the addresses of a warp's lanes together: compares all 32 with one window of memory, using
// a few vector instructions, and recognizes patterns in them.
//
// An offset into a window is in bounds if neither the offset nor its distance from the last valid
// offset has the sign bit set. So the checks of all lanes are or-ed together, and evaluated once.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simulator/engine/memory_access.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: internal linkage keeps the code of each ISA apart

/// How many lanes' addresses are checked together: eight, because the rows of a small tile are
/// often that short.
constexpr unsigned segment = 8;
constexpr unsigned segments = warp_size / segment;

#if defined(__AVX512F__)
constexpr std::size_t address_vector_bytes = 64;
#elif defined(__AVX2__)
constexpr std::size_t address_vector_bytes = 32;
#else
constexpr std::size_t address_vector_bytes = 16;
#endif

/// Addresses of 32 or 64 bits, as many as fit into a vector instruction, but at most one segment.
template <class Word>
struct AddressVector {
  static constexpr std::size_t bytes =
      address_vector_bytes < segment * sizeof(Word) ? address_vector_bytes : segment * sizeof(Word);
  static constexpr unsigned lanes = bytes / sizeof(Word);
  using Type [[gnu::vector_size(bytes)]] = Word;
  using Bits [[gnu::vector_size(bytes)]] = std::uint32_t;
};

template <class Word>
[[gnu::always_inline]] inline bool all_zero(typename AddressVector<Word>::Type vector) {
  Word bits = 0;
  for (unsigned i = 0; i < AddressVector<Word>::lanes; ++i) bits |= vector[i];
  return bits == 0;
}

/// 0, 1, ... 7, each multiplied by a number of bytes.
template <class Word, unsigned bytes>
struct Steps {
  alignas(64) static constexpr Word table[segment] = {0,         bytes,     2 * bytes, 3 * bytes,
                                                      4 * bytes, 5 * bytes, 6 * bytes, 7 * bytes};
};

/// A bit for each lane, as 32-bit words that fill a lane of an AddressVector: SSE2 can't compare
/// anything wider.
template <class Word>
struct LaneBits;
template <>
struct LaneBits<std::uint32_t> {
  alignas(64) static constexpr std::uint32_t table[segment] = {1, 2, 4, 8, 16, 32, 64, 128};
};
template <>
struct LaneBits<std::uint64_t> {
  alignas(64) static constexpr std::uint32_t table[2 * segment] = {
      1, 1, 2, 2, 4, 4, 8, 8, 16, 16, 32, 32, 64, 64, 128, 128};
};

/// Whether the lanes of each segment are `bytes` apart, in order.
template <class Word, unsigned bytes>
[[gnu::always_inline]] inline bool has_step(const Word* bases) {
  using Vector = typename AddressVector<Word>::Type;
  constexpr unsigned lanes = AddressVector<Word>::lanes;
  Vector different{};
  for (unsigned s = 0; s < warp_size; s += segment) {
    const Vector first = Vector{} + bases[s];
    for (unsigned j = 0; j < segment; j += lanes) {
      Vector base;
      Vector step;
      std::memcpy(&base, bases + s + j, sizeof base);
      std::memcpy(&step, Steps<Word, bytes>::table + j, sizeof step);
      different |= (base - step) ^ first;
    }
  }
  return all_zero<Word>(different);
}

/// The bytes of a space, which are contiguous on the host.
struct Window {
  std::uint64_t begin = 0;
  std::uint64_t size = 0;
  std::byte* host = nullptr;
};

/// The offsets of the segments' first lanes in a window; false if one is outside of it or
/// misaligned.
template <class Word, unsigned bytes>
[[gnu::always_inline]] inline bool check_segments(const Word* bases, std::uint64_t imm,
                                                  const Window& window, unsigned reach,
                                                  Word* offsets) {
  const Word limit = static_cast<Word>(window.size) - reach;
  Word bad = 0;
  Word low = 0;
  for (unsigned s = 0; s < segments; ++s) {
    const Word address = bases[s * segment] + static_cast<Word>(imm);
    const Word offset = address - static_cast<Word>(window.begin);
    bad |= offset | (limit - offset);
    low |= address;
    offsets[s] = offset;
  }
  return static_cast<std::make_signed_t<Word>>(bad) >= 0 && (low & (bytes - 1)) == 0;
}

/// The same for every enabled lane; disabled lanes get some offset.
template <class Word, unsigned bytes>
[[gnu::always_inline]] inline bool check_lanes(const Word* bases, std::uint64_t imm,
                                               const Window& window, std::uint32_t enabled,
                                               Word* offsets) {
  using Vector = typename AddressVector<Word>::Type;
  constexpr unsigned lanes = AddressVector<Word>::lanes;
  const Vector add = Vector{} + static_cast<Word>(imm);
  const Vector begin = Vector{} + static_cast<Word>(window.begin);
  const Vector limit = Vector{} + (static_cast<Word>(window.size) - bytes);
  using Bits = typename AddressVector<Word>::Bits;
  Bits bit;
  std::memcpy(&bit, LaneBits<Word>::table, sizeof bit);
  Vector bad{};
  Vector low{};
  const auto check = [&](auto masked) __attribute__((always_inline)) {
    for (unsigned i = 0; i < warp_size; i += lanes) {
      Vector base;
      std::memcpy(&base, bases + i, sizeof base);
      const Vector address = base + add;
      const Vector offset = address - begin;
      if constexpr (decltype(masked)::value) {
        const Bits here = (Bits{} + (enabled >> i)) & bit;
        const Vector mask = reinterpret_cast<Vector>(here == bit);
        bad |= (offset | (limit - offset)) & mask;
        low |= address & mask;
      } else {
        bad |= offset | (limit - offset);
        low |= address;
      }
      std::memcpy(offsets + i, &offset, sizeof offset);
    }
  };
  if (enabled == all_lanes) {
    check(std::false_type{});
  } else {
    check(std::true_type{});
  }
  const Vector sign = Vector{} + (Word{1} << (8 * sizeof(Word) - 1));
  return all_zero<Word>((bad & sign) | (low & (Vector{} + Word{bytes - 1})));
}

/// Calls `visit` for each enabled lane, lowest first.
template <class Visit>
[[gnu::always_inline]] inline void for_each_lane(std::uint32_t enabled, Visit visit) {
  if (enabled == all_lanes) {
    for (unsigned lane = 0; lane < warp_size; ++lane) visit(lane);
  } else {
    for (; enabled != 0; enabled &= enabled - 1) {
      visit(static_cast<unsigned>(std::countr_zero(enabled)));
    }
  }
}

/// The window that contains the address of the first lane. Returns false if none can be found
/// quickly; resolve_lanes handles that case.
template <Space space>
[[gnu::always_inline]] inline bool find_lanes_window(const Warp& warp, const Instruction& in,
                                                     std::uint64_t address, bool write,
                                                     Window& window) {
  const Block& block = *warp.block;
  if constexpr (space == Space::shared) {
    window = {shared_begin, block.shared_bytes, block.shared};
    return true;
  } else if constexpr (space == Space::local) {
    window = {local_begin, block.local_stride,
              block.local + std::size_t{thread_of(warp, 0)} * block.local_stride};
    return true;
  } else if constexpr (space == Space::param) {
    const auto& parameters = block.grid->request().parameters;
    window = {0, parameters.size(), const_cast<std::byte*>(parameters.data())};
    return !write;
  } else {
    if constexpr (space == Space::generic) {
      const auto shared = reinterpret_cast<std::uint64_t>(block.shared);
      if (address - shared < block.shared_bytes) {
        window = {shared, block.shared_bytes, block.shared};
        return true;
      }
    }
    const CachedRange* range = &range_of(*warp.worker, in);
    if (range->generation != range_tag(block) ||
        address - range->begin >= range->end - range->begin) [[unlikely]] {
      range = find_range(warp, in, address);
      if (range == nullptr) return false;
    }
    window = {
        range->begin, range->end - range->begin,
        reinterpret_cast<std::byte*>(range->begin + static_cast<std::uint64_t>(range->to_host))};
    return !write || range->writable;
  }
}

/// Where the bytes of each enabled lane are; false after a fault. `operand` is the address.
template <Space space, class Word, unsigned bytes>
[[gnu::noinline]] bool find_lanes(Warp& warp, const Instruction& in, unsigned operand,
                                  std::uint32_t enabled, Access access, std::byte** at) {
  const Word* const bases = warp.row<Word>(in.op[operand]);
  if constexpr (sizeof(Word) == 8 || space == Space::shared || space == Space::local) {
    const auto first = static_cast<unsigned>(std::countr_zero(enabled));
    Window window;
    alignas(64) Word offsets[warp_size];
    if (find_lanes_window<space>(warp, in, bases[first] + in.imm, access != Access::read, window) &&
        check_lanes<Word, bytes>(bases, in.imm, window, enabled, offsets)) {
      const std::size_t stride = space == Space::local ? warp.block->local_stride : 0;
      for_each_lane(enabled,
                    [&](unsigned lane) { at[lane] = window.host + offsets[lane] + lane * stride; });
      return true;
    }
  }
  return resolve_lanes(warp, in, space, bases, in.imm, enabled, bytes, access, at);
}

}  // namespace
}  // namespace cudacore::simulator
