// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bindings/heap_type.hpp"

namespace cudacore::bindings {

/// A view of the counters of a device's memory in graphs.
struct GraphMemoryAttributes {
  std::shared_ptr<GraphMemoryResource> resource;

  [[nodiscard]] std::uint64_t get(GraphMemoryAttribute attribute) const {
    return resource->attribute(attribute);
  }
};

void bind_graph_memory_attributes(py::module_& module);

}  // namespace cudacore::bindings
