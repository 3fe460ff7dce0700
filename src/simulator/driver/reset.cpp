// SPDX-License-Identifier: Apache-2.0
//
// A fresh start for the whole process, after a fault say.
#include <mutex>

#include "simulator/driver/contexts.hpp"
#include "simulator/driver/entry.hpp"
#include "simulator/driver/memory_object.hpp"
#include "simulator/driver/memory_pool.hpp"

/// Ends all contexts, what runs in them and what they own, and frees the memory of pools. Pools,
/// libraries and kernels stay. CUDA_SUCCESS too where nothing was begun yet.
extern "C" [[gnu::visibility("default")]] CUresult cudacoreSimulatorReset() {
  using namespace cudacore::simulator;
  return driver_call([] {
    for (const auto& device : registry().devices) {
      const std::scoped_lock lock(device->mutex);
      device->primary = nullptr;  // its handle still owns it
      device->primary_references = 0;
      device->current_pool = nullptr;
    }
    destroy_all_contexts();
    for (const auto& object : MemoryTable::instance().take_all_of_pools()) {
      object->pool->release(*object);
    }
    return CUDA_SUCCESS;
  });
}
