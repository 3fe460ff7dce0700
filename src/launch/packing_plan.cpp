// SPDX-License-Identifier: Apache-2.0
#include "launch/packing_plan.hpp"

#include <algorithm>

namespace cudacore::handle {
namespace {

constexpr std::size_t largest_alignment = 16;

std::size_t round_up(std::size_t size, std::size_t alignment) {
  return (size + alignment - 1) / alignment * alignment;
}

/// The alignment of the packed bytes: enough for any load by the driver, and for whole words here.
std::size_t alignment(const Param& param) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  if (param.align != 0) return std::clamp(param.align, word, largest_alignment);
  std::size_t power = word;
  while (power < largest_alignment && param.size != 0 && param.size % (2 * power) == 0) power *= 2;
  return power;
}

}  // namespace

PackingPlan::PackingPlan(std::span<const Param> params) {
  slots.reserve(params.size());
  for (const Param& param : params) {
    const std::size_t offset = round_up(bytes, alignment(param));
    bytes = offset + std::max(param.size, sizeof(std::uint64_t));
    slots.push_back(make_slot(param));
    slots.back().offset = static_cast<std::uint32_t>(offset);
  }
  bytes = round_up(bytes, largest_alignment);
}

}  // namespace cudacore::handle
