// SPDX-License-Identifier: Apache-2.0
#include "stream_order_model.hpp"

#include <algorithm>

namespace cudacore::testing {
namespace {

StreamOrderModel* installed = nullptr;

}  // namespace

StreamOrderModel& StreamOrderModel::get() { return *installed; }

StreamOrderModel::StreamOrderModel(FakeDriver& fake, unsigned seed)
    : fake_(&fake), before_(fake.table()), random_(seed) {
  installed = this;
  driver::DriverApi& table = fake.table();
  table.cuEventRecord = [](CUevent event, CUstream stream) {
    get().require_alive(stream, "cuEventRecord");
    ++get().streams_[stream][stream];
    get().events_[event] = get().streams_[stream];
    return get().before_.cuEventRecord(event, stream);
  };
  table.cuStreamWaitEvent = [](CUstream stream, CUevent event, unsigned flags) {
    get().require_alive(stream, "cuStreamWaitEvent");
    Clock& clock = get().streams_[stream];
    for (const auto& [other, tick] : get().events_[event]) {
      clock[other] = std::max(clock[other], tick);
    }
    return get().before_.cuStreamWaitEvent(stream, event, flags);
  };
  table.cuStreamQuery = [](CUstream stream) {
    get().require_alive(stream, "cuStreamQuery");
    if (!get().flip()) return CUDA_ERROR_NOT_READY;
    get().finish(get().streams_[stream]);
    return CUDA_SUCCESS;
  };
  table.cuEventQuery = [](CUevent event) {
    if (!get().flip()) return CUDA_ERROR_NOT_READY;
    get().finish(get().events_[event]);
    return CUDA_SUCCESS;
  };
  table.cuEventSynchronize = [](CUevent event) {
    get().finish(get().events_[event]);
    return CUDA_SUCCESS;
  };
  table.cuStreamDestroy = [](CUstream stream) {
    get().require_alive(stream, "cuStreamDestroy");
    get().destroyed_[stream] = true;
    return get().before_.cuStreamDestroy(stream);
  };
  table.cuMemAllocFromPoolAsync = [](CUdeviceptr* pointer, std::size_t size, CUmemoryPool pool,
                                     CUstream stream) {
    const CUresult result = get().before_.cuMemAllocFromPoolAsync(pointer, size, pool, stream);
    if (result == CUDA_SUCCESS) {
      get().upstream_[*pointer] = size;
      // The memory must not be used before the driver has allocated it, in the stream's order.
      get().use(stream, *pointer, size);
    }
    return result;
  };
  table.cuMemFreeAsync = [](CUdeviceptr pointer, CUstream stream) {
    get().require_alive(stream, "cuMemFreeAsync");
    const std::size_t size = get().upstream_[pointer];
    get().hand_out(stream, pointer, size);
    std::erase_if(get().uses_, [&](const Use& use) {
      return use.begin >= pointer && use.end <= pointer + size;
    });
    get().upstream_.erase(pointer);
    return get().before_.cuMemFreeAsync(pointer, stream);
  };
}

StreamOrderModel::~StreamOrderModel() {
  fake_->table() = before_;
  installed = nullptr;
}

void StreamOrderModel::fail(const std::string& what) {
  if (error_.empty()) error_ = what;
}

void StreamOrderModel::require_alive(CUstream stream, const char* function) {
  if (destroyed_[stream]) fail(std::string(function) + " on a stream that was destroyed");
}

bool StreamOrderModel::is_behind(CUstream stream, const Use& use) {
  return streams_[stream][use.stream] >= use.tick || done_[use.stream] >= use.tick;
}

void StreamOrderModel::finish(const Clock& clock) {
  for (const auto& [stream, tick] : clock) done_[stream] = std::max(done_[stream], tick);
}

void StreamOrderModel::use(CUstream stream, CUdeviceptr pointer, std::size_t size) {
  const long tick = ++streams_[stream][stream];
  uses_.push_back({pointer, pointer + size, stream, tick});
}

void StreamOrderModel::hand_out(CUstream stream, CUdeviceptr pointer, std::size_t size) {
  for (const Use& use : uses_) {
    if (use.end <= pointer || use.begin >= pointer + size || is_behind(stream, use)) continue;
    fail("memory was handed out that work on another stream may still use");
  }
  std::erase_if(uses_, [&](const Use& use) {  // whatever comes later is behind this use
    return use.begin >= pointer && use.end <= pointer + size;
  });
  use(stream, pointer, size);
}

}  // namespace cudacore::testing
