// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/barriers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include "simulator/engine/block.hpp"
#include "simulator/engine/warp_run.hpp"
#include "simulator/ops/families.hpp"

namespace cudacore::simulator {
namespace {

enum class Kind : std::uint8_t { sync, arrive, popc, land, lor };

/// Where the operands of a form are.
struct Operands {
  unsigned result;
  unsigned barrier;
  unsigned count;
  unsigned predicate;
};
constexpr unsigned absent = 6;

constexpr Operands operands_of(Kind kind, bool has_count) {
  if (kind == Kind::sync || kind == Kind::arrive) {
    return {absent, 0, has_count ? 1 : absent, absent};
  }
  return has_count ? Operands{0, 1, 2, 3} : Operands{0, 1, absent, 2};
}

/// Lanes, all of which are in the running group, arrive at a barrier. Returns false after a fault.
template <Kind kind, bool has_count>
bool arrive(Warp& warp, const Instruction& in, unsigned number, std::uint32_t count,
            std::uint32_t lanes) {
  constexpr Operands at = operands_of(kind, has_count);
  Block& block = *warp.block;
  const auto lowest = static_cast<unsigned>(std::countr_zero(lanes));
  if (number >= block.barriers.size()) {
    warp.fault(in, FaultKind::illegal_instruction, lowest,
               "names barrier " + std::to_string(number) + " of 16");
    return false;
  }
  if (count % warp_size != 0) {
    warp.fault(in, FaultKind::illegal_instruction, lowest,
               "expects " + std::to_string(count) + " threads, which is not a multiple of 32");
    return false;
  }
  Barrier& barrier = block.barriers[number];
  barrier.arrived += static_cast<unsigned>(std::popcount(lanes));
  barrier.expected = std::max(barrier.expected, count);
  if ((lanes >> std::countr_zero(warp.living) & 1) != 0) {  // Once per warp.
    barrier.padding += warp_size - static_cast<unsigned>(std::popcount(warp.living));
  }
  if constexpr (at.predicate != absent) {
    const std::uint32_t bits = warp.mask(in.op[at.predicate]) & lanes;
    barrier.result_count += static_cast<unsigned>(std::popcount(bits));
    barrier.result_or |= bits != 0 ? all_lanes : 0;
    barrier.result_and &= bits == lanes ? all_lanes : 0;
  }
  if constexpr (kind != Kind::arrive) park(warp, lanes, warp.pc, Wait::barrier, number);
  complete(block, number);
  return true;
}

template <Kind kind, bool has_count>
void barrier(Warp& warp, const Instruction& in) {
  constexpr Operands at = operands_of(kind, has_count);
  const std::uint32_t* const numbers = warp.row<std::uint32_t>(in.op[at.barrier]);
  const std::uint32_t* counts = nullptr;
  if constexpr (has_count) {
    if (in.op[at.count] != no_operand) counts = warp.row<std::uint32_t>(in.op[at.count]);
  }
  std::uint32_t left = warp.enabled(in);
  while (left != 0) {
    const auto lowest = static_cast<unsigned>(std::countr_zero(left));
    const std::uint32_t number = numbers[lowest];
    const std::uint32_t count = counts == nullptr ? 0 : counts[lowest];
    std::uint32_t same = 0;
    for (unsigned lane = lowest; lane < warp_size; ++lane) {
      const bool alike = numbers[lane] == number && (counts == nullptr || counts[lane] == count);
      same |= (left >> lane & 1) != 0 && alike ? 1u << lane : 0;
    }
    if (!arrive<kind, has_count>(warp, in, number, count, same)) return;
    left &= ~same;
  }
}

/// How to write the result of a bar.red.
struct Finish {
  Handler run;
  Kind kind;
};
constexpr std::array<Finish, 6> finishes{{{barrier<Kind::popc, false>, Kind::popc},
                                          {barrier<Kind::popc, true>, Kind::popc},
                                          {barrier<Kind::land, false>, Kind::land},
                                          {barrier<Kind::land, true>, Kind::land},
                                          {barrier<Kind::lor, false>, Kind::lor},
                                          {barrier<Kind::lor, true>, Kind::lor}}};

void cluster_arrive(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  if (lanes == 0) return;
  ResidentCluster& cluster = *resident(*warp.block).home;
  std::uint32_t& arrived = state_of(warp).cluster_arrived;
  cluster.arrived += static_cast<unsigned>(std::popcount(lanes & ~arrived));
  arrived |= lanes;
  complete_cluster(cluster);
}

void cluster_wait(Warp& warp, const Instruction& in) {
  const std::uint32_t waiting = warp.enabled(in) & state_of(warp).cluster_arrived;
  if (waiting != 0) park(warp, waiting, warp.pc, Wait::cluster, 0);
}

}  // namespace

void finish_barrier(const Group& group, const Barrier& barrier) {
  const Instruction& in = group.pc[-1];
  for (const Finish& finish : finishes) {
    if (finish.run != in.run) continue;
    std::byte* const to = group.frame->rows + in.op[0];
    if (finish.kind == Kind::popc) {
      auto* const row = reinterpret_cast<std::uint32_t*>(to);
      for (unsigned lane = 0; lane < warp_size; ++lane) {
        if ((group.lanes >> lane & 1) != 0) row[lane] = barrier.result_count;
      }
    } else {
      auto* const mask = reinterpret_cast<std::uint32_t*>(to);
      const std::uint32_t result =
          finish.kind == Kind::land ? barrier.result_and : barrier.result_or;
      *mask = (*mask & ~group.lanes) | (result & group.lanes);
    }
    return;
  }
}

void add_barriers(FormTable& table) {
  constexpr Traits only_reads{.effect = Effect::acts, .only_reads = true};
  const FormTable::Family family(table, {.effect = Effect::acts});
  for (const auto& [name, aligned] :
       {std::pair{"bar", ""}, std::pair{"barrier", ""}, std::pair{"barrier", ".aligned"}}) {
    table.add({name, ".sync", aligned}, "w?w", barrier<Kind::sync, true>, only_reads);
    table.add({name, ".arrive", aligned}, "ww", barrier<Kind::arrive, true>, only_reads);
    table.add({name, ".red.popc", aligned, ".u32"}, "wwp", barrier<Kind::popc, false>);
    table.add({name, ".red.popc", aligned, ".u32"}, "wwwp", barrier<Kind::popc, true>);
    table.add({name, ".red.and", aligned, ".pred"}, "pwp", barrier<Kind::land, false>);
    table.add({name, ".red.and", aligned, ".pred"}, "pwwp", barrier<Kind::land, true>);
    table.add({name, ".red.or", aligned, ".pred"}, "pwp", barrier<Kind::lor, false>);
    table.add({name, ".red.or", aligned, ".pred"}, "pwwp", barrier<Kind::lor, true>);
  }
  for (const char* const aligned : {"", ".aligned"}) {
    for (const char* const order : {"", ".release", ".relaxed"}) {
      table.add({"barrier.cluster.arrive", order, aligned}, "", cluster_arrive);
    }
    for (const char* const order : {"", ".acquire"}) {
      table.add({"barrier.cluster.wait", order, aligned}, "", cluster_wait);
    }
  }
}

}  // namespace cudacore::simulator
