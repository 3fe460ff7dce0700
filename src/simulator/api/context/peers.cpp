// SPDX-License-Identifier: Apache-2.0
//
// What devices can do with each other: everything, for all pairs.
#include "simulator/api/entry.hpp"

using namespace cudacore::simulator;

namespace {

CUresult fill_atomic_capabilities(unsigned* capabilities, const CUatomicOperation* operations,
                                  unsigned count) {
  if (capabilities == nullptr || operations == nullptr || count == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  constexpr unsigned scalars = CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED |
                               CU_ATOMIC_CAPABILITY_REDUCTION | CU_ATOMIC_CAPABILITY_SCALAR_32 |
                               CU_ATOMIC_CAPABILITY_SCALAR_64;
  for (unsigned i = 0; i < count; ++i) {
    if (static_cast<int>(operations[i]) < 0 || operations[i] >= CU_ATOMIC_OPERATION_MAX) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    capabilities[i] = scalars;
  }
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuDeviceCanAccessPeer(int* can_access, CUdevice device, CUdevice peer) {
  return driver_call([&] {
    if (can_access == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (find_device(device) == nullptr || find_device(peer) == nullptr) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    *can_access = device != peer ? 1 : 0;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice source,
                                 CUdevice destination) {
  return driver_call([&] {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (find_device(source) == nullptr || find_device(destination) == nullptr ||
        source == destination) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    switch (attribute) {
      case CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_NATIVE_ATOMIC_SUPPORTED:
        *value = 1;
        return CUDA_SUCCESS;
      case CU_DEVICE_P2P_ATTRIBUTE_PERFORMANCE_RANK:
      case CU_DEVICE_P2P_ATTRIBUTE_CUDA_ARRAY_ACCESS_SUPPORTED:
      case CU_DEVICE_P2P_ATTRIBUTE_ONLY_PARTIAL_NATIVE_ATOMIC_SUPPORTED:
        *value = 0;
        return CUDA_SUCCESS;
    }
    return CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuDeviceGetP2PAtomicCapabilities(unsigned* capabilities,
                                          const CUatomicOperation* operations, unsigned count,
                                          CUdevice source, CUdevice destination) {
  return driver_call([&] {
    if (find_device(source) == nullptr || find_device(destination) == nullptr ||
        source == destination) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    return fill_atomic_capabilities(capabilities, operations, count);
  });
}

CUresult cuDeviceGetHostAtomicCapabilities(unsigned* capabilities,
                                           const CUatomicOperation* operations, unsigned count,
                                           CUdevice device) {
  return driver_call([&] {
    if (find_device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    return fill_atomic_capabilities(capabilities, operations, count);
  });
}

}  // extern "C"
