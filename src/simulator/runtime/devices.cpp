// SPDX-License-Identifier: Apache-2.0
//
// Devices: which there are, which is current, their attributes, limits and peers; also the driver.
#include "simulator/runtime/call.hpp"

/// From <cudaProfiler.h>, which is in a different package.
extern "C" CUresult cuProfilerStart();
extern "C" CUresult cuProfilerStop();

namespace cudacore::runtime {

namespace {

constexpr cuuint64_t per_thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;

Result count_devices(int& count) {
  const CUresult result = cuDeviceGetCount(&count);
  if (result != CUDA_SUCCESS) return result;
  return count > 0 ? cudaSuccess : cudaErrorNoDevice;
}

Result check_device(int device) {
  int count = 0;
  const Result result = count_devices(count);
  if (result.failed()) return result;
  return device >= 0 && device < count ? cudaSuccess : cudaErrorInvalidDevice;
}

constexpr unsigned mapped = 8;  // cudaDeviceMapHost, which the runtime always has

/// Sets the flags that a device will have when it is first used.
Result set_flags(int device, unsigned flags) {
  return cuDevicePrimaryCtxSetFlags(device, flags & ~mapped);
}

Result find_entry(const char* name, void** function, int version, cuuint64_t flags, int* status) {
  CUdriverProcAddressQueryResult how = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult result = cuGetProcAddress(name, function, version, flags, &how);
  if (status != nullptr) *status = how;
  return result;
}

/// CUresult body(CUcontext), with the primary context of a given device.
template <class Body>
Result with_peer(int device, Body&& body) {
  CUcontext peer = nullptr;
  const Result result = primary_context(device, peer);
  return result.failed() ? result : Result(body(peer));
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  return driver_call(
      [&] { return count != nullptr ? count_devices(*count) : Result(cudaErrorInvalidValue); });
}

cudaError_t cudaGetDevice(int* device) {
  return driver_call(
      [&] { return device != nullptr ? current_device(*device) : Result(cudaErrorInvalidValue); });
}

cudaError_t cudaSetDevice(int device) {
  return driver_call([&] {
    const Result result = check_device(device);
    return result.failed() ? result : use_device(device);
  });
}

cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags) {
  constexpr unsigned device_flags_valid = 1;
  return driver_call([&]() -> Result {
    Result result = check_device(device);
    if (!result.failed() && (flags & device_flags_valid) != 0) {
      result = set_flags(device, device_flags);
    }
    CUcontext context = nullptr;
    return result.failed() ? result : primary_context(device, context);
  });
}

/// All simulated devices are the same.
cudaError_t cudaChooseDevice(int* device, const void* properties) {
  return driver_call([&]() -> Result {
    if (device == nullptr || properties == nullptr) return cudaErrorInvalidValue;
    return current_device(*device);
  });
}

cudaError_t cudaSetValidDevices(const int* devices, int count) {
  return driver_call([&]() -> Result {
    if (count == 0) return cudaSuccess;
    if (devices == nullptr || count < 0) return cudaErrorInvalidValue;
    for (int i = 0; i < count; ++i) {
      if (const Result result = check_device(devices[i]); result.failed()) return result;
    }
    this_thread().device = devices[0];
    return cudaSuccess;
  });
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  return driver_call([&] {
    int device = 0;
    const Result result = current_device(device);
    return result.failed() ? result : set_flags(device, flags);
  });
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return driver_call([&]() -> Result {
    int device = 0;
    int is_active = 0;
    Result result = current_device(device);
    if (!result.failed()) result = cuDevicePrimaryCtxGetState(device, flags, &is_active);
    if (!result.failed()) *flags |= mapped;
    return result;
  });
}

cudaError_t cudaDeviceSynchronize() {
  return call([] { return cuCtxSynchronize(); });
}

cudaError_t cudaDeviceGetAttribute(int* value, CUdevice_attribute attribute, int device) {
  return driver_call([&] { return cuDeviceGetAttribute(value, attribute, device); });
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int size, int device) {
  return driver_call([&] { return cuDeviceGetPCIBusId(id, size, device); });
}

cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* id) {
  return driver_call([&] { return cuDeviceGetByPCIBusId(device, id); });
}

cudaError_t cudaDeviceGetLimit(std::size_t* value, CUlimit limit) {
  return call([&] { return cuCtxGetLimit(value, limit); });
}

cudaError_t cudaDeviceSetLimit(CUlimit limit, std::size_t value) {
  return call([&] { return cuCtxSetLimit(limit, value); });
}

cudaError_t cudaDeviceGetCacheConfig(CUfunc_cache* config) {
  return call([&] { return cuCtxGetCacheConfig(config); });
}

cudaError_t cudaDeviceSetCacheConfig(CUfunc_cache config) {
  return call([&] { return cuCtxSetCacheConfig(config); });
}

cudaError_t cudaDeviceGetSharedMemConfig(CUsharedconfig* config) {
  return call([&] { return cuCtxGetSharedMemConfig(config); });
}

cudaError_t cudaDeviceSetSharedMemConfig(CUsharedconfig config) {
  return call([&] { return cuCtxSetSharedMemConfig(config); });
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return call([&] { return cuCtxGetStreamPriorityRange(least, greatest); });
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  return call([] { return cuCtxResetPersistingL2Cache(); });
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  return driver_call([&] { return cuDeviceCanAccessPeer(can, device, peer); });
}

cudaError_t cudaDeviceEnablePeerAccess(int device, unsigned flags) {
  return call([&]() -> Result {
    int own = 0;
    const Result result = current_device(own);
    if (result.failed()) return result;
    if (device == own) return refuse(cudaErrorInvalidDevice, "a device is not a peer of itself");
    return with_peer(device, [&](CUcontext peer) { return cuCtxEnablePeerAccess(peer, flags); });
  });
}

cudaError_t cudaDeviceDisablePeerAccess(int device) {
  return call([&] {
    return with_peer(device, [](CUcontext peer) { return cuCtxDisablePeerAccess(peer); });
  });
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, int device,
                                      int peer) {
  return driver_call([&] { return cuDeviceGetP2PAttribute(value, attribute, device, peer); });
}

cudaError_t cudaDeviceGetHostAtomicCapabilities(unsigned* capabilities,
                                                const CUatomicOperation* operations, unsigned count,
                                                int device) {
  return driver_call(
      [&] { return cuDeviceGetHostAtomicCapabilities(capabilities, operations, count, device); });
}

cudaError_t cudaDeviceGetP2PAtomicCapabilities(unsigned* capabilities,
                                               const CUatomicOperation* operations, unsigned count,
                                               int device, int peer) {
  return driver_call([&] {
    return cuDeviceGetP2PAtomicCapabilities(capabilities, operations, count, device, peer);
  });
}

cudaError_t cudaDriverGetVersion(int* version) {
  return remember(cuDriverGetVersion(version));  // needs no cuInit
}

cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                             unsigned long long flags, int* status) {
  return driver_call(
      [&] { return find_entry(name, function, static_cast<int>(version), flags, status); });
}

cudaError_t cudaGetDriverEntryPointByVersion_ptsz(const char* name, void** function,
                                                  unsigned version, unsigned long long flags,
                                                  int* status) {
  return driver_call([&] {
    const auto wanted = flags != 0 ? flags : per_thread;
    return find_entry(name, function, static_cast<int>(version), wanted, status);
  });
}

/// The driver has no tables, and returns an error.
cudaError_t cudaGetExportTable(const void** table, const CUuuid* id) {
  return driver_call([&] { return cuGetExportTable(table, id); });
}

cudaError_t cudaProfilerStart() {
  return call([] { return cuProfilerStart(); });
}

cudaError_t cudaProfilerStop() {
  return call([] { return cuProfilerStop(); });
}

cudaError_t cudaLogsRegisterCallback(CUlogsCallback function, void* data,
                                     CUlogsCallbackHandle* handle) {
  return driver_call([&] { return cuLogsRegisterCallback(function, data, handle); });
}

cudaError_t cudaLogsUnregisterCallback(CUlogsCallbackHandle handle) {
  return driver_call([&] { return cuLogsUnregisterCallback(handle); });
}

cudaError_t cudaLogsCurrent(CUlogIterator* iterator, unsigned flags) {
  return driver_call([&] { return cuLogsCurrent(iterator, flags); });
}

cudaError_t cudaLogsDumpToFile(CUlogIterator* iterator, const char* path, unsigned flags) {
  return driver_call([&] { return cuLogsDumpToFile(iterator, path, flags); });
}

cudaError_t cudaLogsDumpToMemory(CUlogIterator* iterator, char* buffer, std::size_t* size,
                                 unsigned flags) {
  return driver_call([&] { return cuLogsDumpToMemory(iterator, buffer, size, flags); });
}

}  // extern "C"

}  // namespace cudacore::runtime
