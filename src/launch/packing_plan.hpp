// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

#include "launch/packing.hpp"

namespace cudacore::handle {

/// A parameter of which nothing else is known.
[[nodiscard]] inline Param make_param(ParamKind kind, std::size_t size) {
  Param param;
  param.kind = kind;
  param.size = size;
  return param;
}

/// How a launch lays out its arguments: one slot for each parameter, and the room for all.
struct PackingPlan {
  std::vector<Slot> slots;
  std::size_t bytes = 0;  ///< a multiple of 16

  PackingPlan() = default;
  explicit PackingPlan(std::span<const Param> params);
};

}  // namespace cudacore::handle
