// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdlib>
#include <map>
#include <utility>

#include "simulator/api/code/module.hpp"
#include "simulator/api/entry.hpp"
#include "simulator/memory/round_up.hpp"
#include "simulator/ops/isa.hpp"

namespace cudacore::simulator {

namespace {

/// Loads a program only for its names and parameters: its variables are in host memory that is
/// freed after loading.
std::shared_ptr<const Image> load_description(std::string_view text, const Device& device) {
  std::vector<std::unique_ptr<std::byte[]>> variables;  // NOLINT(modernize-avoid-c-arrays)
  std::uint64_t next_address = std::uint64_t{1} << 40U;
  return Image::load({&text, 1}, best_forms(), target_of(device),
                     [&](std::size_t size, std::size_t align, bool read_only, bool managed) {
                       Allocation variable;
                       variable.address = round_up(next_address, align);
                       next_address = variable.address + size;
                       variable.size = size;
                       variable.host =
                           variables.emplace_back(std::make_unique<std::byte[]>(size)).get();
                       variable.device = device.ordinal;
                       variable.kind = managed ? MemoryKind::managed : MemoryKind::device;
                       variable.read_only = read_only;
                       return std::optional(variable);
                     });
}

void make_kernels(const std::shared_ptr<Library>& library) {
  for (const Function* entry : library->image->entries()) {
    auto kernel = std::make_shared<KernelObject>();
    kernel->library = library;
    kernel->entry = entry;
    for (std::size_t i = 0; i < registry().devices.size(); ++i) {
      kernel->settings.push_back(std::make_shared<FunctionSettings>());
    }
    library->kernels.push_back(registry().kernels.insert(std::move(kernel)));
  }
}

/// Destroys a library that is not complete.
struct EndLibrary {
  std::shared_ptr<Library> library;
  ~EndLibrary() {
    if (library != nullptr) library->end();
  }
};

CUresult load_library(CUlibrary* handle, std::string text, JitOptions& options) {
  auto library = std::make_shared<Library>(std::move(text));
  EndLibrary guard{library};
  Context* context = nullptr;
  const bool has_context = current_context(context) == CUDA_SUCCESS;
  try {
    library->image = has_context ? library->module_in(*context)->image
                                 : load_description(library->text, *registry().devices.front());
    make_kernels(library);
  } catch (const LoadError& error) {
    return report_load_error(error, options);
  }
  options.finish();
  library->handle = registry().libraries.insert(library);
  *handle = library->handle;
  guard.library = nullptr;
  return CUDA_SUCCESS;
}

CUresult check_library_options(unsigned count, const CUlibraryOption* options) {
  if (count > 0 && options == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    switch (options[i]) {
      case CU_LIBRARY_BINARY_IS_PRESERVED:
        break;  // the code is copied anyway
      case CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE:
        return refuse(CUDA_ERROR_NOT_SUPPORTED,
                      "tables of universal functions and data are not simulated");
      default:
        return CUDA_ERROR_INVALID_VALUE;
    }
  }
  return CUDA_SUCCESS;
}

CUresult load_code(CUlibrary* library, const void* code, std::size_t size,
                   const CUjit_option* jit_options, void** jit_values, unsigned jit_count,
                   const CUlibraryOption* options, unsigned count) {
  JitOptions jit;
  CUresult result = jit.read(jit_count, jit_options, jit_values);
  if (result == CUDA_SUCCESS) result = check_library_options(count, options);
  std::string ptx;
  if (result == CUDA_SUCCESS) result = find_ptx(code, size, *registry().devices.front(), ptx);
  return result == CUDA_SUCCESS ? load_library(library, std::move(ptx), jit) : result;
}

}  // namespace

std::shared_ptr<Module> Library::module_in(Context& context) {
  const std::scoped_lock lock(mutex_);
  if (ended_) return nullptr;
  if (const auto found = modules_.find(context.id); found != modules_.end()) return found->second;
  std::erase_if(modules_, [](const auto& each) {
    return each.second->context->destroyed.load(std::memory_order_acquire);
  });
  const std::string_view view = text;
  JitOptions options;
  auto module = load_module(context, {&view, 1}, options, shared_from_this());
  return modules_.emplace(context.id, std::move(module)).first->second;
}

void Library::end() noexcept {
  std::unordered_map<std::uint64_t, std::shared_ptr<Module>> modules;
  {
    const std::scoped_lock lock(mutex_);
    if (std::exchange(ended_, true)) return;
    modules.swap(modules_);
  }
  for (const CUkernel kernel : kernels) registry().kernels.erase(kernel);
  for (const auto& [id, module] : modules) {
    Context& context = *module->context;
    if (context.status() == CUDA_SUCCESS) (void)synchronize_context(context);
    {
      const std::scoped_lock lock(context.mutex);
      std::erase(context.modules, module);
    }
    end_module(*module, true);
  }
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

namespace {

/// CUresult body(Library&), for a live library handle.
template <class Body>
CUresult library_call(CUlibrary handle, Body&& body) noexcept {
  return driver_call([&] { return with_object(registry().libraries, handle, body); });
}

/// CUresult body(Module&), with a library's module in the current context.
template <class Body>
CUresult library_module_call(CUlibrary handle, Body&& body) noexcept {
  return context_call([&](Context& context) {
    const auto library = registry().libraries.find(handle);
    if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    try {
      const auto module = library->module_in(context);
      return module != nullptr ? body(*module) : CUDA_ERROR_INVALID_HANDLE;
    } catch (const LoadError& error) {
      JitOptions options;
      return report_load_error(error, options);
    }
  });
}

CUresult get_global(CUdeviceptr* address, std::size_t* bytes, CUlibrary handle, const char* name,
                    bool managed) {
  return library_module_call(handle, [&](const Module& module) {
    if (name == nullptr || (address == nullptr && bytes == nullptr)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const Global* global = module.image->find_global(name);
    if (global == nullptr || global->managed != managed) return CUDA_ERROR_NOT_FOUND;
    if (address != nullptr) *address = global->address;
    if (bytes != nullptr) *bytes = global->size;
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jit_options,
                           void** jit_values, unsigned jit_count, CUlibraryOption* options, void**,
                           unsigned count) {
  return driver_call([&] {
    if (library == nullptr || code == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return load_code(library, code, SIZE_MAX, jit_options, jit_values, jit_count, options, count);
  });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* jit_options,
                               void** jit_values, unsigned jit_count, CUlibraryOption* options,
                               void**, unsigned count) {
  return driver_call([&] {
    if (library == nullptr || path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::string content;
    if (const CUresult result = read_file(path, content); result != CUDA_SUCCESS) return result;
    return load_code(library, content.data(), content.size(), jit_options, jit_values, jit_count,
                     options, count);
  });
}

CUresult cuLibraryUnload(CUlibrary handle) {
  return driver_call([&] {
    const auto library = registry().libraries.erase(handle);
    if (library == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    library->end();
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetKernel(CUkernel* kernel, CUlibrary handle, const char* name) {
  return library_call(handle, [&](const Library& library) {
    if (kernel == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto entries = library.image->entries();
    const Function* entry = library.image->find_entry(name);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      if (entries[i] != entry) continue;
      const CUresult result = refuse_what_is_not_simulated(*entry);
      if (result == CUDA_SUCCESS) *kernel = library.kernels[i];
      return result;
    }
    return CUDA_ERROR_NOT_FOUND;
  });
}

CUresult cuLibraryGetKernelCount(unsigned* count, CUlibrary handle) {
  return library_call(handle, [&](const Library& library) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned>(library.kernels.size());
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned count, CUlibrary handle) {
  return library_call(handle, [&](const Library& library) {
    if (kernels == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < library.kernels.size() && i < count; ++i) {
      kernels[i] = library.kernels[i];
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetModule(CUmodule* handle, CUlibrary library) {
  return library_module_call(library, [&](const Module& module) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *handle = module.handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                            const char* name) {
  return get_global(address, bytes, library, name, false);
}

CUresult cuLibraryGetManaged(CUdeviceptr* address, std::size_t* bytes, CUlibrary library,
                             const char* name) {
  return get_global(address, bytes, library, name, true);
}

CUresult cuLibraryGetUnifiedFunction(void** function, CUlibrary handle, const char* name) {
  return library_call(handle, [&](const Library&) {
    if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return refuse(CUDA_ERROR_INVALID_VALUE, "unified functions are not simulated: none is there");
  });
}

}  // extern "C"
