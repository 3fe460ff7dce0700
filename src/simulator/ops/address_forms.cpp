// SPDX-License-Identifier: Apache-2.0
//
// Instructions that deal with addresses and ordering, but move no data: conversions between spaces,
// ranks in a cluster, cache hints, fences, and the stack of local memory.
#include <algorithm>
#include <atomic>
#include <bit>
#include <string>

#include "simulator/engine/memory_access.hpp"
#include "simulator/memory/round_up.hpp"
#include "simulator/ops/families.hpp"

namespace cudacore::simulator {
namespace {

template <class Visit>
void for_each_lane(std::uint32_t enabled, Visit visit) {
  for (; enabled != 0; enabled &= enabled - 1) {
    visit(static_cast<unsigned>(std::countr_zero(enabled)));
  }
}

enum class Direction : std::uint8_t { to_generic, from_generic };

template <Space space, Direction direction, class Word>
void convert(Warp& warp, const Instruction& in) {
  Word* const to = warp.row<Word>(in.op[0]);
  const Word* const from = warp.row<Word>(in.op[1]);
  const std::uint32_t enabled = warp.enabled(in);
  if constexpr (space == Space::global || space == Space::constant) {
    if (enabled == all_lanes) {
      std::copy_n(from, warp_size, to);
    } else {
      for_each_lane(enabled, [&](unsigned lane) { to[lane] = from[lane]; });
    }
  } else {
    for_each_lane(enabled, [&](unsigned lane) {
      to[lane] = static_cast<Word>(direction == Direction::to_generic
                                       ? to_generic(warp, space, from[lane], lane)
                                       : from_generic(warp, space, from[lane], lane));
    });
  }
}

bool holds(const std::byte* begin, std::size_t size, std::uint64_t address) {
  return address - reinterpret_cast<std::uint64_t>(begin) < size;
}

bool is_local(const Block& block, std::uint64_t address) {
  return holds(block.local, std::size_t{block.threads} * block.local_stride, address);
}

bool is_parameter(const Block& block, std::uint64_t address) {
  const auto& parameters = block.grid->request().parameters;
  return holds(parameters.data(), parameters.size(), address);
}

bool is_constant(const Block&, std::uint64_t address) {
  const auto found = AddressSpace::instance().find(address);
  return found && found->read_only;
}

bool is_own_shared(const Block& block, std::uint64_t address) {
  return holds(block.shared, block.shared_bytes, address);
}

bool is_cluster_shared(const Block& block, std::uint64_t address) {
  return rank_of_shared(block, address) >= 0;
}

/// Whatever no other space contains is global, including null, as on a GPU; a kernel's parameters
/// are in the global window, as PTX says.
bool is_global(const Block& block, std::uint64_t address) {
  return !is_cluster_shared(block, address) && !is_local(block, address) &&
         !is_constant(block, address);
}

template <bool (*Is)(const Block&, std::uint64_t), class Word>
void test_space(Warp& warp, const Instruction& in) {
  const Word* const addresses = warp.row<Word>(in.op[1]);
  const std::uint32_t enabled = warp.enabled(in);
  std::uint32_t bits = 0;
  for_each_lane(enabled, [&](unsigned lane) {
    if (Is(*warp.block, addresses[lane])) bits |= std::uint32_t{1} << lane;
  });
  warp.set_mask(in.op[0], enabled, bits);
}

std::size_t blocks_in(const Block& block) {
  return block.cluster == nullptr ? 1 : block.cluster->blocks.size();
}

constexpr std::uint64_t offset_bits = (std::uint64_t{1} << cluster_rank_shift) - 1;

/// The address of the same variable in another block of the cluster; for a rank that doesn't exist,
/// an address that no access may use.
template <class Word>
void map_shared(Warp& warp, const Instruction& in) {
  const Block& block = *warp.block;
  Word* const to = warp.row<Word>(in.op[0]);
  const Word* const from = warp.row<Word>(in.op[1]);
  const std::uint32_t* const ranks = warp.row<std::uint32_t>(in.op[2]);
  for_each_lane(warp.enabled(in), [&](unsigned lane) {
    const std::uint64_t offset = from[lane] & offset_bits;
    const std::uint64_t rank = ranks[lane];
    if (rank == block.cluster_rank) {
      to[lane] = static_cast<Word>(offset);
    } else {
      const std::uint64_t known = rank < blocks_in(block) ? rank + 1 : 0xff;
      to[lane] = static_cast<Word>(known << cluster_rank_shift | offset);
    }
  });
}

template <class Word>
void map_generic(Warp& warp, const Instruction& in) {
  const Block& block = *warp.block;
  Word* const to = warp.row<Word>(in.op[0]);
  const Word* const from = warp.row<Word>(in.op[1]);
  const std::uint32_t* const ranks = warp.row<std::uint32_t>(in.op[2]);
  for_each_lane(warp.enabled(in), [&](unsigned lane) {
    if (ranks[lane] >= blocks_in(block)) {
      to[lane] = 0;
      return;
    }
    const std::uint64_t offset = from_generic(warp, Space::shared, from[lane], lane) & offset_bits;
    const std::uint64_t rank = std::uint64_t{ranks[lane]} + 1;
    to[lane] = static_cast<Word>(
        block.cluster == nullptr
            ? from[lane]
            : to_generic(warp, Space::shared, rank << cluster_rank_shift | offset, lane));
  });
}

template <class Word>
void rank_of_window(Warp& warp, const Instruction& in) {
  std::uint32_t* const to = warp.row<std::uint32_t>(in.op[0]);
  const Word* const from = warp.row<Word>(in.op[1]);
  for_each_lane(warp.enabled(in), [&](unsigned lane) {
    const auto rank = static_cast<std::uint32_t>(from[lane] >> cluster_rank_shift);
    to[lane] = rank == 0 ? warp.block->cluster_rank : rank - 1;
  });
}

template <class Word>
void rank_of_generic(Warp& warp, const Instruction& in) {
  std::uint32_t* const to = warp.row<std::uint32_t>(in.op[0]);
  const Word* const from = warp.row<Word>(in.op[1]);
  for_each_lane(warp.enabled(in), [&](unsigned lane) {
    const int rank = rank_of_shared(*warp.block, from[lane]);
    to[lane] = rank < 0 ? warp.block->cluster_rank : static_cast<std::uint32_t>(rank);
  });
}

/// A hint, or something that only affects a cache.
void do_nothing(Warp&, const Instruction&) {}

/// A policy is opaque; nothing reads it.
void make_policy(Warp& warp, const Instruction& in) {
  std::uint64_t* const to = warp.row<std::uint64_t>(in.op[0]);
  for_each_lane(warp.enabled(in), [&](unsigned lane) { to[lane] = 0; });
}

void fence(Warp& warp, const Instruction& in) {
  if (warp.enabled(in) != 0) std::atomic_thread_fence(std::memory_order_seq_cst);
}

/// The lanes of a frame share its stack pointer: each gets a piece of its own memory, at the same
/// address, as large as the largest one requested.
template <class Word>
void allocate_local(Warp& warp, const Instruction& in) {
  const std::uint32_t enabled = warp.enabled(in);
  if (enabled == 0) return;
  Word* const to = warp.row<Word>(in.op[0]);
  const Word* const sizes = warp.row<Word>(in.op[1]);
  const std::uint64_t asked = in.op[2] == no_operand ? 8 : in.op[2];
  const std::uint64_t align = std::has_single_bit(asked) ? asked : 8;
  std::uint64_t size = 0;
  unsigned largest = 0;
  for_each_lane(enabled, [&](unsigned lane) {
    if (sizes[lane] > size) {
      size = sizes[lane];
      largest = lane;
    }
  });
  Frame& frame = *warp.frame;
  const std::uint64_t begin = round_up(frame.local_top, align);
  const std::uint64_t end = std::uint64_t{local_begin} + warp.block->local_stride;
  if (begin > end || size > end - begin) {
    warp.fault(in, FaultKind::stack_overflow, largest, "allocates more than the stack has");
    return;
  }
  frame.local_top = static_cast<std::uint32_t>(begin + size);
  for_each_lane(enabled, [&](unsigned lane) { to[lane] = static_cast<Word>(begin); });
}

template <class Word>
void save_stack(Warp& warp, const Instruction& in) {
  Word* const to = warp.row<Word>(in.op[0]);
  for_each_lane(warp.enabled(in), [&](unsigned lane) { to[lane] = warp.frame->local_top; });
}

/// Only if all lanes of the frame return here: others may still use what they allocated.
template <class Word>
void restore_stack(Warp& warp, const Instruction& in) {
  const std::uint32_t enabled = warp.enabled(in);
  Frame& frame = *warp.frame;
  if (enabled == 0 || enabled != frame.lanes) return;
  const Word* const from = warp.row<Word>(in.op[0]);
  std::uint64_t top = 0;
  for_each_lane(enabled, [&](unsigned lane) { top = std::max<std::uint64_t>(top, from[lane]); });
  frame.local_top = static_cast<std::uint32_t>(std::min<std::uint64_t>(top, frame.local_top));
}

template <Space space>
void add_conversions(FormTable& table, const char* name) {
  using W = std::uint32_t;
  using X = std::uint64_t;
  const FormTable::Family family(table, {.role = Role::convert_space});
  table.add({"cvta", name, ".u64"}, "xx", convert<space, Direction::to_generic, X>);
  table.add({"cvta", name, ".u32"}, "ww", convert<space, Direction::to_generic, W>);
  table.add({"cvta.to", name, ".u64"}, "xx", convert<space, Direction::from_generic, X>);
  table.add({"cvta.to", name, ".u32"}, "ww", convert<space, Direction::from_generic, W>);
}

template <bool (*Is)(const Block&, std::uint64_t)>
void add_test(FormTable& table, const char* name) {
  table.add({"isspacep", name}, "px", test_space<Is, std::uint64_t>);
  table.add({"isspacep", name}, "pw", test_space<Is, std::uint32_t>);
}

void add_hints(FormTable& table) {
  for (const char* level : {"", ".L1", ".L2"}) {
    for (const char* space : {"", ".global", ".local"}) {
      table.add({"prefetch", space, level}, "m", do_nothing);
    }
    table.add({"prefetch.local", level}, "n", do_nothing);
  }
  table.add({"prefetchu.L1"}, "m", do_nothing);
  for (const char* space : {"", ".global"}) {
    table.add({"discard", space, ".L2"}, "mi", do_nothing);
    table.add({"applypriority", space}, "mi", do_nothing);
    table.add({"createpolicy.range", space, ".b64"}, "xmww", make_policy);
  }
  table.add({"createpolicy.fractional.b64"}, "x?w", make_policy);
  table.add({"createpolicy.cvt.L2.b64"}, "xx", make_policy);
}

void add_fences(FormTable& table) {
  for (const char* key : {"membar",
                          "membar.gl",
                          "membar.proxy.alias",
                          "membar.proxy.async",
                          "membar.proxy.async.global",
                          "membar.proxy.async.shared",
                          "fence",
                          "fence.sc",
                          "fence.acq_rel",
                          "fence.acquire",
                          "fence.release",
                          "fence.acquire.sync_restrict::shared::cluster",
                          "fence.release.sync_restrict::shared::cta",
                          "fence.mbarrier_init.release",
                          "fence.proxy.alias",
                          "fence.proxy.async",
                          "fence.proxy.async.global",
                          "fence.proxy.async.shared",
                          "fence.proxy.async.shared::cluster",
                          "fence.proxy.async::generic.acquire.sync_restrict::shared::cluster",
                          "fence.proxy.async::generic.release.sync_restrict::shared::cta"}) {
    table.add({key}, "", fence);
  }
  // For tensor maps, which kernels may change.
  table.add({"fence.proxy.tensormap::generic.release"}, "", fence);
  table.add({"fence.proxy.tensormap::generic.acquire"}, "mi", fence);
}

}  // namespace

void add_address_forms(FormTable& table) {
  using W = std::uint32_t;
  using X = std::uint64_t;
  add_conversions<Space::global>(table, ".global");
  add_conversions<Space::constant>(table, ".const");
  add_conversions<Space::shared>(table, ".shared");
  add_conversions<Space::shared>(table, ".shared::cluster");
  add_conversions<Space::local>(table, ".local");
  add_conversions<Space::param>(table, ".param");

  add_test<is_global>(table, ".global");
  add_test<is_constant>(table, ".const");
  add_test<is_own_shared>(table, ".shared");
  add_test<is_cluster_shared>(table, ".shared::cluster");
  add_test<is_local>(table, ".local");
  add_test<is_parameter>(table, ".param");

  table.add({"mapa.shared::cluster.u32"}, "www", map_shared<W>);
  table.add({"mapa.shared::cluster.u64"}, "xxw", map_shared<X>);
  table.add({"mapa.u32"}, "www", map_generic<W>);
  table.add({"mapa.u64"}, "xxw", map_generic<X>);
  table.add({"getctarank.shared::cluster.u32"}, "ww", rank_of_window<W>);
  table.add({"getctarank.shared::cluster.u64"}, "wx", rank_of_window<X>);
  table.add({"getctarank.u32"}, "ww", rank_of_generic<W>);
  table.add({"getctarank.u64"}, "wx", rank_of_generic<X>);

  add_hints(table);
  add_fences(table);

  table.add({"alloca.u32"}, "ww?i", allocate_local<W>);
  table.add({"alloca.u64"}, "xx?i", allocate_local<X>);
  table.add({"stacksave.u32"}, "w", save_stack<W>);
  table.add({"stacksave.u64"}, "x", save_stack<X>);
  table.add({"stackrestore.u32"}, "w", restore_stack<W>, {.only_reads = true});
  table.add({"stackrestore.u64"}, "x", restore_stack<X>, {.only_reads = true});
}

}  // namespace cudacore::simulator
