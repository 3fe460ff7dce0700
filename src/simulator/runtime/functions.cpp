// SPDX-License-Identifier: Apache-2.0
//
// Kernels: attributes, parameters, occupancy; and libraries, which programs load themselves.
#include "simulator/runtime/programs.hpp"
#include "simulator/runtime/types.hpp"

namespace cudacore::runtime {

namespace {

/// CUresult body(CUfunction), for a kernel in the thread's context.
template <class Body>
cudaError_t function_call(const void* kernel, Body&& body) noexcept {
  return call([&]() -> Result {
    CUfunction function = nullptr;
    const Result result = find_function(kernel, function);
    return result.failed() ? result : Result(body(function));
  });
}

CUresult read_attributes(FunctionAttributes& to, CUfunction function) {
  to = {};
  CUresult result = CUDA_SUCCESS;
  const auto read = [&](auto& field, CUfunction_attribute attribute) {
    int value = 0;
    if (result == CUDA_SUCCESS) result = cuFuncGetAttribute(&value, attribute, function);
    field = static_cast<std::remove_reference_t<decltype(field)>>(value);
  };
  read(to.shared_size, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  read(to.constant_size, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES);
  read(to.local_size, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  read(to.max_threads_per_block, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  read(to.registers, CU_FUNC_ATTRIBUTE_NUM_REGS);
  read(to.ptx_version, CU_FUNC_ATTRIBUTE_PTX_VERSION);
  read(to.binary_version, CU_FUNC_ATTRIBUTE_BINARY_VERSION);
  read(to.cache_mode_ca, CU_FUNC_ATTRIBUTE_CACHE_MODE_CA);
  read(to.max_dynamic_shared_size, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  read(to.preferred_shared_carveout, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT);
  read(to.cluster_must_be_set, CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET);
  read(to.cluster_width, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH);
  read(to.cluster_height, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT);
  read(to.cluster_depth, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH);
  read(to.cluster_scheduling, CU_FUNC_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE);
  read(to.non_portable_cluster_allowed, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  return result;
}

/// What the driver says about the clusters of a launch.
cudaError_t cluster_occupancy(CUresult (*ask)(int*, CUfunction, const CUlaunchConfig*), int* to,
                              const void* kernel, const LaunchConfiguration* how) noexcept {
  return function_call(kernel, [&](CUfunction function) {
    if (how == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUlaunchConfig config = driver_configuration(*how);
    return ask(to, function, &config);
  });
}

}  // namespace

extern "C" {

cudaError_t cudaFuncGetAttributes(FunctionAttributes* attributes, const void* kernel) {
  return function_call(kernel, [&](CUfunction function) {
    return attributes != nullptr ? read_attributes(*attributes, function)
                                 : CUDA_ERROR_INVALID_VALUE;
  });
}

cudaError_t cudaFuncSetAttribute(const void* kernel, CUfunction_attribute attribute, int value) {
  return function_call(
      kernel, [&](CUfunction function) { return cuFuncSetAttribute(function, attribute, value); });
}

cudaError_t cudaFuncSetCacheConfig(const void* kernel, CUfunc_cache config) {
  return function_call(kernel,
                       [&](CUfunction function) { return cuFuncSetCacheConfig(function, config); });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* kernel, CUsharedconfig config) {
  return function_call(
      kernel, [&](CUfunction function) { return cuFuncSetSharedMemConfig(function, config); });
}

cudaError_t cudaFuncGetName(const char** name, const void* kernel) {
  return function_call(kernel, [&](CUfunction function) { return cuFuncGetName(name, function); });
}

cudaError_t cudaFuncGetParamInfo(const void* kernel, std::size_t index, std::size_t* offset,
                                 std::size_t* size) {
  return function_call(kernel, [&](CUfunction function) {
    return cuFuncGetParamInfo(function, index, offset, size);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* count, const void* kernel,
                                                          int block_size,
                                                          std::size_t shared_memory) {
  return function_call(kernel, [&](CUfunction function) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessor(count, function, block_size, shared_memory);
  });
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* count, const void* kernel,
                                                                   int block_size,
                                                                   std::size_t shared_memory,
                                                                   unsigned flags) {
  return function_call(kernel, [&](CUfunction function) {
    return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(count, function, block_size,
                                                                shared_memory, flags);
  });
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(std::size_t* size, const void* kernel,
                                                      int blocks, int block_size) {
  return function_call(kernel, [&](CUfunction function) {
    return cuOccupancyAvailableDynamicSMemPerBlock(size, function, blocks, block_size);
  });
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int* size, const void* kernel,
                                                 const LaunchConfiguration* how) {
  return cluster_occupancy(cuOccupancyMaxPotentialClusterSize, size, kernel, how);
}

cudaError_t cudaOccupancyMaxActiveClusters(int* count, const void* kernel,
                                           const LaunchConfiguration* how) {
  return cluster_occupancy(cuOccupancyMaxActiveClusters, count, kernel, how);
}

cudaError_t cudaKernelSetAttributeForDevice(CUkernel kernel, CUfunction_attribute attribute,
                                            int value, int device) {
  return call([&] { return cuKernelSetAttribute(attribute, value, kernel, device); });
}

cudaError_t cudaLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jit_options,
                                void** jit_values, unsigned jit_count, CUlibraryOption* options,
                                void** values, unsigned count) {
  return call([&] {
    return cuLibraryLoadData(library, code, jit_options, jit_values, jit_count, options, values,
                             count);
  });
}

cudaError_t cudaLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* jit_options,
                                    void** jit_values, unsigned jit_count, CUlibraryOption* options,
                                    void** values, unsigned count) {
  return call([&] {
    return cuLibraryLoadFromFile(library, path, jit_options, jit_values, jit_count, options, values,
                                 count);
  });
}

cudaError_t cudaLibraryUnload(CUlibrary library) {
  return call([&] { return cuLibraryUnload(library); });
}

cudaError_t cudaLibraryGetKernel(CUkernel* kernel, CUlibrary library, const char* name) {
  return call([&] { return cuLibraryGetKernel(kernel, library, name); });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, CUlibrary library) {
  return call([&] { return cuLibraryGetKernelCount(count, library); });
}

cudaError_t cudaLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary library) {
  return call([&] { return cuLibraryEnumerateKernels(kernels, count, library); });
}

cudaError_t cudaLibraryGetGlobal(CUdeviceptr* address, std::size_t* size, CUlibrary library,
                                 const char* name) {
  return call([&] { return cuLibraryGetGlobal(address, size, library, name); });
}

cudaError_t cudaLibraryGetManaged(CUdeviceptr* address, std::size_t* size, CUlibrary library,
                                  const char* name) {
  return call([&] { return cuLibraryGetManaged(address, size, library, name); });
}

cudaError_t cudaLibraryGetUnifiedFunction(void** function, CUlibrary library, const char* name) {
  return call([&] { return cuLibraryGetUnifiedFunction(function, library, name); });
}

/// Returned by value, as in CUDA.
ChannelFormat cudaCreateChannelDesc(int x, int y, int z, int w, int kind) {
  return {x, y, z, w, kind};
}

}  // extern "C"

}  // namespace cudacore::runtime
