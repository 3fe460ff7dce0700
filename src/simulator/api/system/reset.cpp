// SPDX-License-Identifier: Apache-2.0
//
// A fresh start for the whole process, for example after a fault.
#include <mutex>

#include "simulator/api/context/contexts.hpp"
#include "simulator/api/entry.hpp"
#include "simulator/api/graph/graph_memory.hpp"
#include "simulator/api/memory/memory_object.hpp"
#include "simulator/api/memory/memory_pool.hpp"

/// Destroys all contexts, with what runs in them and what they own, and frees the memory of pools.
/// Pools, libraries and kernels remain. Also returns CUDA_SUCCESS if nothing has been used yet.
extern "C" [[gnu::visibility("default")]] CUresult cudacoreSimulatorReset() {
  using namespace cudacore::simulator;
  return driver_call([] {
    destroy_all_contexts();
    for (const auto& device : registry().devices) {
      const std::scoped_lock lock(device->mutex);
      forget_ended_primary(*device);  // another thread may already have created a new one
      device->current_pool = nullptr;
    }
    free_all_graph_memory();
    for (const auto& object : MemoryTable::instance().take_all_of_pools()) {
      object->pool->release(*object);
    }
    return CUDA_SUCCESS;
  });
}
