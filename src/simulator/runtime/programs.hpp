// SPDX-License-Identifier: Apache-2.0
//
// What programs built by nvcc register before main: their code, and the host addresses of its
// kernels and variables.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "simulator/runtime/call.hpp"

namespace cudacore::runtime {

/// One fat binary, which is loaded when something in it is first used.
class Program {
 public:
  explicit Program(const void* code) : code_(code) {}
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Managed variables are pointers on the host, which loading sets.
  void add_managed(void** pointer, const char* name) { managed_.push_back({pointer, name}); }
  [[nodiscard]] Result load(CUlibrary& library);
  [[nodiscard]] Result set_managed();

 private:
  struct Managed {
    void** pointer;
    std::string name;
  };

  std::mutex mutex_;
  const void* code_;
  CUlibrary library_ = nullptr;
  std::vector<Managed> managed_;
  bool are_managed_set_ = false;
};

/// A kernel that a program registered.
struct RegisteredKernel {
  Program* program = nullptr;
  std::string name;
  CUkernel kernel = nullptr;  ///< null until first used
};

[[nodiscard]] Result kernel_of(RegisteredKernel& registered, CUkernel& kernel);
/// The kernel for a stub on the host, or for the result of cudaGetKernel or cudaLibraryGetKernel.
[[nodiscard]] Result find_kernel(const void* function, CUkernel& kernel);
/// The same in the current context.
[[nodiscard]] Result find_function(const void* function, CUfunction& found);
[[nodiscard]] Result find_symbol(const void* symbol, CUdeviceptr& address, std::size_t& size);

}  // namespace cudacore::runtime
