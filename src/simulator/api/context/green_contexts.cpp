// SPDX-License-Identifier: Apache-2.0
//
// Green contexts: contexts whose work runs in the primary context, and which only report their
// share of its multiprocessors. A CUgreenCtx is the handle of its CUcontext.
#include <algorithm>
#include <cstring>
#include <mutex>

#include "simulator/api/context/contexts.hpp"
#include "simulator/api/context/device_resources.hpp"
#include "simulator/api/entry.hpp"
#include "simulator/api/stream/stream.hpp"

using namespace cudacore::simulator;

namespace {

CUcontext context_handle(CUgreenCtx green) noexcept { return reinterpret_cast<CUcontext>(green); }
CUgreenCtx green_handle(CUcontext context) noexcept {
  return reinterpret_cast<CUgreenCtx>(context);
}

/// CUresult body(const std::shared_ptr<Context>&), with a live green context.
template <class Body>
CUresult green_call(CUgreenCtx handle, Body&& body) noexcept {
  return driver_call([&] {
    CUresult status = CUDA_SUCCESS;
    const auto context = find_context(context_handle(handle), status);
    if (context == nullptr) return status;
    return context->base != nullptr ? body(context) : CUDA_ERROR_INVALID_CONTEXT;
  });
}

CUresult get_resource(const Context& context, CUdevResource* resource, CUdevResourceType type) {
  if (resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_DEV_RESOURCE_TYPE_SM && type != workqueue_config_type) {
    return CUDA_ERROR_INVALID_RESOURCE_TYPE;
  }
  if (context.resources == nullptr)
    return cuDeviceGetDevResource(context.device.ordinal, resource, type);
  *resource = type == CU_DEV_RESOURCE_TYPE_SM ? context.resources->multiprocessors
                                              : context.resources->queues;
  return CUDA_SUCCESS;
}

/// The resources of a descriptor together.
GreenResources merge(const ListedResources& listed, const Device& device) {
  GreenResources merged{multiprocessors_of(device), queues_of(device), listed};
  unsigned count = 0;
  for (const CUdevResource& resource : *listed) {
    if (resource.type != CU_DEV_RESOURCE_TYPE_SM) {
      merged.queues = resource;
      continue;
    }
    count += multiprocessors(resource).count;
    merged.multiprocessors = resource;
  }
  if (count != 0) {
    MultiprocessorFields fields = multiprocessors(merged.multiprocessors);
    fields.count = count;
    std::memcpy(&merged.multiprocessors.sm, &fields, sizeof(fields));
  }
  return merged;
}

}  // namespace

extern "C" {

CUresult cuGreenCtxCreate(CUgreenCtx* handle, CUdevResourceDesc descriptor, CUdevice ordinal,
                          unsigned flags) {
  return driver_call([&] {
    if (handle == nullptr || (flags & ~unsigned{CU_GREEN_CTX_DEFAULT_STREAM}) != 0) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    Device* device = find_device(ordinal);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    const ListedResources listed = use_descriptor(descriptor);
    if (listed == nullptr || device_of(listed->front()) != device) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "the descriptor is none of resources of this device");
    }
    CUcontext primary = nullptr;
    const CUresult status = cuDevicePrimaryCtxRetain(&primary, ordinal);
    if (status != CUDA_SUCCESS) return status;
    CUresult found = CUDA_SUCCESS;
    const auto context = make_context(*device, false, 0);
    context->resources = std::make_unique<GreenResources>(merge(listed, *device));
    context->base = find_context(primary, found);
    *handle = green_handle(context->handle);
    return found;
  });
}

CUresult cuGreenCtxDestroy(CUgreenCtx handle) {
  return green_call(handle, [](const std::shared_ptr<Context>& context) {
    destroy_context(context);
    return cuDevicePrimaryCtxRelease_v2(context->device.ordinal);
  });
}

CUresult cuCtxFromGreenCtx(CUcontext* context, CUgreenCtx handle) {
  return green_call(handle, [&](const std::shared_ptr<Context>& green) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = green->handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxGetId(CUgreenCtx handle, unsigned long long* id) {
  return green_call(handle, [&](const std::shared_ptr<Context>& green) {
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *id = green->id;
    return CUDA_SUCCESS;
  });
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource* resource,
                                  CUdevResourceType type) {
  return green_call(handle, [&](const std::shared_ptr<Context>& green) {
    return get_resource(*green, resource, type);
  });
}

CUresult cuCtxGetDevResource(CUcontext handle, CUdevResource* resource, CUdevResourceType type) {
  return driver_call([&] {
    CUresult status = CUDA_SUCCESS;
    const auto context = find_context(handle, status);
    return context != nullptr ? get_resource(*context, resource, type) : status;
  });
}

CUresult cuGreenCtxStreamCreate(CUstream* handle, CUgreenCtx green, unsigned flags, int priority) {
  return green_call(green, [&](const std::shared_ptr<Context>& context) {
    if (flags != CU_STREAM_NON_BLOCKING) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "a stream of a green context must be non-blocking");
    }
    if (const CUresult status = context->base->status(); status != CUDA_SUCCESS) return status;
    return create_stream(handle, *context->base, context, flags, priority);
  });
}

CUresult cuStreamGetGreenCtx(CUstream handle, CUgreenCtx* green) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (green == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *green = stream->green != nullptr ? green_handle(stream->green->handle) : nullptr;
    return CUDA_SUCCESS;
  });
}

[[gnu::visibility("default")]] CUresult cuStreamGetDevResource(CUstream handle,
                                                               CUdevResource* resource,
                                                               CUdevResourceType type) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_RESOURCE_TYPE;
    return get_resource(stream->green != nullptr ? *stream->green : stream->context, resource,
                        type);
  });
}

}  // extern "C"
