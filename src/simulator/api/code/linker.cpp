// SPDX-License-Identifier: Apache-2.0
//
// cuLink: concatenates PTX modules; they are linked when the result is loaded.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/api/code/fat_binary.hpp"
#include "simulator/api/code/module.hpp"
#include "simulator/api/entry.hpp"

namespace cudacore::simulator {

/// The object for a CUlinkState.
class Linker {
 public:
  JitOptions options;

  void add(std::string ptx) {
    const std::scoped_lock lock(mutex_);
    inputs_.push_back(std::move(ptx));
  }

  /// All inputs as one text, which lives as long as the linker. @throws LoadError
  const std::string& complete(Context& context) {
    const std::scoped_lock lock(mutex_);
    std::vector<std::string_view> texts(inputs_.begin(), inputs_.end());
    if (!texts.empty()) check(context, texts);
    output_.clear();
    for (const std::string& input : inputs_) output_ += input + "\n";
    return output_;
  }

 private:
  /// Loads the program and discards it, so that link errors are reported here.
  static void check(Context& context, const std::vector<std::string_view>& texts) {
    JitOptions none;
    const auto module = load_module(context, texts, none);
    {
      const std::scoped_lock lock(context.mutex);
      std::erase(context.modules, module);
    }
    end_module(*module, true);
  }

  std::mutex mutex_;
  std::vector<std::string> inputs_;
  std::string output_;
};

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

namespace {

/// CUresult body(Linker&, Context&), for a live handle.
template <class Body>
CUresult link_call(CUlinkState handle, Body&& body) noexcept {
  return context_call([&](Context& context) {
    return with_object(registry().linkers, handle,
                       [&](Linker& linker) { return body(linker, context); });
  });
}

CUresult add_input(Linker& linker, const Device& device, CUjitInputType type,
                   std::string_view code) {
  if (static_cast<int>(type) < 0 || type >= CU_JIT_NUM_INPUT_TYPES) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_JIT_INPUT_PTX && type != CU_JIT_INPUT_FATBINARY) {
    return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU,
                  "only PTX can be linked for the simulated device, and fat binaries that hold it: "
                  "machine code (SASS) is not simulated");
  }
  if ((type == CU_JIT_INPUT_FATBINARY) != is_fat_binary(code.data(), code.size())) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the type of the input is not what it is");
  }
  std::string ptx;
  const CUresult result = find_ptx(code.data(), code.size(), device, ptx);
  if (result == CUDA_SUCCESS) linker.add(std::move(ptx));
  return result == CUDA_ERROR_INVALID_IMAGE ? CUDA_ERROR_INVALID_VALUE : result;
}

/// Options of one input: only options that don't matter here are allowed.
CUresult check_options(unsigned count, const CUjit_option* options, void** values) {
  JitOptions read;
  return read.read(count, options, values);
}

}  // namespace

extern "C" {

CUresult cuLinkCreate_v2(unsigned count, CUjit_option* options, void** values,
                         CUlinkState* handle) {
  return context_call([&](Context&) {
    if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
    auto linker = std::make_shared<Linker>();
    const CUresult result = linker->options.read(count, options, values);
    if (result == CUDA_SUCCESS) *handle = registry().linkers.insert(std::move(linker));
    return result;
  });
}

CUresult cuLinkCreate(unsigned count, CUjit_option* options, void** values, CUlinkState* handle) {
  return cuLinkCreate_v2(count, options, values, handle);
}

CUresult cuLinkAddData_v2(CUlinkState handle, CUjitInputType type, void* data, std::size_t size,
                          const char*, unsigned count, CUjit_option* options, void** values) {
  return link_call(handle, [&](Linker& linker, const Context& context) {
    if (data == nullptr || size == 0) return CUDA_ERROR_INVALID_VALUE;
    if (const CUresult result = check_options(count, options, values); result != CUDA_SUCCESS) {
      return result;
    }
    return add_input(linker, context.device, type, {static_cast<const char*>(data), size});
  });
}

CUresult cuLinkAddData(CUlinkState handle, CUjitInputType type, void* data, std::size_t size,
                       const char* name, unsigned count, CUjit_option* options, void** values) {
  return cuLinkAddData_v2(handle, type, data, size, name, count, options, values);
}

CUresult cuLinkAddFile_v2(CUlinkState handle, CUjitInputType type, const char* path, unsigned count,
                          CUjit_option* options, void** values) {
  return link_call(handle, [&](Linker& linker, const Context& context) {
    if (path == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = check_options(count, options, values);
    std::string content;
    if (result == CUDA_SUCCESS) result = read_file(path, content);
    return result == CUDA_SUCCESS ? add_input(linker, context.device, type, content) : result;
  });
}

CUresult cuLinkAddFile(CUlinkState handle, CUjitInputType type, const char* path, unsigned count,
                       CUjit_option* options, void** values) {
  return cuLinkAddFile_v2(handle, type, path, count, options, values);
}

CUresult cuLinkComplete(CUlinkState handle, void** code, std::size_t* size) {
  return link_call(handle, [&](Linker& linker, Context& context) {
    if (code == nullptr) return CUDA_ERROR_INVALID_VALUE;
    try {
      const std::string& output = linker.complete(context);
      *code = const_cast<char*>(output.c_str());  // NOLINT: the prototype has it so
      if (size != nullptr) *size = output.size() + 1;
      linker.options.finish();
      return CUDA_SUCCESS;
    } catch (const LoadError& error) {
      return report_load_error(error, linker.options);
    }
  });
}

CUresult cuLinkDestroy(CUlinkState handle) {
  return driver_call([&] {
    return registry().linkers.erase(handle) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
  });
}

}  // extern "C"
