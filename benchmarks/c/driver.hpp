// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <memory>
#include <string>

namespace bench {

/// The functions of the driver API that the rows call, from libcuda.so.1.
class Driver {
 public:
  /// @throw std::runtime_error if the library or a function is missing.
  Driver();

  decltype(&::cuInit) init = nullptr;
  decltype(&::cuDriverGetVersion) driver_version = nullptr;
  decltype(&::cuGetErrorName) error_name = nullptr;
  decltype(&::cuDeviceGet) device_get = nullptr;
  decltype(&::cuDeviceGetName) device_name = nullptr;
  decltype(&::cuDeviceGetAttribute) device_attribute = nullptr;
  decltype(&::cuDeviceGetDefaultMemPool) default_pool = nullptr;
  decltype(&::cuDevicePrimaryCtxRetain) primary_retain = nullptr;
  decltype(&::cuCtxSetCurrent) set_current = nullptr;
  decltype(&::cuStreamCreateWithPriority) stream_create = nullptr;
  decltype(&::cuStreamDestroy) stream_destroy = nullptr;
  decltype(&::cuStreamSynchronize) stream_synchronize = nullptr;
  decltype(&::cuEventCreate) event_create = nullptr;
  decltype(&::cuEventDestroy) event_destroy = nullptr;
  decltype(&::cuEventRecord) event_record = nullptr;
  decltype(&::cuEventElapsedTime) event_elapsed = nullptr;
  decltype(&::cuMemPoolSetAttribute) pool_set_attribute = nullptr;
  decltype(&::cuMemAllocFromPoolAsync) alloc_from_pool = nullptr;
  decltype(&::cuMemFreeAsync) free_async = nullptr;
  decltype(&::cuMemAllocHost) alloc_host = nullptr;
  decltype(&::cuMemcpyAsync) copy_async = nullptr;
  decltype(&::cuModuleLoadData) module_load = nullptr;
  decltype(&::cuModuleGetFunction) module_function = nullptr;
  decltype(&::cuLibraryLoadData) library_load = nullptr;
  decltype(&::cuLibraryGetKernel) library_kernel = nullptr;
  decltype(&::cuLaunchKernel) launch_kernel = nullptr;
  decltype(&::cuLaunchKernelEx) launch_kernel_ex = nullptr;
  decltype(&::cuStreamBeginCapture) begin_capture = nullptr;
  decltype(&::cuStreamEndCapture) end_capture = nullptr;
  decltype(&::cuGraphInstantiateWithFlags) graph_instantiate = nullptr;
  decltype(&::cuGraphLaunch) graph_launch = nullptr;
  decltype(&::cuGraphGetNodes) graph_nodes = nullptr;
  decltype(&::cuGraphKernelNodeGetParams) kernel_node_params = nullptr;
  decltype(&::cuGraphExecKernelNodeSetParams) set_kernel_node_params = nullptr;

  /// Throws std::runtime_error that names the call if `result` is an error.
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
/// @throw std::runtime_error if the library lacks it.
[[nodiscard]] void* symbol_address(void* library, const char* symbol);

}  // namespace bench
