// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

#include "bindings/heap_type.hpp"

namespace cudacore::bindings {

/// A view of a pool's counters and settings.
struct PoolAttributes {
  std::shared_ptr<PoolMemoryResource> pool;

  [[nodiscard]] std::uint64_t get(PoolAttribute attribute) const {
    return pool->attribute(attribute);
  }
};

void bind_pool_attributes(py::module_& module);

}  // namespace cudacore::bindings
