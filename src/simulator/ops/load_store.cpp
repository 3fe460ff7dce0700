// SPDX-License-Identifier: Apache-2.0
//
// Plain loads and stores. Lanes that are adjacent or all at one address, as is usual, move in
// vectors; other lanes move one by one; and accesses that are not within one window of memory take
// the slow path.
#include <array>

#include "simulator/ops/families.hpp"
#include "simulator/ops/lane_addresses.hpp"
#include "simulator/ops/memory_forms.hpp"

namespace cudacore::simulator {
namespace {

template <class T>
[[gnu::always_inline]] inline T get(const std::byte* host) {
  T value;
  std::memcpy(&value, host, sizeof value);
  return value;
}

template <class T>
[[gnu::always_inline]] inline void put(std::byte* host, T value) {
  std::memcpy(host, &value, sizeof value);
}

/// The rows of a vector operand, or the single row of a scalar.
template <class T, unsigned count>
struct Rows {
  T* row[count];
};

template <class T, unsigned count>
[[gnu::always_inline]] inline Rows<T, count> rows_of(const Warp& warp, const Instruction& in,
                                                     unsigned operand) {
  Rows<T, count> rows;
  if constexpr (count == 1) {
    rows.row[0] = warp.row<T>(in.op[operand]);
  } else {
    for (unsigned k = 0; k < count; ++k) rows.row[k] = warp.row<T>(in.list[in.op[operand] + k]);
  }
  return rows;
}

template <class T, unsigned count>
[[gnu::always_inline]] inline void load_lane(const Rows<T, count>& to, unsigned lane,
                                             const std::byte* host) {
  for (unsigned k = 0; k < count; ++k) to.row[k][lane] = get<T>(host + k * sizeof(T));
}

template <class T, unsigned count>
[[gnu::always_inline]] inline void store_lane(std::byte* host, const Rows<T, count>& from,
                                              unsigned lane) {
  for (unsigned k = 0; k < count; ++k) put<T>(host + k * sizeof(T), from.row[k][lane]);
}

template <class T, unsigned count, class Word>
[[gnu::noinline, gnu::cold]] void load_each(Warp& warp, const Instruction& in, Space space,
                                            const Word* bases, std::uint32_t enabled) {
  std::byte* at[warp_size];
  if (!resolve_lanes(warp, in, space, bases, in.imm, enabled, sizeof(T) * count, Access::read,
                     at)) {
    return;
  }
  const auto to = rows_of<T, count>(warp, in, 0);
  for_each_lane(enabled, [&](unsigned lane) { load_lane<T, count>(to, lane, at[lane]); });
}

template <class T, unsigned count, class Word>
[[gnu::noinline, gnu::cold]] void store_each(Warp& warp, const Instruction& in, Space space,
                                             const Word* bases, std::uint32_t enabled) {
  std::byte* at[warp_size];
  if (!resolve_lanes(warp, in, space, bases, in.imm, enabled, sizeof(T) * count, Access::write,
                     at)) {
    return;
  }
  const auto from = rows_of<T, count>(warp, in, 1);
  for_each_lane(enabled, [&](unsigned lane) { store_lane<T, count>(at[lane], from, lane); });
}

/// Whether addresses of a width can be checked together: 32-bit ones are relative to the window's
/// own beginning, and for spaces other than shared and local memory they are rare.
template <Space space, class Word>
constexpr bool has_fast_path = sizeof(Word) == 8 || space == Space::shared || space == Space::local;

template <Space space>
[[gnu::always_inline]] inline std::size_t lane_stride(const Warp& warp) {
  return space == Space::local ? warp.block->local_stride : 0;
}

/// How many steps ahead an instruction prefetches its bytes. Warps move through memory with the
/// stride of a grid, which the processor doesn't predict.
constexpr std::int64_t steps_ahead = 4;

/// Prefetches what the instruction will read if it continues as it has since it last ran.
template <unsigned bytes>
[[gnu::always_inline]] inline void look_ahead(CachedRange& range, const std::byte* host) {
  const auto here = reinterpret_cast<std::uintptr_t>(host);
  const std::int64_t step =
      static_cast<std::int32_t>(static_cast<std::uint32_t>(here) - range.last);
  range.last = static_cast<std::uint32_t>(here);
  const std::uintptr_t ahead = here + static_cast<std::uintptr_t>(steps_ahead * step);
  for (unsigned i = 0; i < bytes; i += 64) {
    __builtin_prefetch(reinterpret_cast<const void*>(ahead + i));
  }
}

template <Space space, class Word, class T, unsigned count>
void load(Warp& warp, const Instruction& in) {
  constexpr unsigned bytes = sizeof(T) * count;
  const std::uint32_t enabled = warp.enabled(in);
  if (enabled == 0) return;
  const Word* const bases = warp.row<Word>(in.op[1]);
  if constexpr (has_fast_path<space, Word>) {
    const auto first = static_cast<unsigned>(std::countr_zero(enabled));
    Window window;
    if (find_lanes_window<space>(warp, in, bases[first] + in.imm, false, window)) [[likely]] {
      if (space != Space::local && enabled == all_lanes) {
        const Word step = bases[1] - bases[0];
        Word offsets[segments];
        if (step == bytes && has_step<Word, bytes>(bases)) {
          if (check_segments<Word, bytes>(bases, in.imm, window, segment * bytes, offsets))
              [[likely]] {
            if constexpr (space == Space::global) {
              look_ahead<warp_size * bytes>(range_of(*warp.worker, in), window.host + offsets[0]);
            }
            const auto to = rows_of<T, count>(warp, in, 0);
            for (unsigned s = 0; s < segments; ++s) {
              const std::byte* const host = window.host + offsets[s];
              if constexpr (count == 1) {
                std::memcpy(to.row[0] + s * segment, host, segment * bytes);
              } else {
                for (unsigned k = 0; k < count; ++k) {
                  T* __restrict const row = to.row[k] + s * segment;
                  for (unsigned i = 0; i < segment; ++i) {
                    row[i] = get<T>(host + i * bytes + k * sizeof(T));
                  }
                }
              }
            }
            return;
          }
        } else if (step == 0 && has_step<Word, 0>(bases)) {
          if (check_segments<Word, bytes>(bases, in.imm, window, bytes, offsets)) [[likely]] {
            const auto to = rows_of<T, count>(warp, in, 0);
            for (unsigned s = 0; s < segments; ++s) {
              const std::byte* const host = window.host + offsets[s];
              for (unsigned k = 0; k < count; ++k) {
                const T value = get<T>(host + k * sizeof(T));
                T* const row = to.row[k] + s * segment;
                for (unsigned i = 0; i < segment; ++i) row[i] = value;
              }
            }
            return;
          }
        }
      }
      alignas(64) Word offsets[warp_size];
      if (check_lanes<Word, bytes>(bases, in.imm, window, enabled, offsets)) [[likely]] {
        const auto to = rows_of<T, count>(warp, in, 0);
        const std::size_t stride = lane_stride<space>(warp);
        for_each_lane(
            enabled, [&](unsigned lane) __attribute__((always_inline)) {
              load_lane<T, count>(to, lane, window.host + offsets[lane] + lane * stride);
            });
        return;
      }
    }
  }
  load_each<T, count, Word>(warp, in, space, bases, enabled);
}

template <Space space, class Word, class T, unsigned count>
void store(Warp& warp, const Instruction& in) {
  constexpr unsigned bytes = sizeof(T) * count;
  const std::uint32_t enabled = warp.enabled(in);
  if (enabled == 0) return;
  const Word* const bases = warp.row<Word>(in.op[0]);
  if constexpr (has_fast_path<space, Word>) {
    const auto first = static_cast<unsigned>(std::countr_zero(enabled));
    Window window;
    if (find_lanes_window<space>(warp, in, bases[first] + in.imm, true, window)) [[likely]] {
      const auto from = rows_of<T, count>(warp, in, 1);
      if (space != Space::local && enabled == all_lanes && bases[1] - bases[0] == bytes &&
          has_step<Word, bytes>(bases)) {
        Word offsets[segments];
        if (check_segments<Word, bytes>(bases, in.imm, window, segment * bytes, offsets))
            [[likely]] {
          for (unsigned s = 0; s < segments; ++s) {
            std::byte* const host = window.host + offsets[s];
            if constexpr (count == 1) {
              std::memcpy(host, from.row[0] + s * segment, segment * bytes);
            } else {
              for (unsigned i = 0; i < segment; ++i) {
                store_lane<T, count>(host + i * bytes, from, s * segment + i);
              }
            }
          }
          return;
        }
      }
      alignas(64) Word offsets[warp_size];
      if (check_lanes<Word, bytes>(bases, in.imm, window, enabled, offsets)) [[likely]] {
        const std::size_t stride = lane_stride<space>(warp);
        for_each_lane(
            enabled, [&](unsigned lane) __attribute__((always_inline)) {
              store_lane<T, count>(window.host + offsets[lane] + lane * stride, from, lane);
            });
        return;
      }
    }
  }
  store_each<T, count, Word>(warp, in, space, bases, enabled);
}

/// With a 64-bit base and, in the spaces that have such addresses, a 32-bit base.
using Pair = std::array<Handler, 2>;

enum class Direction : std::uint8_t { load, store };

template <Direction direction, Space space, class Word, class T, unsigned count>
constexpr Handler handler() {
  if constexpr (direction == Direction::load) {
    return load<space, Word, T, count>;
  } else {
    return store<space, Word, T, count>;
  }
}

template <Direction direction, Space space, class T, unsigned count>
constexpr Pair pair() {
  if constexpr (has_narrow_addresses<space>) {
    return {handler<direction, space, std::uint64_t, T, count>(),
            handler<direction, space, std::uint32_t, T, count>()};
  } else {
    return {handler<direction, space, std::uint64_t, T, count>(), nullptr};
  }
}

/// Handlers by width and vector.
using Handlers = std::array<std::array<Pair, 4>, 5>;

template <Direction direction, Space space>
constexpr Handlers handlers_of() {
  Handlers all{};
  const auto fill = [&]<class T>(unsigned width, T) {
    all[width][0] = pair<direction, space, T, 1>();
    if constexpr (sizeof(T) <= 8) {
      all[width][1] = pair<direction, space, T, 2>();
      all[width][2] = pair<direction, space, T, 4>();
    }
    if constexpr (sizeof(T) == 4) all[width][3] = pair<direction, space, T, 8>();
  };
  fill(0, std::uint8_t{});
  fill(1, std::uint16_t{});
  fill(2, std::uint32_t{});
  fill(3, std::uint64_t{});
  fill(4, Wide{});
  return all;
}

template <Direction direction, Space where>
void add_all(FormTable& table, const char* mnemonic, const char* space) {
  constexpr Handlers handlers = handlers_of<direction, where>();
  constexpr Traits traits{.effect = direction == Direction::store ? Effect::acts : Effect::none,
                          .converts = true,
                          .role = where == Space::param ? Role::load_param : Role::plain};
  for (unsigned vector = 0; vector < 4; ++vector) {
    for (const MemoryType& type : memory_types) {
      if (!is_vector(type.width, vector)) continue;
      for (unsigned narrow = 0; narrow < 2; ++narrow) {
        if (handlers[type.width][vector][narrow] == nullptr) continue;
        char signature[4] = {};
        unsigned length = 0;
        const char base = narrow != 0 ? 'n' : 'm';
        if (direction == Direction::store) signature[length++] = base;
        if (vector != 0)
          signature[length++] = static_cast<char>('0' + memory_vectors[vector].count);
        signature[length++] = width_letters[type.width];
        if (direction == Direction::load) signature[length++] = base;
        table.add({mnemonic, space, memory_vectors[vector].name, type.name}, signature,
                  handlers[type.width][vector][narrow], traits);
      }
    }
  }
}

}  // namespace

template <>
void add_load_store<this_isa>(FormTable& table) {
  add_all<Direction::load, Space::generic>(table, "ld", "");
  add_all<Direction::load, Space::global>(table, "ld", ".global");
  add_all<Direction::load, Space::global>(table, "ld", ".const");
  add_all<Direction::load, Space::shared>(table, "ld", ".shared");
  add_all<Direction::load, Space::shared>(table, "ld", ".shared::cluster");
  add_all<Direction::load, Space::local>(table, "ld", ".local");
  add_all<Direction::load, Space::param>(table, "ld", ".param");
  add_all<Direction::load, Space::generic>(table, "ldu", "");
  add_all<Direction::load, Space::global>(table, "ldu", ".global");
  add_all<Direction::store, Space::generic>(table, "st", "");
  add_all<Direction::store, Space::global>(table, "st", ".global");
  add_all<Direction::store, Space::shared>(table, "st", ".shared");
  add_all<Direction::store, Space::shared>(table, "st", ".shared::cluster");
  add_all<Direction::store, Space::local>(table, "st", ".local");
}

}  // namespace cudacore::simulator
