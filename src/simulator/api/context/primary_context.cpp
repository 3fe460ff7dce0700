// SPDX-License-Identifier: Apache-2.0
//
// Each device's shared context.
#include <mutex>
#include <utility>

#include "simulator/api/context/contexts.hpp"
#include "simulator/api/entry.hpp"
#include "simulator/api/memory/memory_pool.hpp"

using namespace cudacore::simulator;

namespace {

/// CUresult body(Device&).
template <class Body>
CUresult primary_call(CUdevice ordinal, Body&& body) noexcept {
  return driver_call([&] {
    Device* device = find_device(ordinal);
    return device != nullptr ? body(*device) : CUDA_ERROR_INVALID_DEVICE;
  });
}

/// Removes the primary context from its device, so that it can be destroyed without the device's
/// lock: its host callbacks may still call the driver.
std::shared_ptr<Context> take_primary(Device& device) {
  return std::exchange(device.primary, nullptr);
}

}  // namespace

void cudacore::simulator::forget_ended_primary(Device& device) noexcept {
  if (device.primary == nullptr || !ended_with_all(*device.primary)) return;
  device.primary = nullptr;  // any thread to which it is current still owns it
  device.primary_references = 0;
}

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext* handle, CUdevice ordinal) {
  return primary_call(ordinal, [&](Device& device) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::scoped_lock lock(device.mutex);
    forget_ended_primary(device);
    if (device.primary == nullptr) {
      device.primary = make_context(device, true, device.primary_flags);
      device.primary->readable_devices |= devices_open_to(device);
    }
    ++device.primary_references;
    *handle = device.primary->handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice ordinal) {
  return primary_call(ordinal, [](Device& device) {
    std::shared_ptr<Context> ended;
    {
      const std::scoped_lock lock(device.mutex);
      if (device.primary_references == 0) {
        return refuse(CUDA_ERROR_INVALID_CONTEXT,
                      "the primary context was released more often "
                      "than it was retained");
      }
      if (--device.primary_references == 0) ended = take_primary(device);
    }
    if (ended != nullptr) destroy_context(ended);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease(CUdevice device) { return cuDevicePrimaryCtxRelease_v2(device); }

CUresult cuDevicePrimaryCtxReset_v2(CUdevice ordinal) {
  return primary_call(ordinal, [](Device& device) {
    std::shared_ptr<Context> ended;
    {
      const std::scoped_lock lock(device.mutex);
      ended = take_primary(device);
    }
    if (ended != nullptr) destroy_context(ended);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxReset(CUdevice device) { return cuDevicePrimaryCtxReset_v2(device); }

CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice ordinal, unsigned flags) {
  return primary_call(ordinal, [&](Device& device) {
    if (!are_context_flags(flags)) return CUDA_ERROR_INVALID_VALUE;
    const std::scoped_lock lock(device.mutex);
    device.primary_flags = flags;
    if (device.primary != nullptr) device.primary->flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxSetFlags(CUdevice device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags_v2(device, flags);
}

CUresult cuDevicePrimaryCtxGetState(CUdevice ordinal, unsigned* flags, int* active) {
  return primary_call(ordinal, [&](Device& device) {
    if (flags == nullptr || active == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::scoped_lock lock(device.mutex);
    *flags = device.primary_flags;
    *active = device.primary != nullptr ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
