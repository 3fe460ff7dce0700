// SPDX-License-Identifier: Apache-2.0
//
// All properties of a device at once. Compiled for each version of the runtime, because their
// structs differ.
#include <cstring>
#include <initializer_list>

#include "simulator/runtime/call.hpp"

#define CUDACORE_RUNTIME_NOTHING(type, name, ...)
#if CUDACORE_RUNTIME_MAJOR == 12
#define CUDACORE_RUNTIME_PROPERTY_OF_12 CUDACORE_RUNTIME_PROPERTY
#define CUDACORE_RUNTIME_PROPERTY_OF_13 CUDACORE_RUNTIME_NOTHING
#else
#define CUDACORE_RUNTIME_PROPERTY_OF_12 CUDACORE_RUNTIME_NOTHING
#define CUDACORE_RUNTIME_PROPERTY_OF_13 CUDACORE_RUNTIME_PROPERTY
#endif

namespace cudacore::runtime {

namespace {

/// A member that is one attribute of the device, or an array of several.
template <class T, CUdevice_attribute... attributes>
struct Property {
  T values[sizeof...(attributes)];

  [[nodiscard]] CUresult read(CUdevice device) {
    CUresult result = CUDA_SUCCESS;
    T* value = values;
    for (const CUdevice_attribute attribute : {attributes...}) {
      int read = 0;
      if (result == CUDA_SUCCESS) result = cuDeviceGetAttribute(&read, attribute, device);
      *value++ = static_cast<T>(read);
    }
    return result;
  }
};

struct DeviceProperties {  // cudaDeviceProp
  char name[256];
  CUuuid uuid;
  char luid[8];
  unsigned luid_node_mask;
  std::size_t totalGlobalMem;
#define CUDACORE_RUNTIME_PROPERTY(type, name, ...) Property<type, __VA_ARGS__> name;
#include "simulator/runtime/properties.def"
#undef CUDACORE_RUNTIME_PROPERTY
  int reserved[CUDACORE_RUNTIME_MAJOR == 12 ? 63 : 56];
};
static_assert(sizeof(DeviceProperties) == (CUDACORE_RUNTIME_MAJOR == 12 ? 1032 : 1008));

CUresult read_properties(DeviceProperties& to, CUdevice device) {
  to = {};
  CUresult result = cuDeviceGetName(to.name, sizeof(to.name), device);
  if (result == CUDA_SUCCESS) result = cuDeviceGetUuid(&to.uuid, device);
  // Only Windows has LUIDs.
  if (result == CUDA_SUCCESS) result = cuDeviceTotalMem(&to.totalGlobalMem, device);
#define CUDACORE_RUNTIME_PROPERTY(type, name, ...) \
  if (result == CUDA_SUCCESS) result = to.name.read(device);
#include "simulator/runtime/properties.def"
#undef CUDACORE_RUNTIME_PROPERTY
  return result;
}

}  // namespace

extern "C" {

#if CUDACORE_RUNTIME_MAJOR == 12

cudaError_t cudaGetDeviceProperties_v2(DeviceProperties* properties, int device) {
  return driver_call([&] {
    return properties != nullptr ? read_properties(*properties, device) : CUDA_ERROR_INVALID_VALUE;
  });
}

/// The struct of CUDA 11, which is the beginning of the one of CUDA 12.
cudaError_t cudaGetDeviceProperties(void* properties, int device) {
  if (properties == nullptr) return cudaGetDeviceProperties_v2(nullptr, device);
  DeviceProperties all;
  const cudaError_t error = cudaGetDeviceProperties_v2(&all, device);
  if (error == cudaSuccess) {
    std::memcpy(properties, &all, offsetof(DeviceProperties, hostRegisterSupported));
  }
  return error;
}

#else

cudaError_t cudaGetDeviceProperties(DeviceProperties* properties, int device) {
  return driver_call([&] {
    return properties != nullptr ? read_properties(*properties, device) : CUDA_ERROR_INVALID_VALUE;
  });
}

#endif

}  // extern "C"

}  // namespace cudacore::runtime
