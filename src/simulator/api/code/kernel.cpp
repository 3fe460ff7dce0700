// SPDX-License-Identifier: Apache-2.0
//
// CUkernel: a kernel of a library, in whichever context it is used.
#include "simulator/api/code/function_attributes.hpp"
#include "simulator/api/entry.hpp"

using namespace cudacore::simulator;

namespace {

/// CUresult body(KernelObject&), for a live handle.
template <class Body>
CUresult kernel_call(CUkernel handle, Body&& body) noexcept {
  return driver_call([&] { return with_object(registry().kernels, handle, body); });
}

/// CUresult body(FunctionOnDevice), with a kernel on a device.
template <class Body>
CUresult kernel_device_call(CUkernel handle, CUdevice ordinal, Body&& body) noexcept {
  return kernel_call(handle, [&](const KernelObject& kernel) {
    const Device* device = find_device(ordinal);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    return body(FunctionOnDevice{*kernel.entry, *kernel.settings[static_cast<std::size_t>(ordinal)],
                                 device->properties});
  });
}

}  // namespace

extern "C" {

CUresult cuKernelGetFunction(CUfunction* function, CUkernel handle) {
  return context_call([&](Context& context) {
    const auto kernel = registry().kernels.find(handle);
    if (kernel == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (function == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CUresult result = refuse_what_is_not_simulated(*kernel->entry);
    if (result != CUDA_SUCCESS) return result;
    try {
      *function = function_of_kernel(*kernel, context);
    } catch (const LoadError& error) {
      JitOptions options;
      return report_load_error(error, options);
    }
    return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  });
}

CUresult cuKernelGetLibrary(CUlibrary* library, CUkernel handle) {
  return kernel_call(handle, [&](const KernelObject& kernel) {
    if (library == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *library = kernel.library->handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetName(const char** name, CUkernel handle) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return kernel_call(handle, [&](const KernelObject& kernel) {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *name = kernel.entry->name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult cuKernelGetParamInfo(CUkernel handle, std::size_t index, std::size_t* offset,
                              std::size_t* size) {
  return context_call([&](const Context&) {  // the driver ignores the kernel here, too
    return kernel_call(handle, [&](const KernelObject& kernel) {
      return parameter_of(*kernel.entry, index, offset, size);
    });
  });
}

CUresult cuKernelGetAttribute(int* value, CUfunction_attribute attribute, CUkernel handle,
                              CUdevice device) {
  return kernel_device_call(handle, device, [&](const FunctionOnDevice& kernel) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return kernel.get(attribute, *value);
  });
}

CUresult cuKernelSetAttribute(CUfunction_attribute attribute, int value, CUkernel handle,
                              CUdevice device) {
  return kernel_device_call(handle, device,
                            [&](FunctionOnDevice kernel) { return kernel.set(attribute, value); });
}

CUresult cuKernelSetCacheConfig(CUkernel handle, CUfunc_cache config, CUdevice device) {
  return kernel_device_call(handle, device, [&](const FunctionOnDevice& kernel) {
    if (!is_cache_config(config)) return CUDA_ERROR_INVALID_VALUE;
    kernel.settings.cache_config = config;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
