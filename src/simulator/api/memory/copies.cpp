// SPDX-License-Identifier: Apache-2.0
//
// Copies of contiguous bytes.
#include <cstdint>
#include <memory>
#include <span>
#include <utility>

#include "simulator/api/context/contexts.hpp"
#include "simulator/api/memory/copy.hpp"
#include "simulator/api/memory/memory_actions.hpp"
#include "simulator/api/stream/capture.hpp"

using namespace cudacore::simulator;

namespace {

/// Captures a copy of contiguous bytes.
CUresult capture_row(const Stream& stream, std::uint64_t to, std::uint64_t from, std::size_t size) {
  if (size == 0) return CUDA_SUCCESS;
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = size;
  copy.Height = 1;
  copy.Depth = 1;
  copy.dstMemoryType = memory_type_of(to);
  copy.dstHost = reinterpret_cast<void*>(to);
  copy.dstDevice = to;
  copy.srcMemoryType = memory_type_of(from);
  copy.srcHost = reinterpret_cast<const void*>(from);
  copy.srcDevice = from;
  return capture_copy(stream, copy);
}

std::uint64_t address_of(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

CUresult copy_row(const Stream& stream, std::uint64_t to, Side to_side, std::uint64_t from,
                  Side from_side, std::size_t size, Synchrony synchrony) {
  auto target = find_target(to, size, to_side);
  auto source = find_range(from, size, from_side);
  if (!target || !source) return CUDA_ERROR_INVALID_VALUE;
  if (synchrony == Synchrony::asynchronous && stream.is_capturing()) {
    return capture_row(stream, to, from, size);
  }
  return copy(stream, std::move(*target), {}, std::move(*source), {}, {.width = size}, synchrony);
}

CUresult copy_now(std::uint64_t to, Side to_side, std::uint64_t from, Side from_side,
                  std::size_t size) {
  return stream_call(nullptr, [&](const std::shared_ptr<Stream>& stream) {
    return copy_row(*stream, to, to_side, from, from_side, size, Synchrony::synchronous);
  });
}

CUresult copy_later(std::uint64_t to, Side to_side, std::uint64_t from, Side from_side,
                    std::size_t size, CUstream handle) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    return copy_row(*stream, to, to_side, from, from_side, size, Synchrony::asynchronous);
  });
}

CUresult check_contexts(CUcontext one, CUcontext other) {
  for (CUcontext handle : {one, other}) {
    CUresult status = CUDA_SUCCESS;
    if (find_context(handle, status) == nullptr) return status;
  }
  return CUDA_SUCCESS;
}

CUresult copy_peer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                   std::size_t size, CUstream handle, Synchrony synchrony) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    const CUresult status = check_contexts(to_context, from_context);
    if (status != CUDA_SUCCESS) return status;
    return copy_row(*stream, to, Side::device, from, Side::device, size, synchrony);
  });
}

struct Batch {
  std::span<const CUdeviceptr> to;
  std::span<const CUdeviceptr> from;
  std::span<const std::size_t> sizes;
  std::span<const CUmemcpyAttributes> attributes;
  std::span<const std::size_t> attribute_begins;
};

bool is_valid(const Batch& batch) {
  if (batch.attributes.empty() || batch.attribute_begins.front() != 0) return false;
  for (const CUmemcpyAttributes& attributes : batch.attributes) {
    if (attributes.srcAccessOrder < CU_MEMCPY_SRC_ACCESS_ORDER_STREAM ||
        attributes.srcAccessOrder > CU_MEMCPY_SRC_ACCESS_ORDER_ANY) {
      return false;
    }
  }
  for (std::size_t i = 1; i < batch.attribute_begins.size(); ++i) {
    const std::size_t begin = batch.attribute_begins[i];
    if (begin <= batch.attribute_begins[i - 1] || begin >= batch.to.size()) return false;
  }
  return true;
}

CUresult copy_batch(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes, std::size_t count,
                    CUmemcpyAttributes* attributes, std::size_t* attribute_begins,
                    std::size_t attribute_count, std::size_t* failed, CUstream handle) {
  if (failed != nullptr) *failed = SIZE_MAX;
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (to == nullptr || from == nullptr || sizes == nullptr || count == 0 ||
        attributes == nullptr || attribute_begins == nullptr || attribute_count > count) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    if (stream->queue->kind() == QueueKind::legacy) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "batches don't go to the legacy default stream");
    }
    if (stream->is_capturing()) return refuse_in_capture(*stream);
    const Batch batch{{to, count},
                      {from, count},
                      {sizes, count},
                      {attributes, attribute_count},
                      {attribute_begins, attribute_count}};
    if (!is_valid(batch)) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i) {
      if (sizes[i] == 0 || !find_target(to[i], sizes[i], Side::any) ||
          !find_range(from[i], sizes[i], Side::any)) {
        if (failed != nullptr) *failed = i;
        return CUDA_ERROR_INVALID_VALUE;
      }
    }
    for (std::size_t i = 0; i < count; ++i) {
      const CUresult result = copy_row(*stream, to[i], Side::any, from[i], Side::any, sizes[i],
                                       Synchrony::asynchronous);
      if (result != CUDA_SUCCESS) return result;
    }
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, std::size_t size) {
  return copy_now(to, Side::any, from, Side::any, size);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return copy_later(to, Side::any, from, Side::any, size, stream);
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, std::size_t size) {
  return copy_now(to, Side::device, address_of(from), Side::any, size);
}
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, std::size_t size, CUstream stream) {
  return copy_later(to, Side::device, address_of(from), Side::any, size, stream);
}

CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, std::size_t size) {
  return copy_now(address_of(to), Side::any, from, Side::device, size);
}
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return copy_later(address_of(to), Side::any, from, Side::device, size, stream);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, std::size_t size) {
  return copy_now(to, Side::device, from, Side::device, size);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t size, CUstream stream) {
  return copy_later(to, Side::device, from, Side::device, size, stream);
}

CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                      CUcontext from_context, std::size_t size) {
  return copy_peer(to, to_context, from, from_context, size, nullptr, Synchrony::synchronous);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, std::size_t size, CUstream stream) {
  return copy_peer(to, to_context, from, from_context, size, stream, Synchrony::asynchronous);
}

CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes,
                            std::size_t count, CUmemcpyAttributes* attributes,
                            std::size_t* attribute_begins, std::size_t attribute_count,
                            std::size_t* failed, CUstream stream) {
  return copy_batch(to, from, sizes, count, attributes, attribute_begins, attribute_count, failed,
                    stream);
}
CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, std::size_t* sizes,
                               std::size_t count, CUmemcpyAttributes* attributes,
                               std::size_t* attribute_begins, std::size_t attribute_count,
                               CUstream stream) {
  return copy_batch(to, from, sizes, count, attributes, attribute_begins, attribute_count, nullptr,
                    stream);
}

}  // extern "C"
