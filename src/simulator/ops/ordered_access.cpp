// SPDX-License-Identifier: Apache-2.0
//
// Loads that acquire and stores that release. On x86, making relaxed or volatile accesses this
// strict costs nothing, and none is weaker than requested.
#include "simulator/ops/ordered_access.hpp"

#include <string>

#include "simulator/ops/atomic_bytes.hpp"
#include "simulator/ops/lane_addresses.hpp"
#include "simulator/ops/memory_forms.hpp"

namespace cudacore::simulator {
namespace {

template <Space space, class Word, class T, unsigned count>
void load(Warp& warp, const Instruction& in) {
  const std::uint32_t enabled = warp.enabled(in);
  if (enabled == 0) return;
  std::byte* at[warp_size];
  if (!find_lanes<space, Word, sizeof(T) * count>(warp, in, 1, enabled, Access::read, at)) return;
  for_each_lane(enabled, [&](unsigned lane) {
    for (unsigned k = 0; k < count; ++k) {
      warp.row<T>(count == 1 ? in.op[0] : in.list[in.op[0] + k])[lane] =
          atomic_load<T>(at[lane] + k * sizeof(T));
    }
  });
}

template <Space space, class Word, class T, unsigned count>
void store(Warp& warp, const Instruction& in) {
  const std::uint32_t enabled = warp.enabled(in);
  if (enabled == 0) return;
  std::byte* at[warp_size];
  if (!find_lanes<space, Word, sizeof(T) * count>(warp, in, 0, enabled, Access::write, at)) return;
  for_each_lane(enabled, [&](unsigned lane) {
    for (unsigned k = 0; k < count; ++k) {
      atomic_store<T>(at[lane] + k * sizeof(T),
                      warp.row<T>(count == 1 ? in.op[1] : in.list[in.op[1] + k])[lane]);
    }
  });
}

template <Space space, class T, unsigned count>
void add_access(FormTable& table, const char* space_name, const MemoryType& type,
                const MemoryVector& vector) {
  const std::string value = (count == 1 ? "" : std::to_string(count)) + width_letters[type.width];
  const auto add = [&](const char* base, Handler loads, Handler stores) {
    const auto add_order = [&](const char* of_load, const char* of_store) {
      table.add({"ld", of_load, space_name, vector.name, type.name}, (value + base).c_str(), loads,
                {.effect = Effect::looks, .converts = true});
      table.add({"st", of_store, space_name, vector.name, type.name}, (base + value).c_str(),
                stores, {.effect = Effect::acts, .converts = true});
    };
    add_order(".volatile", ".volatile");
    if (space == Space::local) return;
    add_order(".relaxed", ".relaxed");
    add_order(".acquire", ".release");
    if (space != Space::shared && count == 1) add_order(".mmio.relaxed", ".mmio.relaxed");
  };
  add("m", load<space, std::uint64_t, T, count>, store<space, std::uint64_t, T, count>);
  if constexpr (has_narrow_addresses<space>) {
    add("n", load<space, std::uint32_t, T, count>, store<space, std::uint32_t, T, count>);
  }
}

template <Space space, class T>
void add_type(FormTable& table, const char* space_name, const MemoryType& type) {
  add_access<space, T, 1>(table, space_name, type, memory_vectors[0]);
  if constexpr (sizeof(T) <= 8) {
    add_access<space, T, 2>(table, space_name, type, memory_vectors[1]);
    add_access<space, T, 4>(table, space_name, type, memory_vectors[2]);
  }
  if constexpr (sizeof(T) == 4) add_access<space, T, 8>(table, space_name, type, memory_vectors[3]);
}

template <Space space>
void add_space(FormTable& table, const char* name) {
  for (const MemoryType& type : memory_types) {
    switch (type.width) {
      case 0:
        add_type<space, std::uint8_t>(table, name, type);
        break;
      case 1:
        add_type<space, std::uint16_t>(table, name, type);
        break;
      case 2:
        add_type<space, std::uint32_t>(table, name, type);
        break;
      case 3:
        add_type<space, std::uint64_t>(table, name, type);
        break;
      default:
        add_type<space, Wide>(table, name, type);
        break;
    }
  }
}

}  // namespace

void add_ordered_access(FormTable& table) {
  add_space<Space::generic>(table, "");
  add_space<Space::global>(table, ".global");
  add_space<Space::shared>(table, ".shared");
  add_space<Space::shared>(table, ".shared::cluster");
  add_space<Space::local>(table, ".local");
}

}  // namespace cudacore::simulator
