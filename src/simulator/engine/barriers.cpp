// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/barriers.hpp"

#include <bit>
#include <cstdio>
#include <string>

#include "simulator/engine/fault.hpp"
#include "simulator/engine/image.hpp"
#include "simulator/engine/warp_run.hpp"

namespace cudacore::simulator {
namespace {

bool is_complete(const Block& block, const Barrier& barrier) noexcept {
  return barrier.expected == 0 ? barrier.arrived >= block.living
                               : barrier.arrived + barrier.padding >= barrier.expected;
}

std::uint32_t living_threads(const ResidentCluster& cluster) noexcept {
  std::uint32_t threads = 0;
  for (const auto& block : cluster.resident) threads += block->living;
  return threads;
}

std::string hexadecimal(std::uint32_t value) {
  char text[16];
  std::snprintf(text, sizeof text, "0x%08x", value);
  return text;
}

std::string describe(const Block& block, const Group& group) {
  // A group that waits for lanes is at the instruction; others are after it.
  const bool is_next = group.wait == Wait::lanes || group.wait == Wait::none;
  const Instruction* const at = is_next ? group.pc : group.pc - 1;
  std::string text = describe_place(*group.frame->function, *at);
  switch (group.wait) {
    case Wait::barrier: {
      const Barrier& barrier = block.barriers[group.detail];
      text += " for barrier " + std::to_string(group.detail) + ", where " +
              std::to_string(barrier.arrived) + " threads of " +
              std::to_string(barrier.expected == 0 ? block.living : barrier.expected) +
              " have arrived";
      break;
    }
    case Wait::lanes:
      text += " for the lanes " + hexadecimal(group.detail);
      break;
    case Wait::cluster:
      text += " for the cluster";
      break;
    case Wait::time:  // It ends automatically.
    case Wait::none:
      break;
  }
  return text;
}

}  // namespace

bool complete(Block& block, unsigned number) {
  Barrier& barrier = block.barriers[number];
  if (!is_complete(block, barrier)) return false;
  for (Warp& warp : block.warps) {
    for (Group& group : warp.groups) {
      if (group.wait != Wait::barrier || group.detail != number) continue;
      finish_barrier(group, barrier);
      wake(warp, group);
    }
  }
  barrier = Barrier{};
  return true;
}

bool complete_cluster(ResidentCluster& cluster) {
  if (cluster.arrived < living_threads(cluster)) return false;
  cluster.arrived = 0;
  for (const auto& block : cluster.resident) {
    for (Warp& warp : block->warps) {
      block->states[warp.index].cluster_arrived = 0;
      for (Group& group : warp.groups) {
        if (group.wait == Wait::cluster) wake(warp, group);
      }
    }
  }
  return true;
}

void threads_ended(Warp& warp, std::uint32_t lanes) {
  ResidentBlock& block = resident(*warp.block);
  block.living -= static_cast<unsigned>(std::popcount(lanes));
  if (block.living != 0) {
    for (unsigned number = 0; number < block.barriers.size(); ++number) {
      if (block.barriers[number].arrived != 0) complete(block, number);
    }
  }
  ResidentCluster& cluster = *block.home;
  if (cluster.arrived == 0) return;
  std::uint32_t& arrived = block.states[warp.index].cluster_arrived;
  cluster.arrived -= static_cast<unsigned>(std::popcount(arrived & lanes));
  arrived &= ~lanes;
  if (cluster.arrived != 0) complete_cluster(cluster);
}

void describe_places(const ResidentCluster& cluster, unsigned& left, std::string& text) {
  for (const auto& block : cluster.resident) {
    for (const Warp& warp : block->warps) {
      const auto say = [&](const Group& group) {
        if (left == 0) return;
        --left;
        text += (text.empty() ? "" : "; ") + describe_block(*block) + ", warp " +
                std::to_string(warp.index) + ", lanes " + hexadecimal(group.lanes) + " at " +
                describe(*block, group);
      };
      if (warp.active != 0) say(Group{warp.pc, warp.frame, warp.active, Wait::none, 0});
      for (const Group& group : warp.groups) say(group);
    }
  }
}

std::string describe_waits(const ResidentCluster& cluster) {
  constexpr unsigned most = 8;
  unsigned count = 0;
  std::string text;
  for (const auto& block : cluster.resident) {
    for (const Warp& warp : block->warps) {
      for (const Group& group : warp.groups) {
        if (++count > most) continue;
        text += count == 1 ? ": " : "; ";
        text += describe_block(*block) + ", warp " + std::to_string(warp.index) + ", lanes " +
                hexadecimal(group.lanes) + " at " + describe(*block, group);
      }
    }
  }
  if (count > most) text += "; and " + std::to_string(count - most) + " more groups of lanes";
  return text;
}

}  // namespace cudacore::simulator
