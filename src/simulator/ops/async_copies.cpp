// SPDX-License-Identifier: Apache-2.0
//
// cp.async, bulk copies and st.async. They complete with the instruction, so waiting for them is
// free, and a program that forgets to wait is not detected.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string>

#include "simulator/ops/async_parts.hpp"
#include "simulator/ops/families.hpp"
#include "simulator/ops/tensor_copies.hpp"

namespace cudacore::simulator {
namespace {

void nothing(Warp&, const Instruction&) {}

enum class Source : std::uint8_t { size, ignored };

/// [dst], [src], bytes{, bytes to read, or a predicate: read none}; the rest is zeros.
template <Source source, class To>
void copy_async(Warp& warp, const Instruction& in) {
  const std::uint32_t size = in.op[2];
  if (size != 4 && size != 8 && size != 16) {
    warp.fault(in, FaultKind::illegal_instruction, 0, "copies neither 4, 8 nor 16 bytes");
    return;
  }
  for_each_lane(warp, in, [&](unsigned lane) {
    std::uint32_t read = size;
    if (in.op[3] != no_operand) {
      if constexpr (source == Source::size) {
        read = std::min(size, warp.row<std::uint32_t>(in.op[3])[lane]);
      } else if ((warp.mask(in.op[3]) >> lane & 1) != 0) {
        read = 0;
      }
    }
    std::array<std::byte, 16> bytes{};
    if (read != 0) {
      const std::uint64_t from = address_of<std::uint64_t>(
          warp, in, 1, static_cast<std::uint64_t>(std::int64_t{in.imm2}), lane);
      const std::byte* host =
          resolve(warp, in, Space::global, from, read, Access::read, lane, size);
      if (host == nullptr) return false;
      std::memcpy(bytes.data(), host, read);
    }
    std::byte* host = resolve(warp, in, Space::shared, address_of<To>(warp, in, 0, in.imm, lane),
                              size, Access::write, lane);
    if (host == nullptr) return false;
    std::memcpy(host, bytes.data(), size);
    return true;
  });
}

/// [mbarrier]: the copies are complete, so this arrives now. Without .noinc, the arrival was first
/// added to the count, so nothing changes.
template <Space space, class Base, bool counted>
void arrive_for_copies(Warp& warp, const Instruction& in) {
  for_each_lane(warp, in, [&](unsigned lane) {
    std::byte* host = resolve(warp, in, space, address_of<Base>(warp, in, 0, in.imm, lane), 8,
                              Access::update, lane);
    if (host == nullptr) return false;
    bool valid = true;
    if (!counted) (void)change_mbarrier(host, {.arrive = 1}, valid);
    if (!valid) {
      warp.fault(in, FaultKind::illegal_instruction, lane,
                 "arrives at an mbarrier that waits for nobody");
    }
    return valid;
  });
}

/// How a bulk copy reports its completion.
enum class Completion : std::uint8_t { mbarrier, group };

/// The parts of a cluster that a copy writes to: its own block, or those in a mask.
struct Bulk {
  Space to;
  Space from;
  Completion completion;
  Reduction reduction = Reduction::none;
  bool multicast = false;
};

/// [dst], [src], size{, [mbarrier]}{, mask of blocks}
template <Bulk bulk, class T, class To, class From>
void copy_bulk(Warp& warp, const Instruction& in) {
  for_each_lane(warp, in, [&](unsigned lane) {
    const std::uint32_t size = warp.row<std::uint32_t>(in.op[2])[lane];
    if (size % 16 != 0) {
      warp.fault(in, FaultKind::illegal_instruction, lane,
                 "copies " + std::to_string(size) + " bytes, which is not a multiple of 16");
      return false;
    }
    if (size == 0) return true;
    const std::uint64_t from_address =
        address_of<From>(warp, in, 1, static_cast<std::uint64_t>(std::int64_t{in.imm2}), lane);
    const std::byte* from =
        resolve(warp, in, bulk.from, from_address, size, Access::read, lane, 16);
    if (from == nullptr) return false;
    const std::uint64_t to_address = address_of<To>(warp, in, 0, in.imm, lane);
    const auto write = [&](std::uint64_t address) {
      std::byte* to = resolve(warp, in, bulk.to, address, size, Access::write, lane, 16);
      if (to == nullptr) return false;
      if constexpr (bulk.reduction == Reduction::none) {
        std::memmove(to, from, size);
      } else {
        for (std::uint32_t i = 0; i < size; i += sizeof(T)) {
          reduce_at<T>(to + i, bulk.reduction, from + i);
        }
      }
      return true;
    };
    if constexpr (bulk.multicast) {
      const std::uint32_t mask = warp.row<std::uint16_t>(in.op[4])[lane];
      for (std::uint32_t rank = 0; rank < 16; ++rank) {
        if ((mask >> rank & 1) == 0) continue;
        const std::uint64_t offset = to_address & ((1U << cluster_rank_shift) - 1);
        if (!write(offset | std::uint64_t{rank + 1} << cluster_rank_shift)) return false;
        if (!complete_bytes<To>(warp, in, 3, lane, size, rank + 1)) return false;
      }
      return true;
    } else {
      if (!write(to_address)) return false;
      if constexpr (bulk.completion == Completion::mbarrier) {
        return complete_bytes<To>(warp, in, 3, lane, size);
      }
      return true;
    }
  });
}

/// [addr], value, [mbarrier]: values in the cluster's shared memory.
template <class T, unsigned count, Reduction reduction, class Base>
void store_async(Warp& warp, const Instruction& in) {
  for_each_lane(warp, in, [&](unsigned lane) {
    constexpr std::size_t size = sizeof(T) * count;
    std::byte* host = resolve(warp, in, Space::shared, address_of<Base>(warp, in, 0, in.imm, lane),
                              size, Access::update, lane);
    if (host == nullptr) return false;
    for (unsigned i = 0; i < count; ++i) {
      const std::uint32_t row = count == 1 ? in.op[1] : in.list[in.op[1] + i];
      const T value = warp.row<T>(row)[lane];
      if constexpr (reduction == Reduction::none) {
        std::memcpy(host + i * sizeof(T), &value, sizeof(T));
      } else {
        reduce_at<T>(host, reduction, reinterpret_cast<const std::byte*>(&value));
      }
    }
    return complete_bytes<Base>(warp, in, 2, lane, static_cast<std::int64_t>(size));
  });
}

void add_copies(FormTable& table) {
  constexpr const char* key = "cp.async.shared.global";
  table.add({key}, "mmi?w", &copy_async<Source::size, std::uint64_t>);
  table.add({key}, "nmi?w", &copy_async<Source::size, std::uint32_t>);
  table.add({key}, "mmip", &copy_async<Source::ignored, std::uint64_t>);
  table.add({key}, "nmip", &copy_async<Source::ignored, std::uint32_t>);
  table.add({"cp.async.commit_group"}, "", &nothing);
  table.add({"cp.async.wait_all"}, "", &nothing);
  table.add({"cp.async.wait_group"}, "i", &nothing);
  for (const char* space : {"", ".shared"}) {
    constexpr const char* start = "cp.async.mbarrier.arrive";
    const bool generic = *space == '\0';
    table.add({start, space, ".b64"}, "m",
              generic ? &arrive_for_copies<Space::generic, std::uint64_t, true>
                      : &arrive_for_copies<Space::shared, std::uint64_t, true>);
    table.add({start, ".noinc", space, ".b64"}, "m",
              generic ? &arrive_for_copies<Space::generic, std::uint64_t, false>
                      : &arrive_for_copies<Space::shared, std::uint64_t, false>);
    if (generic) continue;
    table.add({start, space, ".b64"}, "n", &arrive_for_copies<Space::shared, std::uint32_t, true>);
    table.add({start, ".noinc", space, ".b64"}, "n",
              &arrive_for_copies<Space::shared, std::uint32_t, false>);
  }
}

constexpr const char* by_mbarrier = ".mbarrier::complete_tx::bytes";

void add_bulk_copies(FormTable& table) {
  using Small = std::uint32_t;
  using Large = std::uint64_t;
  constexpr Bulk in_global{Space::shared, Space::global, Completion::mbarrier};
  constexpr Bulk multicast{Space::shared, Space::global, Completion::mbarrier, Reduction::none,
                           true};
  constexpr Bulk in_cluster{Space::shared, Space::shared, Completion::mbarrier};
  constexpr Bulk out{Space::global, Space::shared, Completion::group};
  for (const char* to : {".shared::cluster", ".shared"}) {
    table.add({"cp.async.bulk", to, ".global", by_mbarrier}, "nmwn",
              &copy_bulk<in_global, std::byte, Small, Large>);
    table.add({"cp.async.bulk", to, ".global", by_mbarrier}, "mmwm",
              &copy_bulk<in_global, std::byte, Large, Large>);
  }
  table.add({"cp.async.bulk.shared::cluster.global", by_mbarrier, ".multicast::cluster"}, "nmwnh",
            &copy_bulk<multicast, std::byte, Small, Large>);
  table.add({"cp.async.bulk.shared::cluster.global", by_mbarrier, ".multicast::cluster"}, "mmwmh",
            &copy_bulk<multicast, std::byte, Large, Large>);
  table.add({"cp.async.bulk.shared::cluster.shared", by_mbarrier}, "nnwn",
            &copy_bulk<in_cluster, std::byte, Small, Small>);
  table.add({"cp.async.bulk.shared::cluster.shared", by_mbarrier}, "mmwm",
            &copy_bulk<in_cluster, std::byte, Large, Large>);
  table.add({"cp.async.bulk.global.shared.bulk_group"}, "mnw",
            &copy_bulk<out, std::byte, Large, Small>);
  table.add({"cp.async.bulk.global.shared.bulk_group"}, "mmw",
            &copy_bulk<out, std::byte, Large, Large>);
  table.add({"cp.async.bulk.prefetch.L2.global"}, "mw", &nothing);
  table.add({"cp.async.bulk.prefetch.global"}, "mw", &nothing);
  table.add({"cp.async.bulk.commit_group"}, "", &nothing);
  table.add({"cp.async.bulk.wait_group"}, "i", &nothing);
  table.add({"cp.async.bulk.wait_group.read"}, "i", &nothing);
}

template <Reduction reduction, class T>
void add_reduction(FormTable& table, const char* name, const char* type, bool in_shared) {
  using Small = std::uint32_t;
  using Large = std::uint64_t;
  constexpr Bulk to_global{Space::global, Space::shared, Completion::group, reduction};
  constexpr Bulk to_shared{Space::shared, Space::shared, Completion::mbarrier, reduction};
  constexpr Traits counts{.literals = Literals::any};  // bytes, not values
  table.add({"cp.reduce.async.bulk.global.shared.bulk_group", name, type}, "mnw",
            &copy_bulk<to_global, T, Large, Small>, counts);
  table.add({"cp.reduce.async.bulk.global.shared.bulk_group", name, type}, "mmw",
            &copy_bulk<to_global, T, Large, Large>, counts);
  if (!in_shared) return;
  table.add({"cp.reduce.async.bulk.shared::cluster.shared", by_mbarrier, name, type}, "nnwn",
            &copy_bulk<to_shared, T, Small, Small>);
  table.add({"cp.reduce.async.bulk.shared::cluster.shared", by_mbarrier, name, type}, "mmwm",
            &copy_bulk<to_shared, T, Large, Large>);
  if constexpr (sizeof(T) >= 4) {
    constexpr Traits acts{.effect = Effect::acts};
    constexpr const char* width = sizeof(T) == 4 ? "w" : "x";
    for (const char* order : {"", ".relaxed"}) {
      table.add({"red.async", order, ".shared::cluster", by_mbarrier, name, type},
                (std::string("n") + width + "n").c_str(), &store_async<T, 1, reduction, Small>,
                acts);
      table.add({"red.async", order, ".shared::cluster", by_mbarrier, name, type},
                (std::string("m") + width + "m").c_str(), &store_async<T, 1, reduction, Large>,
                acts);
    }
  }
}

template <class T>
void add_ordered_reductions(FormTable& table, const char* type, bool in_shared) {
  add_reduction<Reduction::add, T>(table, ".add", type, in_shared);
  add_reduction<Reduction::min, T>(table, ".min", type, in_shared);
  add_reduction<Reduction::max, T>(table, ".max", type, in_shared);
}

template <class T>
void add_bit_reductions(FormTable& table, const char* type, bool in_shared) {
  add_reduction<Reduction::bit_and, T>(table, ".and", type, in_shared);
  add_reduction<Reduction::bit_or, T>(table, ".or", type, in_shared);
  add_reduction<Reduction::bit_xor, T>(table, ".xor", type, in_shared);
}

void add_reductions(FormTable& table) {
  add_ordered_reductions<std::uint32_t>(table, ".u32", true);
  add_ordered_reductions<std::int32_t>(table, ".s32", true);
  add_ordered_reductions<std::uint64_t>(table, ".u64", false);
  add_ordered_reductions<std::int64_t>(table, ".s64", false);
  add_ordered_reductions<HalfValue<F16>>(table, ".f16", false);
  add_ordered_reductions<HalfValue<Bf16>>(table, ".bf16", false);
  add_reduction<Reduction::add, float>(table, ".add", ".f32", false);
  add_reduction<Reduction::add, double>(table, ".add", ".f64", false);
  add_reduction<Reduction::inc, std::uint32_t>(table, ".inc", ".u32", true);
  add_reduction<Reduction::dec, std::uint32_t>(table, ".dec", ".u32", true);
  add_bit_reductions<std::uint32_t>(table, ".b32", true);
  add_bit_reductions<std::uint64_t>(table, ".b64", false);
}

template <class T, unsigned count>
void add_store(FormTable& table, const char* vector, std::initializer_list<const char*> types) {
  std::string value = count > 1 ? std::to_string(count) : "";
  value += sizeof(T) == 4 ? 'w' : 'x';
  constexpr Traits stores{.effect = Effect::acts, .converts = true};
  for (const char* type : types) {
    table.add({"st.async.shared::cluster", by_mbarrier, vector, type}, ("n" + value + "n").c_str(),
              &store_async<T, count, Reduction::none, std::uint32_t>, stores);
    table.add({"st.async.shared::cluster", by_mbarrier, vector, type}, ("m" + value + "m").c_str(),
              &store_async<T, count, Reduction::none, std::uint64_t>, stores);
  }
}

}  // namespace

void add_async_copies(FormTable& table) {
  add_copies(table);
  add_bulk_copies(table);
  add_reductions(table);
  add_tensor_copies(table);
  add_store<std::uint32_t, 1>(table, "", {".b32", ".u32", ".s32", ".f32"});
  add_store<std::uint64_t, 1>(table, "", {".b64", ".u64", ".s64", ".f64"});
  add_store<std::uint32_t, 2>(table, ".v2", {".b32", ".u32", ".s32", ".f32"});
  add_store<std::uint64_t, 2>(table, ".v2", {".b64", ".u64", ".s64", ".f64"});
  add_store<std::uint32_t, 4>(table, ".v4", {".b32", ".u32", ".s32", ".f32"});
}

}  // namespace cudacore::simulator
