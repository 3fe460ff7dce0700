// SPDX-License-Identifier: Apache-2.0
//
// A fresh start for the whole process, after a fault say.
#include <mutex>

#include "simulator/api/contexts.hpp"
#include "simulator/api/entry.hpp"
#include "simulator/api/memory_object.hpp"
#include "simulator/api/memory_pool.hpp"

/// Ends all contexts, what runs in them and what they own, and frees the memory of pools. Pools,
/// libraries and kernels stay. CUDA_SUCCESS too where nothing was begun yet.
extern "C" [[gnu::visibility("default")]] CUresult cudacoreSimulatorReset() {
  using namespace cudacore::simulator;
  return driver_call([] {
    destroy_all_contexts();
    for (const auto& device : registry().devices) {
      const std::scoped_lock lock(device->mutex);
      forget_ended_primary(*device);  // another thread may have made a new one already
      device->current_pool = nullptr;
    }
    for (const auto& object : MemoryTable::instance().take_all_of_pools()) {
      object->pool->release(*object);
    }
    return CUDA_SUCCESS;
  });
}
