// SPDX-License-Identifier: Apache-2.0
//
// What differs between the versions of the runtime. Compiled for each version.
#include "simulator/runtime/call.hpp"

/// A function that 13 has under its first name, and 12 beside an older one of that name.
#if CUDACORE_RUNTIME_MAJOR == 12
#define CUDACORE_RUNTIME_AS_IN_13(name, in_12) name##in_12
#else
#define CUDACORE_RUNTIME_AS_IN_13(name, in_12) name
#endif

namespace cudacore::runtime {

namespace {

constexpr cuuint64_t per_thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
constexpr int version = CUDACORE_RUNTIME_MAJOR == 12 ? 12090 : 13000;

CUdeviceptr as_device(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

/// A device as a location; the host for -1.
[[maybe_unused]] CUmemLocation location_of(int device) {
  CUmemLocation location{};
  location.type = device == CU_DEVICE_CPU ? CU_MEM_LOCATION_TYPE_HOST : CU_MEM_LOCATION_TYPE_DEVICE;
  location.id = device == CU_DEVICE_CPU ? 0 : device;
  return location;
}

Result entry(const char* name, void** function, unsigned long long flags, int* status) {
  CUdriverProcAddressQueryResult how = CU_GET_PROC_ADDRESS_SUCCESS;
  const CUresult result = cuGetProcAddress(name, function, version, flags, &how);
  if (status != nullptr) *status = how;
  return result;
}

}  // namespace

extern "C" {

cudaError_t cudaRuntimeGetVersion(int* to) {
  if (to == nullptr) return remember(cudaErrorInvalidValue);
  *to = version;
  return cudaSuccess;
}

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long flags,
                                    int* status) {
  return driver_call([&] { return entry(name, function, flags, status); });
}

cudaError_t cudaGetDriverEntryPoint_ptsz(const char* name, void** function,
                                         unsigned long long flags, int* status) {
  const auto wanted = flags != 0 ? flags : per_thread;
  return driver_call([&] { return entry(name, function, wanted, status); });
}

cudaError_t CUDACORE_RUNTIME_AS_IN_13(cudaMemAdvise, _v2)(const void* pointer, std::size_t size,
                                                          CUmem_advise advice,
                                                          CUmemLocation location) {
  return call([&] { return cuMemAdvise(as_device(pointer), size, advice, location); });
}

CUDACORE_RUNTIME_TWINS(CUDACORE_RUNTIME_AS_IN_13(cudaMemPrefetchAsync, _v2), _ptsz,
                       (const void* pointer, std::size_t size, CUmemLocation location,
                        unsigned flags, CUstream stream),
                       cuMemPrefetchAsync(as_device(pointer), size, location, flags, on(stream)))
CUDACORE_RUNTIME_TWINS(CUDACORE_RUNTIME_AS_IN_13(cudaStreamGetCaptureInfo, _v3), _ptsz,
                       (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                        CUgraph* graph, const CUgraphNode** nodes, const CUgraphEdgeData** edges,
                        std::size_t* count),
                       cuStreamGetCaptureInfo(on(stream), status, id, graph, nodes, edges, count))

#if CUDACORE_RUNTIME_MAJOR == 12

cudaError_t cudaMemAdvise(const void* pointer, std::size_t size, CUmem_advise advice, int device) {
  return call([&] { return cuMemAdvise(as_device(pointer), size, advice, location_of(device)); });
}

CUDACORE_RUNTIME_TWINS(cudaMemPrefetchAsync, _ptsz,
                       (const void* pointer, std::size_t size, int device, CUstream stream),
                       cuMemPrefetchAsync(as_device(pointer), size, location_of(device), 0,
                                          on(stream)))
CUDACORE_RUNTIME_TWINS(cudaMemcpyBatchAsync, _ptsz,
                       (CUdeviceptr * to, CUdeviceptr* from, std::size_t* sizes, std::size_t count,
                        CUmemcpyAttributes* attributes, std::size_t* indices,
                        std::size_t attribute_count, std::size_t* /*failed*/, CUstream stream),
                       cuMemcpyBatchAsync(to, from, sizes, count, attributes, indices,
                                          attribute_count, on(stream)))

CUDACORE_RUNTIME_TWINS(cudaStreamGetCaptureInfo, _ptsz,
                       (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id),
                       cuStreamGetCaptureInfo(on(stream), status, id, nullptr, nullptr, nullptr,
                                              nullptr))
CUDACORE_RUNTIME_TWINS(cudaStreamGetCaptureInfo_v2, _ptsz,
                       (CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                        CUgraph* graph, const CUgraphNode** nodes, std::size_t* count),
                       cuStreamGetCaptureInfo(on(stream), status, id, graph, nodes, nullptr, count))
cudaError_t cudaEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return call([&] { return cuEventElapsedTime(milliseconds, start, end); });
}

// The runtime's original names for devices.
cudaError_t cudaDeviceReset();
cudaError_t cudaThreadExit() { return cudaDeviceReset(); }
cudaError_t cudaThreadSynchronize() {
  return call([] { return cuCtxSynchronize(); });
}
cudaError_t cudaThreadGetLimit(std::size_t* value, CUlimit limit) {
  return call([&] { return cuCtxGetLimit(value, limit); });
}
cudaError_t cudaThreadSetLimit(CUlimit limit, std::size_t value) {
  return call([&] { return cuCtxSetLimit(limit, value); });
}
cudaError_t cudaThreadGetCacheConfig(CUfunc_cache* config) {
  return call([&] { return cuCtxGetCacheConfig(config); });
}
cudaError_t cudaThreadSetCacheConfig(CUfunc_cache config) {
  return call([&] { return cuCtxSetCacheConfig(config); });
}
// Every device supports doubles.
cudaError_t cudaSetDoubleForDevice(double* /*value*/) { return cudaSuccess; }
cudaError_t cudaSetDoubleForHost(double* /*value*/) { return cudaSuccess; }

#else

CUDACORE_RUNTIME_TWINS(cudaMemcpyBatchAsync, _ptsz,
                       (CUdeviceptr * to, CUdeviceptr* from, std::size_t* sizes, std::size_t count,
                        CUmemcpyAttributes* attributes, std::size_t* indices,
                        std::size_t attribute_count, CUstream stream),
                       cuMemcpyBatchAsync(to, from, sizes, count, attributes, indices,
                                          attribute_count, on(stream)))

#endif

}  // extern "C"

}  // namespace cudacore::runtime
