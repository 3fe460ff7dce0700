// SPDX-License-Identifier: Apache-2.0
#include "driver.hpp"

#include <stdexcept>

#include <dlfcn.h>

namespace bench {

namespace {

// The functions' prototypes have not changed since this version, so a 12.x driver works as well.
constexpr int kPrototypes = 12000;

std::string loader_error() {
  const char* text = dlerror();
  return text != nullptr ? text : "unknown reason";
}

}  // namespace

std::shared_ptr<void> open_library(const std::string& name) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    throw std::runtime_error("cannot open " + name + ": " + loader_error());
  }
  // It is not safe to unload a driver while its threads run.
  return {handle, [](void*) {}};
}

void* symbol_address(void* library, const char* symbol) {
  void* address = dlsym(library, symbol);
  if (address == nullptr) {
    throw std::runtime_error(std::string("no symbol ") + symbol + ": " + loader_error());
  }
  return address;
}

Driver::Driver() : library_(open_library("libcuda.so.1")) {
  const auto get_address = reinterpret_cast<decltype(&::cuGetProcAddress)>(
      symbol_address(library_.get(), "cuGetProcAddress_v2"));
  const auto load = [&](auto& function, const char* name, int newest = kPrototypes) {
    void* address = nullptr;
    CUdriverProcAddressQueryResult status{};
    CUresult result = get_address(name, &address, newest, CU_GET_PROC_ADDRESS_DEFAULT, &status);
    if (result != CUDA_SUCCESS || address == nullptr) {
      result = get_address(name, &address, kPrototypes, CU_GET_PROC_ADDRESS_DEFAULT, &status);
    }
    if (result != CUDA_SUCCESS || address == nullptr) {
      throw std::runtime_error(std::string("the driver has no ") + name +
                               ": it is older than CUDA 12.0");
    }
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(address);
  };
  load(init, "cuInit");
  load(driver_version, "cuDriverGetVersion");
  load(error_name, "cuGetErrorName");
  load(device_get, "cuDeviceGet");
  load(device_name, "cuDeviceGetName");
  load(device_attribute, "cuDeviceGetAttribute");
  load(default_pool, "cuDeviceGetDefaultMemPool");
  load(primary_retain, "cuDevicePrimaryCtxRetain");
  load(set_current, "cuCtxSetCurrent");
  load(stream_create, "cuStreamCreateWithPriority");
  load(stream_destroy, "cuStreamDestroy");
  load(stream_synchronize, "cuStreamSynchronize");
  load(event_create, "cuEventCreate");
  load(event_destroy, "cuEventDestroy");
  load(event_record, "cuEventRecord");
  load(event_elapsed, "cuEventElapsedTime", 12080);  // a faster form since CUDA 12.8
  load(pool_set_attribute, "cuMemPoolSetAttribute");
  load(alloc_from_pool, "cuMemAllocFromPoolAsync");
  load(free_async, "cuMemFreeAsync");
  load(alloc_host, "cuMemAllocHost");
  load(copy_async, "cuMemcpyAsync");
  load(module_load, "cuModuleLoadData");
  load(module_function, "cuModuleGetFunction");
  load(library_load, "cuLibraryLoadData");
  load(library_kernel, "cuLibraryGetKernel");
  load(launch_kernel, "cuLaunchKernel");
  load(launch_kernel_ex, "cuLaunchKernelEx");
  load(begin_capture, "cuStreamBeginCapture");
  load(end_capture, "cuStreamEndCapture");
  load(graph_instantiate, "cuGraphInstantiateWithFlags");
  load(graph_launch, "cuGraphLaunch");
  load(graph_nodes, "cuGraphGetNodes");
  load(kernel_node_params, "cuGraphKernelNodeGetParams");
  load(set_kernel_node_params, "cuGraphExecKernelNodeSetParams");
  check(init(0), "cuInit");
}

void Driver::fail(CUresult result, const char* call) const {
  const char* name = nullptr;
  error_name(result, &name);
  throw std::runtime_error(std::string(call) + ": " +
                           (name != nullptr ? name : std::to_string(static_cast<int>(result))));
}

}  // namespace bench
