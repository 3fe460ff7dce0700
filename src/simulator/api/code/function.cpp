// SPDX-License-Identifier: Apache-2.0
//
// CUfunction: a kernel in a context.
#include "simulator/api/code/function_attributes.hpp"
#include "simulator/api/entry.hpp"

namespace cudacore::simulator {

CUfunction function_of_kernel(const KernelObject& kernel, Context& context) {
  const auto module = kernel.library->module_in(context);
  return module != nullptr ? module->find_function(kernel.entry->name) : nullptr;
}

std::shared_ptr<FunctionObject> find_function(CUfunction handle, Context& context,
                                              CUresult& status) {
  if (auto function = registry().functions.find(handle)) {
    status = refuse_what_is_not_simulated(*function->entry);
    return status == CUDA_SUCCESS ? function : nullptr;
  }
  status = CUDA_ERROR_INVALID_HANDLE;
  const auto kernel = registry().kernels.find(reinterpret_cast<CUkernel>(handle));
  if (kernel == nullptr) return nullptr;
  try {
    auto function = registry().functions.find(function_of_kernel(*kernel, context));
    status = function != nullptr ? refuse_what_is_not_simulated(*function->entry)
                                 : CUDA_ERROR_INVALID_HANDLE;
    return status == CUDA_SUCCESS ? function : nullptr;
  } catch (const LoadError& error) {
    JitOptions options;
    status = report_load_error(error, options);
    return nullptr;
  }
}

FunctionOnDevice on_device(const FunctionObject& function) {
  return {*function.entry, *function.settings, function.module->context->device.properties};
}

CUresult parameter_of(const Function& entry, std::size_t index, std::size_t* offset,
                      std::size_t* size) {
  if (offset == nullptr || index >= entry.parameters.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = entry.parameters[index].offset;
  if (size != nullptr) *size = entry.parameters[index].size;
  return CUDA_SUCCESS;
}

bool is_cache_config(CUfunc_cache config) noexcept {
  return config >= CU_FUNC_CACHE_PREFER_NONE && config <= CU_FUNC_CACHE_PREFER_EQUAL;
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

namespace {

/// CUresult body(FunctionObject&), for a live handle.
template <class Body>
CUresult function_call(CUfunction handle, Body&& body) noexcept {
  return driver_call([&] {
    return with_object(registry().functions, handle, [&](FunctionObject& function) {
      const CUresult status = function.module->context->status();
      return status == CUDA_SUCCESS ? body(function) : status;
    });
  });
}

}  // namespace

extern "C" {

CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction handle) {
  return function_call(handle, [&](const FunctionObject& function) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return on_device(function).get(attribute, *value);
  });
}

CUresult cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) {
  return function_call(handle, [&](const FunctionObject& function) {
    return on_device(function).set(attribute, value);
  });
}

CUresult cuFuncSetCacheConfig(CUfunction handle, CUfunc_cache config) {
  return function_call(handle, [&](const FunctionObject& function) {
    if (!is_cache_config(config)) return CUDA_ERROR_INVALID_VALUE;
    function.settings->cache_config = config;
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncSetSharedMemConfig(CUfunction handle, CUsharedconfig config) {
  return function_call(handle, [&](const FunctionObject&) {
    const bool known = config >= CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE &&
                       config <= CU_SHARED_MEM_CONFIG_EIGHT_BYTE_BANK_SIZE;
    return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuFuncGetModule(CUmodule* module, CUfunction handle) {
  return function_call(handle, [&](const FunctionObject& function) {
    if (module == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *module = function.module->handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetName(const char** name, CUfunction handle) {
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return function_call(handle, [&](const FunctionObject& function) {
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *name = function.entry->name.c_str();
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetParamInfo(CUfunction handle, std::size_t index, std::size_t* offset,
                            std::size_t* size) {
  return function_call(handle, [&](const FunctionObject& function) {
    return parameter_of(*function.entry, index, offset, size);
  });
}

CUresult cuFuncIsLoaded(CUfunctionLoadingState* state, CUfunction handle) {
  return function_call(handle, [&](const FunctionObject&) {
    if (state == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *state = CU_FUNCTION_LOADING_STATE_LOADED;
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncLoad(CUfunction handle) {
  return function_call(handle, [](const FunctionObject&) { return CUDA_SUCCESS; });
}

}  // extern "C"
