// SPDX-License-Identifier: Apache-2.0
//
// Loaded code: modules in one context, libraries in all contexts, and their kernels.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "simulator/api/code/jit_options.hpp"
#include "simulator/api/objects.hpp"

namespace cudacore::simulator {

/// What a program may set for a function: per context for a module's function, per device for a
/// library's kernel.
struct FunctionSettings {
  static constexpr int not_set = -1;
  std::atomic<int> max_dynamic_shared{not_set};
  std::atomic<int> carveout{not_set};
  std::atomic<int> cluster_must_be_set{0};
  std::array<std::atomic<int>, 3> required_cluster{};
  std::atomic<int> non_portable_cluster{0};
  std::atomic<int> cluster_policy{0};
  std::atomic<CUfunc_cache> cache_config{CU_FUNC_CACHE_PREFER_NONE};
};

/// A program in a context.
class Module : public std::enable_shared_from_this<Module> {
 public:
  Module(Context& context, const std::shared_ptr<Library>& library);

  const std::shared_ptr<Context> context;
  const std::weak_ptr<Library> library;  ///< empty for modules from cuModuleLoad
  const bool is_of_library;
  std::shared_ptr<const Image> image;
  CUmodule handle = nullptr;

  /// The handle of a kernel, always the same one; null if there is no such kernel.
  /// @throws std::bad_alloc
  CUfunction find_function(std::string_view name);
  CUfunction function_handle(const Function& entry);

 private:
  friend std::shared_ptr<Module> load_module(Context&, std::span<const std::string_view>,
                                             JitOptions&, const std::shared_ptr<Library>&);
  friend void end_module(Module&, bool) noexcept;

  std::mutex mutex_;
  bool ended_ = false;
  std::map<const Function*, CUfunction> functions_;
  std::vector<Allocation> variables_;
};

/// The object for a CUfunction.
struct FunctionObject {
  std::shared_ptr<Module> module;
  const Function* entry = nullptr;
  std::shared_ptr<FunctionSettings> settings;
};

/// Code for every context, loaded into each context when it is first needed there.
class Library : public std::enable_shared_from_this<Library> {
 public:
  explicit Library(std::string ptx) : text(std::move(ptx)) {}

  const std::string text;
  CUlibrary handle = nullptr;
  /// Only for names and parameters; its variables have no memory.
  std::shared_ptr<const Image> image;
  std::vector<CUkernel> kernels;  ///< in the order of image->entries()

  /// The library's module in a context, which is loaded now if necessary. @throws LoadError
  std::shared_ptr<Module> module_in(Context& context);
  void end() noexcept;

 private:
  std::mutex mutex_;
  bool ended_ = false;
  std::unordered_map<std::uint64_t, std::shared_ptr<Module>> modules_;  ///< by context id
};

/// The object for a CUkernel.
struct KernelObject {
  std::shared_ptr<Library> library;
  const Function* entry = nullptr;                          ///< of Library::image
  std::vector<std::shared_ptr<FunctionSettings>> settings;  ///< by device
};

/// Loads a program into a context, and creates a handle for it. @throws LoadError
std::shared_ptr<Module> load_module(Context& context, std::span<const std::string_view> texts,
                                    JitOptions& options,
                                    const std::shared_ptr<Library>& library = nullptr);
/// Invalidates the handles of a module and its functions, and frees its variables if requested.
void end_module(Module& module, bool free_variables) noexcept;

/// Finds the PTX for a device in what a program loads: a text or a fat binary. If there is none,
/// logs the reason and returns its code.
/// @param size  of the bytes at code; SIZE_MAX for a text, or a fat binary that contains its size
CUresult find_ptx(const void* code, std::size_t size, const Device& device, std::string& ptx);
/// Reads a whole file. FILE_NOT_FOUND if that fails.
CUresult read_file(const char* path, std::string& content);

/// What code must be loaded for on a device.
Target target_of(const Device& device) noexcept;

/// NOT_SUPPORTED if something in a kernel is not simulated; logs what.
CUresult refuse_what_is_not_simulated(const Function& entry);
/// The driver's code for a load error; logs the error, and writes it to the options' error log.
CUresult report_load_error(const LoadError& error, JitOptions& options);

/// The function for a handle: a CUfunction or, in that context, a CUkernel passed as one. Otherwise
/// null, with the code.
std::shared_ptr<FunctionObject> find_function(CUfunction handle, Context& context,
                                              CUresult& status);
/// The function for a library's kernel in a context. @throws LoadError
CUfunction function_of_kernel(const KernelObject& kernel, Context& context);

}  // namespace cudacore::simulator
