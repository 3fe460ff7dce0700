// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <memory>
#include <string>

namespace bench {

/// The functions of the driver API that the rows call, from libcuda.so.1.
class Driver {
 public:
  /// @throw std::runtime_error where the library or a function is missing.
  Driver();

  decltype(&::cuInit) init;
  decltype(&::cuDriverGetVersion) driver_version;
  decltype(&::cuGetErrorName) error_name;
  decltype(&::cuDeviceGet) device_get;
  decltype(&::cuDeviceGetName) device_name;
  decltype(&::cuDeviceGetAttribute) device_attribute;
  decltype(&::cuDeviceGetDefaultMemPool) default_pool;
  decltype(&::cuDevicePrimaryCtxRetain) primary_retain;
  decltype(&::cuCtxSetCurrent) set_current;
  decltype(&::cuStreamCreateWithPriority) stream_create;
  decltype(&::cuStreamDestroy) stream_destroy;
  decltype(&::cuStreamSynchronize) stream_synchronize;
  decltype(&::cuEventCreate) event_create;
  decltype(&::cuEventDestroy) event_destroy;
  decltype(&::cuEventRecord) event_record;
  decltype(&::cuEventElapsedTime) event_elapsed;
  decltype(&::cuMemPoolSetAttribute) pool_set_attribute;
  decltype(&::cuMemAllocFromPoolAsync) alloc_from_pool;
  decltype(&::cuMemFreeAsync) free_async;
  decltype(&::cuMemAllocHost) alloc_host;
  decltype(&::cuMemcpyAsync) copy_async;
  decltype(&::cuModuleLoadData) module_load;
  decltype(&::cuModuleGetFunction) module_function;
  decltype(&::cuLibraryLoadData) library_load;
  decltype(&::cuLibraryGetKernel) library_kernel;
  decltype(&::cuLaunchKernel) launch_kernel;
  decltype(&::cuLaunchKernelEx) launch_kernel_ex;

  /// Throws std::runtime_error that names the call where `result` is an error.
  void check(CUresult result, const char* call) const {
    if (result != CUDA_SUCCESS) [[unlikely]] {
      fail(result, call);
    }
  }

 private:
  [[noreturn]] void fail(CUresult result, const char* call) const;

  std::shared_ptr<void> library_;
};

/// Opens a shared library for the life of the process.
/// @throw std::runtime_error with the loader's reason.
[[nodiscard]] std::shared_ptr<void> open_library(const std::string& name);

/// The address of `symbol` in an opened library.
/// @throw std::runtime_error where it has none.
[[nodiscard]] void* symbol_address(void* library, const char* symbol);

}  // namespace bench
