// SPDX-License-Identifier: Apache-2.0
//
// Streams: creating, destroying, querying and waiting for them.
#include <memory>
#include <utility>

#include "simulator/api/stream/capture.hpp"
#include "simulator/api/stream/host_thread.hpp"
#include "simulator/api/stream/simple_actions.hpp"
#include "simulator/api/stream/stream.hpp"
#include "simulator/memory/address_space.hpp"

using namespace cudacore::simulator;

CUresult cudacore::simulator::create_stream(CUstream* handle, Context& context,
                                            std::shared_ptr<Context> green, unsigned flags,
                                            int priority) {
  if (handle == nullptr || (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  ContextStreams& streams = *context.streams;
  const QueueKind kind =
      (flags & CU_STREAM_NON_BLOCKING) != 0 ? QueueKind::non_blocking : QueueKind::blocking;
  const auto stream = std::make_shared<Stream>(context, context.shared_from_this(),
                                               streams.group->create_queue(kind), flags, priority);
  stream->green = std::move(green);
  const std::scoped_lock lock(streams.mutex);
  stream->handle = registry().streams.insert(stream);
  streams.streams.insert(stream->handle);
  *handle = stream->handle;
  return CUDA_SUCCESS;
}

namespace {

CUresult create_in_current_context(CUstream* handle, unsigned flags, int priority) {
  return context_call([&](Context& context) {
    return create_stream(handle, context, current_green_context(), flags, priority);
  });
}

/// Writes the result of get(stream) to *out.
template <class Out, class Get>
CUresult tell(CUstream handle, Out* out, Get&& get) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = get(*stream);
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return create_in_current_context(stream, flags, least_stream_priority);
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return create_in_current_context(stream, flags, priority);
}

CUresult cuStreamDestroy_v2(CUstream handle) {
  return driver_call([&] {
    const std::shared_ptr<Stream> stream = registry().streams.erase(handle);
    if (stream == nullptr) return refuse(CUDA_ERROR_INVALID_HANDLE, "not a live stream");
    const std::scoped_lock lock(stream->context.streams->mutex);
    stream->context.streams->streams.erase(handle);
    return stream->context.error();
  });
}

CUresult cuStreamDestroy(CUstream handle) { return cuStreamDestroy_v2(handle); }

CUresult cuStreamSynchronize(CUstream handle) {
  return stream_call(handle,
                     [](const std::shared_ptr<Stream>& stream) { return stream->synchronize(); });
}

CUresult cuStreamQuery(CUstream handle) {
  return stream_call(handle, [](const std::shared_ptr<Stream>& stream) {
    if (const CUresult status = stream->check_capture(); status != CUDA_SUCCESS) return status;
    const CUresult result = stream->queue->query();
    const CUresult status = stream->context.status();
    return status != CUDA_SUCCESS ? status : result;
  });
}

CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  return tell(handle, priority, [](Stream& stream) {
    const std::scoped_lock lock(stream.mutex);
    return stream.priority;
  });
}

CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
  return tell(handle, flags, [](const Stream& stream) { return stream.flags; });
}

CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (stream->is_capturing()) return refuse_in_capture(*stream);  // as an H200's driver does
    *id = stream->id;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetDevice(CUstream handle, CUdevice* device) {
  return tell(handle, device, [](const Stream& stream) { return stream.context.device.ordinal; });
}

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  return tell(handle, context, [](const Stream& stream) {
    return stream.green != nullptr ? stream.green->handle : stream.context.handle;
  });
}
CUresult cuStreamGetCtx_v2(CUstream handle, CUcontext* context, CUgreenCtx* green) {
  const CUresult result =
      tell(handle, context, [](const Stream& stream) { return stream.context.handle; });
  return result == CUDA_SUCCESS && green != nullptr ? cuStreamGetGreenCtx(handle, green) : result;
}

CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (stream->is_capturing()) return capture(*stream, make_host_action(function, data));
    return stream->enqueue(std::make_unique<HostFunction>(function, data));
  });
}

CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback callback, void* data,
                             unsigned flags) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return stream->enqueue(std::make_unique<StreamCallback>(callback, handle, data));
  });
}

CUresult cuStreamAttachMemAsync(CUstream handle, CUdeviceptr pointer, std::size_t length,
                                unsigned flags) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (const CUresult status = stream->check_capture(); status != CUDA_SUCCESS) return status;
    const bool one_way = flags == CU_MEM_ATTACH_GLOBAL || flags == CU_MEM_ATTACH_HOST ||
                         flags == CU_MEM_ATTACH_SINGLE;
    const auto allocation = AddressSpace::instance().find(pointer);
    const bool whole =
        allocation && allocation->kind == MemoryKind::managed &&
        (length == 0 || (pointer == allocation->address && length == allocation->size));
    if (!one_way || !whole) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "cuStreamAttachMemAsync takes whole managed memory");
    }
    // The host and the devices can access managed memory at any time, whatever it is attached to.
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
