// SPDX-License-Identifier: Apache-2.0
//
// Memory that is allocated and freed in stream order.
#include <memory>
#include <utility>

#include "simulator/api/graph/graph_memory.hpp"
#include "simulator/api/memory/memory_pool.hpp"
#include "simulator/api/stream/stream.hpp"

namespace cudacore::simulator {

namespace {

/// Frees memory when it is its turn, or when it is dropped.
class FreeMemory final : public Work {
 public:
  explicit FreeMemory(std::shared_ptr<MemoryObject> object) : object_(std::move(object)) {}
  ~FreeMemory() override { release(); }

  Progress run(const Turn&) noexcept override {
    release();
    return Progress::done;
  }

 private:
  void release() noexcept {
    const std::shared_ptr<MemoryObject> object = std::exchange(object_, nullptr);
    if (object == nullptr) return;
    if (object->pool != nullptr) {
      object->pool->release(*object);
    } else {
      release_memory(*object);
    }
  }

  std::shared_ptr<MemoryObject> object_;
};

CUresult allocate(const Stream& stream, CUdeviceptr* pointer, std::size_t size, MemoryPool& pool) {
  if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (size == 0) {  // not an error here, unlike in cuMemAlloc
    *pointer = 0;
    return CUDA_SUCCESS;
  }
  if (pool.is_imported()) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "an imported pool allocates nothing");
  }
  if (stream.is_capturing()) return capture_allocation(stream, pool.properties, size, *pointer);
  const std::shared_ptr<MemoryObject> object = pool.allocate(size);
  if (object == nullptr) return refuse(CUDA_ERROR_OUT_OF_MEMORY, "the pool has too little memory");
  *pointer = object->allocation.address;
  return CUDA_SUCCESS;
}

CUresult allocate_from_current(CUdeviceptr* pointer, std::size_t size, CUstream handle) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    return allocate(*stream, pointer, size, *current_pool(stream->context.device));
  });
}

CUresult allocate_from(CUdeviceptr* pointer, std::size_t size, CUmemoryPool handle,
                       CUstream stream_handle) {
  return stream_call(stream_handle, [&](const std::shared_ptr<Stream>& stream) {
    const std::shared_ptr<MemoryPool> pool = registry().pools.find(handle);
    if (pool == nullptr) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "the handle is not one of a live memory pool");
    }
    return allocate(*stream, pointer, size, *pool);
  });
}

CUresult free_in_order(CUdeviceptr pointer, CUstream handle) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (pointer == 0) return CUDA_SUCCESS;
    if (stream->is_capturing()) return capture_free(*stream, pointer);
    std::shared_ptr<MemoryObject> object =
        MemoryTable::instance().take(pointer, [](const MemoryObject& candidate) {
          return candidate.origin == Origin::pool || candidate.origin == Origin::device;
        });
    if (object == nullptr) {
      if (auto memory = free_graph_memory(pointer)) {
        return stream->enqueue(make_hold(std::move(memory)));
      }
      return refuse(CUDA_ERROR_INVALID_VALUE,
                    "no memory that can be freed in a stream begins at the address");
    }
    const std::shared_ptr<MemoryPool> pool = object->pool;
    const std::size_t size = object->allocation.size;
    Point point{stream->queue, 0};
    const CUresult result =
        stream->enqueue(std::make_unique<FreeMemory>(std::move(object)), {}, &point.sequence);
    if (result == CUDA_SUCCESS && pool != nullptr) pool->note_free(std::move(point), size);
    return result;
  });
}

}  // namespace

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuMemAllocAsync(CUdeviceptr* pointer, std::size_t size, CUstream stream) {
  return allocate_from_current(pointer, size, stream);
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr* pointer, std::size_t size, CUmemoryPool pool,
                                 CUstream stream) {
  return allocate_from(pointer, size, pool, stream);
}

CUresult cuMemFreeAsync(CUdeviceptr pointer, CUstream stream) {
  return free_in_order(pointer, stream);
}

}  // extern "C"
