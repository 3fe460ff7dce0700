// SPDX-License-Identifier: Apache-2.0
//
// What a context reports about itself, and what can be set in it.
#include <algorithm>

#include "simulator/api/context/contexts.hpp"
#include "simulator/api/entry.hpp"
#include "simulator/api/stream/capture.hpp"
#include "simulator/memory/round_up.hpp"

using namespace cudacore::simulator;

namespace {

constexpr std::size_t largest_stack = std::size_t{512} << 10U;
constexpr std::size_t stack_granularity = 16;
constexpr std::size_t largest_l2_granularity = 128;
constexpr int least_priority = 0;
constexpr int greatest_priority = -5;

bool has_limit(const Context& context, CUlimit limit) noexcept {
  switch (limit) {
    case CU_LIMIT_STACK_SIZE:
    case CU_LIMIT_PRINTF_FIFO_SIZE:
    case CU_LIMIT_MALLOC_HEAP_SIZE:
    case CU_LIMIT_DEV_RUNTIME_PENDING_LAUNCH_COUNT:
    case CU_LIMIT_MAX_L2_FETCH_GRANULARITY:
    case CU_LIMIT_PERSISTING_L2_CACHE_SIZE:
    case CU_LIMIT_SHMEM_SIZE:
    case CU_LIMIT_CIG_ENABLED:
      return true;
    case CU_LIMIT_DEV_RUNTIME_SYNC_DEPTH:
      return context.device.properties.major < 9;
    default:
      return false;
  }
}

CUresult check_limit(const Context& context, CUlimit limit) noexcept {
  if (static_cast<int>(limit) < 0 || limit >= CU_LIMIT_MAX) return CUDA_ERROR_INVALID_VALUE;
  return has_limit(context, limit) ? CUDA_SUCCESS : CUDA_ERROR_UNSUPPORTED_LIMIT;
}

/// Calls body(Context&) with the handle's context, or the current one for null.
template <class Body>
CUresult with_context(CUcontext handle, Body&& body) noexcept {
  return driver_call([&] {
    if (handle == nullptr) {
      Context* current = nullptr;
      const CUresult status = current_context_even_broken(current);
      return status == CUDA_SUCCESS ? body(*current) : status;
    }
    CUresult status = CUDA_SUCCESS;
    const auto context = find_context(handle, status);
    return context != nullptr ? body(*context) : status;
  });
}

CUresult get_device(CUdevice* device, CUcontext handle) {
  return with_context(handle, [&](const Context& context) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = context.device.ordinal;
    return CUDA_SUCCESS;
  });
}

/// The context whose device's memory the current context should access.
CUresult find_peer(const Context& context, CUcontext handle, std::uint64_t& bit) {
  CUresult status = CUDA_SUCCESS;
  const auto peer = find_context(handle, status);
  if (peer == nullptr) return status;
  if (&peer->device == &context.device) {
    return refuse(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, "a device is not a peer of itself");
  }
  bit = std::uint64_t{1} << static_cast<unsigned>(peer->device.ordinal);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuCtxGetDevice(CUdevice* device) { return get_device(device, nullptr); }
CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  return get_device(device, context);
}

CUresult cuCtxGetId(CUcontext handle, unsigned long long* id) {
  return with_context(handle, [&](const Context& context) {
    if (id == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *id = context.id;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetApiVersion(CUcontext handle, unsigned* version) {
  return with_context(handle, [&](const Context&) {
    if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *version = 3020;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetFlags(unsigned* flags) {
  return with_context(nullptr, [&](const Context& context) {
    if (flags == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *flags = context.flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetFlags(unsigned flags) {
  return context_call([&](Context& context) {
    if (!are_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    context.flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return context_call([](Context& context) {
    const CUresult status = check_context_capture(context);
    return status == CUDA_SUCCESS ? synchronize_context(context) : status;
  });
}

CUresult cuCtxSynchronize_v2(CUcontext handle) {
  return with_context(handle, [](Context& context) {
    Context& synchronized = context.worked_in();
    const CUresult error = synchronized.status();
    if (error != CUDA_SUCCESS) return error;
    const CUresult status = check_context_capture(synchronized);
    return status == CUDA_SUCCESS ? synchronize_context(synchronized) : status;
  });
}

CUresult cuCtxSetLimit(CUlimit limit, std::size_t value) {
  return context_call([&](Context& context) {
    if (const CUresult result = check_limit(context, limit); result != CUDA_SUCCESS) return result;
    if (limit == CU_LIMIT_SHMEM_SIZE || limit == CU_LIMIT_CIG_ENABLED) {
      return CUDA_ERROR_INVALID_VALUE;  // can only be queried
    }
    if (limit == CU_LIMIT_STACK_SIZE) {
      if (value > largest_stack) return CUDA_ERROR_INVALID_VALUE;
      value = round_up(value, stack_granularity);
    }
    // Hints, which the driver clamps.
    if (limit == CU_LIMIT_MAX_L2_FETCH_GRANULARITY) value = std::min(value, largest_l2_granularity);
    if (limit == CU_LIMIT_PERSISTING_L2_CACHE_SIZE) {
      value = std::min(value, context.device.properties.persisting_l2);
    }
    context.limits[limit] = value;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetLimit(std::size_t* value, CUlimit limit) {
  return context_call([&](const Context& context) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = check_limit(context, limit); result != CUDA_SUCCESS) return result;
    *value = context.limits[limit];
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCacheConfig(CUfunc_cache* config) {
  return context_call([&](const Context& context) {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = context.cache_config;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCacheConfig(CUfunc_cache config) {
  return context_call([&](Context& context) {
    if (config < CU_FUNC_CACHE_PREFER_NONE || config > CU_FUNC_CACHE_PREFER_EQUAL) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    context.cache_config = config;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetSharedMemConfig(CUsharedconfig* config) {
  return context_call([&](const Context& context) {
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *config = context.shared_config;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetSharedMemConfig(CUsharedconfig config) {
  return context_call([&](Context& context) {
    if (config < CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE ||
        config > CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    context.shared_config = config;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  return context_call([&](const Context&) {
    if (least != nullptr) *least = least_priority;
    if (greatest != nullptr) *greatest = greatest_priority;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxResetPersistingL2Cache() {
  return context_call([](const Context&) { return CUDA_SUCCESS; });
}

CUresult cuCtxGetExecAffinity(CUexecAffinityParam* affinity, CUexecAffinityType type) {
  return context_call([&](const Context& context) {
    if (affinity == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (type != CU_EXEC_AFFINITY_TYPE_SM_COUNT) return CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY;
    affinity->type = type;
    affinity->param.smCount.val = context.device.properties.multiprocessors;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags) {
  return context_call([&](Context& context) {
    if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
    std::uint64_t bit = 0;
    if (const CUresult result = find_peer(context, handle, bit); result != CUDA_SUCCESS) {
      return result;
    }
    return (context.readable_devices.fetch_or(bit) & bit) != 0
               ? CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED
               : CUDA_SUCCESS;
  });
}

CUresult cuCtxDisablePeerAccess(CUcontext handle) {
  return context_call([&](Context& context) {
    std::uint64_t bit = 0;
    if (const CUresult result = find_peer(context, handle, bit); result != CUDA_SUCCESS) {
      return result;
    }
    return (context.readable_devices.fetch_and(~bit) & bit) != 0
               ? CUDA_SUCCESS
               : CUDA_ERROR_PEER_ACCESS_NOT_ENABLED;
  });
}

}  // extern "C"
