// SPDX-License-Identifier: Apache-2.0
//
// Streams: creating, destroying, querying and waiting for them.
#include <memory>

#include "simulator/api/host_thread.hpp"
#include "simulator/api/stream.hpp"
#include "simulator/memory/address_space.hpp"

using namespace cudacore::simulator;

namespace {

CUresult create_stream(CUstream* handle, unsigned flags, int priority) {
  return context_call([&](Context& context) {
    if (handle == nullptr || (flags & ~unsigned{CU_STREAM_NON_BLOCKING}) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    ContextStreams& streams = *context.streams;
    const QueueKind kind =
        (flags & CU_STREAM_NON_BLOCKING) != 0 ? QueueKind::non_blocking : QueueKind::blocking;
    const auto stream = std::make_shared<Stream>(
        context, context.shared_from_this(), streams.group->create_queue(kind), flags, priority);
    const std::scoped_lock lock(streams.mutex);
    stream->handle = registry().streams.insert(stream);
    streams.streams.insert(stream->handle);
    *handle = stream->handle;
    return CUDA_SUCCESS;
  });
}

CUresult synchronize(CUstream handle, bool per_thread) {
  return stream_call(handle, per_thread,
                     [](const std::shared_ptr<Stream>& stream) { return stream->synchronize(); });
}

CUresult query(CUstream handle, bool per_thread) {
  return stream_call(handle, per_thread, [](const std::shared_ptr<Stream>& stream) {
    const CUresult result = stream->queue->query();
    const CUresult status = stream->context.status();
    return status != CUDA_SUCCESS ? status : result;
  });
}

/// Writes the result of get(stream) to *out.
template <class Out, class Get>
CUresult tell(CUstream handle, bool per_thread, Out* out, Get&& get) {
  return stream_call(handle, per_thread, [&](const std::shared_ptr<Stream>& stream) {
    if (out == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *out = get(*stream);
    return CUDA_SUCCESS;
  });
}

CUresult get_priority(CUstream handle, bool per_thread, int* priority) {
  return tell(handle, per_thread, priority, [](Stream& stream) {
    const std::scoped_lock lock(stream.mutex);
    return stream.priority;
  });
}

CUresult get_flags(CUstream handle, bool per_thread, unsigned* flags) {
  return tell(handle, per_thread, flags, [](const Stream& stream) { return stream.flags; });
}

CUresult get_id(CUstream handle, bool per_thread, unsigned long long* id) {
  return tell(handle, per_thread, id, [](const Stream& stream) { return stream.id; });
}

CUresult get_device(CUstream handle, bool per_thread, CUdevice* device) {
  return tell(handle, per_thread, device,
              [](const Stream& stream) { return stream.context.device.ordinal; });
}

CUresult get_context(CUstream handle, bool per_thread, CUcontext* context) {
  return tell(handle, per_thread, context,
              [](const Stream& stream) { return stream.context.handle; });
}

CUresult get_contexts(CUstream handle, bool per_thread, CUcontext* context, CUgreenCtx* green) {
  const CUresult result = get_context(handle, per_thread, context);
  if (result == CUDA_SUCCESS && green != nullptr) *green = nullptr;
  return result;
}

CUresult launch_host_function(CUstream handle, bool per_thread, CUhostFn function, void* data) {
  return stream_call(handle, per_thread, [&](const std::shared_ptr<Stream>& stream) {
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return stream->enqueue(std::make_unique<HostFunction>(function, data));
  });
}

CUresult add_callback(CUstream handle, bool per_thread, CUstreamCallback callback, void* data,
                      unsigned flags) {
  return stream_call(handle, per_thread, [&](const std::shared_ptr<Stream>& stream) {
    if (callback == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
    return stream->enqueue(std::make_unique<StreamCallback>(callback, handle, data));
  });
}

CUresult attach_memory(CUstream handle, bool per_thread, CUdeviceptr pointer, std::size_t length,
                       unsigned flags) {
  return stream_call(handle, per_thread, [&](const std::shared_ptr<Stream>&) {
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

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return create_stream(stream, flags, least_stream_priority);
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return create_stream(stream, flags, priority);
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

CUresult cuStreamSynchronize(CUstream stream) { return synchronize(stream, false); }
CUresult cuStreamSynchronize_ptsz(CUstream stream) { return synchronize(stream, true); }

CUresult cuStreamQuery(CUstream stream) { return query(stream, false); }
CUresult cuStreamQuery_ptsz(CUstream stream) { return query(stream, true); }

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return get_priority(stream, false, priority);
}
CUresult cuStreamGetPriority_ptsz(CUstream stream, int* priority) {
  return get_priority(stream, true, priority);
}

CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return get_flags(stream, false, flags);
}
CUresult cuStreamGetFlags_ptsz(CUstream stream, unsigned* flags) {
  return get_flags(stream, true, flags);
}

CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return get_id(stream, false, id);
}
CUresult cuStreamGetId_ptsz(CUstream stream, unsigned long long* id) {
  return get_id(stream, true, id);
}

CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return get_device(stream, false, device);
}
CUresult cuStreamGetDevice_ptsz(CUstream stream, CUdevice* device) {
  return get_device(stream, true, device);
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return get_context(stream, false, context);
}
CUresult cuStreamGetCtx_ptsz(CUstream stream, CUcontext* context) {
  return get_context(stream, true, context);
}
CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  return get_contexts(stream, false, context, green);
}
CUresult cuStreamGetCtx_v2_ptsz(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  return get_contexts(stream, true, context, green);
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return launch_host_function(stream, false, function, data);
}
CUresult cuLaunchHostFunc_ptsz(CUstream stream, CUhostFn function, void* data) {
  return launch_host_function(stream, true, function, data);
}

CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data,
                             unsigned flags) {
  return add_callback(stream, false, callback, data, flags);
}
CUresult cuStreamAddCallback_ptsz(CUstream stream, CUstreamCallback callback, void* data,
                                  unsigned flags) {
  return add_callback(stream, true, callback, data, flags);
}

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr pointer, std::size_t length,
                                unsigned flags) {
  return attach_memory(stream, false, pointer, length, flags);
}
CUresult cuStreamAttachMemAsync_ptsz(CUstream stream, CUdeviceptr pointer, std::size_t length,
                                     unsigned flags) {
  return attach_memory(stream, true, pointer, length, flags);
}

}  // extern "C"
