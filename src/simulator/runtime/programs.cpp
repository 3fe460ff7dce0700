// SPDX-License-Identifier: Apache-2.0
#include "simulator/runtime/programs.hpp"

#include <algorithm>
#include <memory>
#include <shared_mutex>
#include <unordered_map>
#include <utility>

#include "simulator/runtime/code.hpp"

namespace cudacore::runtime {

namespace {

struct Variable {
  Program* program = nullptr;
  std::string name;
  bool is_managed = false;
};

struct Registry {
  std::shared_mutex mutex;
  std::unordered_map<const Program*, std::unique_ptr<Program>> programs;
  std::unordered_map<const void*, RegisteredKernel> kernels;  ///< by their stubs
  std::unordered_map<const void*, Variable> variables;        ///< by their addresses on the host
};

/// Never destroyed: programs unregister while they end.
Registry& registry() {
  static Registry& all = *std::make_unique<Registry>().release();
  return all;
}

Program* program_of(void** handle) { return reinterpret_cast<Program*>(handle); }

Result global_of(const Variable& variable, CUdeviceptr& address, std::size_t& size) {
  CUlibrary library = nullptr;
  if (const Result result = variable.program->load(library); result.failed()) return result;
  return variable.is_managed ? cuLibraryGetManaged(&address, &size, library, variable.name.c_str())
                             : cuLibraryGetGlobal(&address, &size, library, variable.name.c_str());
}

}  // namespace

Program::~Program() {
  if (library_ != nullptr) (void)cuLibraryUnload(library_);
}

Result Program::load(CUlibrary& library) {
  {
    const std::scoped_lock lock(mutex_);
    if (library_ == nullptr) {
      const Result result = load_code(code_, library_);
      if (result.failed()) {
        library_ = nullptr;
        return result;
      }
    }
    library = library_;
  }
  return set_managed();
}

Result Program::set_managed() {
  const std::scoped_lock lock(mutex_);
  if (library_ == nullptr || are_managed_set_) return cudaSuccess;
  for (const auto& [pointer, name] : managed_) {
    CUdeviceptr address = 0;
    const CUresult result = cuLibraryGetManaged(&address, nullptr, library_, name.c_str());
    // A variable that no kernel uses is not in the code.
    if (result == CUDA_SUCCESS) *pointer = reinterpret_cast<void*>(address);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_FOUND) return result;
  }
  are_managed_set_ = true;
  return cudaSuccess;
}

Result kernel_of(RegisteredKernel& registered, CUkernel& kernel) {
  static std::mutex mutex;
  const std::scoped_lock lock(mutex);
  if (registered.kernel == nullptr) {
    CUlibrary library = nullptr;
    if (const Result result = registered.program->load(library); result.failed()) return result;
    const CUresult result =
        cuLibraryGetKernel(&registered.kernel, library, registered.name.c_str());
    if (result == CUDA_ERROR_NOT_FOUND) {
      return refuse(cudaErrorInvalidDeviceFunction,
                    "the code that the program registered has no kernel " + registered.name);
    }
    if (result != CUDA_SUCCESS) return result;
  }
  kernel = registered.kernel;
  return cudaSuccess;
}

namespace {

RegisteredKernel* find_registered(const void* function) {
  const std::shared_lock lock(registry().mutex);
  const auto found = registry().kernels.find(function);
  return found != registry().kernels.end() ? &found->second : nullptr;
}

/// A variable by its host address, which for a managed variable may also be its device address.
Variable find_variable(const void* symbol) {
  const std::shared_lock lock(registry().mutex);
  const auto& variables = registry().variables;
  if (const auto found = variables.find(symbol); found != variables.end()) return found->second;
  const auto found = std::ranges::find_if(variables, [&](const auto& each) {
    return each.second.is_managed && *static_cast<void* const*>(each.first) == symbol;
  });
  return found != variables.end() ? found->second : Variable{};
}

}  // namespace

Result find_kernel(const void* function, CUkernel& kernel) {
  if (function == nullptr) return cudaErrorInvalidDeviceFunction;
  if (RegisteredKernel* registered = find_registered(function)) {
    return kernel_of(*registered, kernel);
  }
  kernel = reinterpret_cast<CUkernel>(const_cast<void*>(function));
  const char* name = nullptr;
  if (cuKernelGetName(&name, kernel) == CUDA_SUCCESS) return cudaSuccess;
  return refuse(cudaErrorInvalidDeviceFunction,
                "this address is not a kernel that the program registered");
}

Result find_function(const void* function, CUfunction& found) {
  CUkernel kernel = nullptr;
  const Result result = find_kernel(function, kernel);
  return result.failed() ? result : Result(cuKernelGetFunction(&found, kernel));
}

Result find_symbol(const void* symbol, CUdeviceptr& address, std::size_t& size) {
  const Variable variable = find_variable(symbol);
  if (variable.program == nullptr) return cudaErrorInvalidSymbol;
  const Result result = global_of(variable, address, size);
  return result.error() == cudaErrorSymbolNotFound ? Result(cudaErrorInvalidSymbol) : result;
}

extern "C" {

void** __cudaRegisterFatBinary(const void* code) {
  auto program = std::make_unique<Program>(code);
  const std::unique_lock lock(registry().mutex);
  Program* const raw = program.get();
  registry().programs.emplace(raw, std::move(program));
  return reinterpret_cast<void**>(raw);
}

void __cudaRegisterFatBinaryEnd(void** /*handle*/) {}

void __cudaUnregisterFatBinary(void** handle) {
  std::unique_ptr<Program> ended;
  {
    const std::unique_lock lock(registry().mutex);
    const auto found = registry().programs.find(program_of(handle));
    if (found == registry().programs.end()) return;
    ended = std::move(found->second);
    registry().programs.erase(found);
    const auto is_its = [&](const auto& each) { return each.second.program == ended.get(); };
    std::erase_if(registry().kernels, is_its);
    std::erase_if(registry().variables, is_its);
  }
}

void __cudaRegisterFunction(void** handle, const void* stub, const char* /*function*/,
                            const char* name, int /*thread_limit*/, void* /*thread*/,
                            void* /*block*/, void* /*block_size*/, void* /*grid_size*/,
                            int* /*warp_size*/) {
  const std::unique_lock lock(registry().mutex);
  registry().kernels.insert_or_assign(stub, RegisteredKernel{program_of(handle), name, nullptr});
}

void __cudaRegisterVar(void** handle, const void* variable, const char* /*address*/,
                       const char* name, int /*is_external*/, std::size_t /*size*/,
                       int /*is_constant*/, int /*is_global*/) {
  const std::unique_lock lock(registry().mutex);
  registry().variables.insert_or_assign(variable, Variable{program_of(handle), name, false});
}

void __cudaRegisterManagedVar(void** handle, void** pointer, const char* /*address*/,
                              const char* name, int /*is_external*/, std::size_t /*size*/,
                              int /*is_constant*/, int /*is_global*/) {
  const std::unique_lock lock(registry().mutex);
  registry().variables.insert_or_assign(pointer, Variable{program_of(handle), name, true});
  program_of(handle)->add_managed(pointer, name);
}

/// Not simulated: registering does nothing, and using it is an error.
void __cudaRegisterHostVar(void** /*handle*/, const char* /*name*/, char* /*variable*/,
                           std::size_t /*size*/) {}
void __cudaRegisterUnifiedTable(void** /*handle*/, void* /*table*/) {}

char __cudaInitModule(void** handle) {
  return static_cast<char>(call([&]() -> Result {
                             CUlibrary library = nullptr;
                             return program_of(handle)->load(library);
                           }) == cudaSuccess);
}

cudaError_t __cudaGetKernel(RegisteredKernel** kernel, const void* stub) {
  // Loaded when it is launched; the program checks the result of that.
  *kernel = find_registered(stub);
  return *kernel != nullptr ? cudaSuccess : remember(cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaGetKernel(CUkernel* kernel, const void* stub) {
  return call([&]() -> Result {
    return kernel != nullptr ? find_kernel(stub, *kernel) : Result(cudaErrorInvalidValue);
  });
}

cudaError_t cudaGetFuncBySymbol(CUfunction* function, const void* stub) {
  return call([&]() -> Result {
    return function != nullptr ? find_function(stub, *function) : Result(cudaErrorInvalidValue);
  });
}

cudaError_t cudaGetSymbolAddress(void** to, const void* symbol) {
  return call([&]() -> Result {
    if (to == nullptr) return cudaErrorInvalidValue;
    CUdeviceptr address = 0;
    std::size_t size = 0;
    const Result result = find_symbol(symbol, address, size);
    if (!result.failed()) *to = reinterpret_cast<void*>(address);
    return result;
  });
}

cudaError_t cudaGetSymbolSize(std::size_t* size, const void* symbol) {
  return call([&]() -> Result {
    if (size == nullptr) return cudaErrorInvalidValue;
    CUdeviceptr address = 0;
    return find_symbol(symbol, address, *size);
  });
}

}  // extern "C"

}  // namespace cudacore::runtime
