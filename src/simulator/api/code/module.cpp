// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/code/module.hpp"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <utility>

#include "simulator/api/code/fat_binary.hpp"
#include "simulator/api/entry.hpp"
#include "simulator/ops/isa.hpp"

namespace cudacore::simulator {

namespace {

constexpr std::uint32_t elf_magic = 0x464c457f;
constexpr std::uint32_t lto_ir_magic = 0x7f4e43ed;

CUresult result_of(const LoadError& error) noexcept {
  switch (error.kind()) {
    case LoadError::Kind::not_simulated:
      return CUDA_ERROR_NOT_SUPPORTED;
    case LoadError::Kind::unsupported_version:
      return CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
    case LoadError::Kind::out_of_memory:
      return CUDA_ERROR_OUT_OF_MEMORY;
    case LoadError::Kind::syntax:
    case LoadError::Kind::unknown:
    case LoadError::Kind::unsupported_target:
    case LoadError::Kind::link:
    case LoadError::Kind::too_large:
      return CUDA_ERROR_INVALID_PTX;
  }
  return CUDA_ERROR_INVALID_PTX;
}

/// A module's variables while it is being loaded: freed unless they are taken.
class Variables {
 public:
  explicit Variables(Context& context) : context_(context) {}
  ~Variables() {
    for (const Allocation& variable : list_) free_variable(context_, variable);
  }
  Variables(const Variables&) = delete;
  Variables& operator=(const Variables&) = delete;

  std::optional<Allocation> allocate(std::size_t size, std::size_t align, bool read_only,
                                     bool managed) {
    list_.reserve(list_.size() + 1);
    auto variable = allocate_variable(context_, size, align, read_only, managed);
    if (variable) list_.push_back(*variable);
    return variable;
  }
  std::vector<Allocation> take() noexcept { return std::exchange(list_, {}); }

 private:
  Context& context_;
  std::vector<Allocation> list_;
};

}  // namespace

Target target_of(const Device& device) noexcept {
  Target target;
  target.major = device.properties.major;
  target.minor = device.properties.minor;
  target.max_shared_bytes = device.properties.shared_per_block_optin;
  return target;
}

Module::Module(Context& context_of, const std::shared_ptr<Library>& library_of)
    : context(context_of.shared_from_this()),
      library(library_of),
      is_of_library(library_of != nullptr) {}

CUfunction Module::find_function(std::string_view name) {
  const Function* entry = image->find_entry(name);
  return entry != nullptr ? function_handle(*entry) : nullptr;
}

CUfunction Module::function_handle(const Function& entry) {
  const std::scoped_lock lock(mutex_);
  if (ended_) return nullptr;
  const auto [place, is_new] = functions_.try_emplace(&entry, nullptr);
  if (!is_new) return place->second;
  try {
    auto object = std::make_shared<FunctionObject>();
    object->module = shared_from_this();
    object->entry = &entry;
    if (const auto owner = library.lock()) {
      const auto entries = owner->image->entries();
      for (std::size_t i = 0; i < entries.size(); ++i) {
        if (entries[i]->name != entry.name) continue;
        const auto kernel = registry().kernels.find(owner->kernels[i]);
        const auto device = static_cast<std::size_t>(context->device.ordinal);
        if (kernel != nullptr) object->settings = kernel->settings[device];
      }
    }
    if (object->settings == nullptr) object->settings = std::make_shared<FunctionSettings>();
    place->second = registry().functions.insert(std::move(object));
    return place->second;
  } catch (...) {
    functions_.erase(place);
    throw;
  }
}

std::shared_ptr<Module> load_module(Context& context, std::span<const std::string_view> texts,
                                    JitOptions& options, const std::shared_ptr<Library>& library) {
  Variables variables(context);
  auto module = std::make_shared<Module>(context, library);
  module->image =
      Image::load(texts, best_forms(), target_of(context.device),
                  [&](std::size_t size, std::size_t align, bool read_only, bool managed) {
                    return variables.allocate(size, align, read_only, managed);
                  });
  options.finish();
  module->handle = registry().modules.insert(module);
  const std::scoped_lock lock(context.mutex);
  context.modules.push_back(module);
  module->variables_ = variables.take();
  return module;
}

void end_module(Module& module, bool free_variables) noexcept {
  std::map<const Function*, CUfunction> functions;
  std::vector<Allocation> variables;
  {
    const std::scoped_lock lock(module.mutex_);
    if (std::exchange(module.ended_, true)) return;
    functions.swap(module.functions_);
    variables.swap(module.variables_);
  }
  for (const auto& [entry, handle] : functions) registry().functions.erase(handle);
  registry().modules.erase(module.handle);
  if (!free_variables) return;
  for (const Allocation& variable : variables) free_variable(*module.context, variable);
}

CUresult find_ptx(const void* code, std::size_t size, const Device& device, std::string& ptx) {
  if (is_fat_binary(code, size)) return take_ptx(code, size, target_of(device), ptx);
  const char* start = static_cast<const char*>(code);
  const std::string_view text(start, strnlen(start, size));
  std::uint32_t magic = 0;
  if (text.size() >= sizeof(magic)) std::memcpy(&magic, start, sizeof(magic));
  if (magic == elf_magic) {
    return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                  "a cubin is machine code (SASS), which is not simulated: load PTX, which nvcc "
                  "makes with -ptx and NVRTC with a compute_XX architecture");
  }
  if (magic == lto_ir_magic) {
    return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "LTO-IR can't be loaded: link it to PTX first");
  }
  if (text.find(".version") == std::string_view::npos) {
    return refuse(CUDA_ERROR_INVALID_IMAGE,
                  "the code is neither PTX, which has a .version, nor a known binary");
  }
  ptx = text;
  return CUDA_SUCCESS;
}

CUresult read_file(const char* path, std::string& content) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return refuse(CUDA_ERROR_FILE_NOT_FOUND, "the file " + std::string(path) + " can't be read");
  }
  content.assign(std::istreambuf_iterator<char>(file), {});
  return CUDA_SUCCESS;
}

CUresult refuse_what_is_not_simulated(const Function& entry) {
  return entry.refusal.empty() ? CUDA_SUCCESS : refuse(CUDA_ERROR_NOT_SUPPORTED, entry.refusal);
}

CUresult report_load_error(const LoadError& error, JitOptions& options) {
  options.add_error(error.what());
  options.finish();
  return refuse(result_of(error), error.what());
}

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

namespace {

CUresult load(CUmodule* module, const void* code, JitOptions& options,
              std::size_t size = SIZE_MAX) {
  return context_call([&](Context& context) {
    if (module == nullptr || code == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::string ptx;
    const CUresult result = find_ptx(code, size, context.device, ptx);
    if (result != CUDA_SUCCESS) return result;
    try {
      const std::string_view text = ptx;
      *module = load_module(context, {&text, 1}, options)->handle;
      return CUDA_SUCCESS;
    } catch (const LoadError& error) {
      return report_load_error(error, options);
    }
  });
}

/// CUresult body(Module&), for a live module handle.
template <class Body>
CUresult module_call(CUmodule handle, Body&& body) noexcept {
  return context_call([&](Context&) { return with_object(registry().modules, handle, body); });
}

}  // namespace

extern "C" {

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return context_call([&](Context&) {
    if (module == nullptr || path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    std::string content;
    if (const CUresult result = read_file(path, content); result != CUDA_SUCCESS) return result;
    JitOptions options;
    return load(module, content.data(), options, content.size());
  });
}

CUresult cuModuleLoadData(CUmodule* module, const void* code) {
  JitOptions options;
  return load(module, code, options);
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* code, unsigned count,
                            CUjit_option* options, void** values) {
  return context_call([&](Context&) {
    JitOptions read;
    const CUresult result = read.read(count, options, values);
    return result == CUDA_SUCCESS ? load(module, code, read) : result;
  });
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* code) {
  JitOptions options;
  return load(module, code, options);
}

CUresult cuModuleUnload(CUmodule handle) {
  return module_call(handle, [](Module& module) {
    if (module.is_of_library) return CUDA_ERROR_NOT_PERMITTED;
    const CUresult result = synchronize_context(*module.context);
    {
      Context& context = *module.context;
      const std::scoped_lock lock(context.mutex);
      std::erase_if(context.modules, [&](const auto& each) { return each.get() == &module; });
    }
    end_module(module, true);
    return result;
  });
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return driver_call([&] {
    if (mode == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *mode = CU_MODULE_EAGER_LOADING;
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction* function, CUmodule handle, const char* name) {
  return module_call(handle, [&](Module& module) {
    if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const Function* entry = module.image->find_entry(name);
    if (entry == nullptr) return CUDA_ERROR_NOT_FOUND;
    const CUresult result = refuse_what_is_not_simulated(*entry);
    if (result != CUDA_SUCCESS) return result;
    *function = module.function_handle(*entry);
    return *function != nullptr ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  });
}

CUresult cuModuleGetFunctionCount(unsigned* count, CUmodule handle) {
  return module_call(handle, [&](const Module& module) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<unsigned>(module.image->entries().size());
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned count, CUmodule handle) {
  return module_call(handle, [&](Module& module) {
    if (functions == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
    const auto entries = module.image->entries();
    for (std::size_t i = 0; i < entries.size() && i < count; ++i) {
      functions[i] = module.function_handle(*entries[i]);
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, std::size_t* bytes, CUmodule handle,
                              const char* name) {
  return module_call(handle, [&](const Module& module) {
    if (name == nullptr || (address == nullptr && bytes == nullptr)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    const Global* global = module.image->find_global(name);
    if (global == nullptr) return CUDA_ERROR_NOT_FOUND;
    if (address != nullptr) *address = global->address;
    if (bytes != nullptr) *bytes = global->size;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
