// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

namespace bench {

/// NVRTC, opened at run time.
class Nvrtc {
 public:
  /// Opens `path` or, if it is empty, the first NVRTC of the loader or the toolkit.
  /// @throw std::runtime_error that lists what was tried.
  explicit Nvrtc(const std::string& path);

  /// Compiles a source to a cubin: create, compile, fetch, destroy.
  /// @throw std::runtime_error with the compiler's log.
  [[nodiscard]] std::vector<char> cubin(const std::string& source, int arch) const;

  /// "13.0 /path/of/libnvrtc.so.13".
  [[nodiscard]] std::string description() const;

 private:
  using Program = struct ProgramState*;

  std::shared_ptr<void> library_;
  int (*version_)(int* major, int* minor) = nullptr;
  const char* (*error_string_)(int result) = nullptr;
  int (*create_)(Program* program, const char* source, const char* name, int header_count,
                 const char* const* headers, const char* const* names) = nullptr;
  int (*destroy_)(Program* program) = nullptr;
  int (*compile_)(Program program, int option_count, const char* const* options) = nullptr;
  int (*cubin_size_)(Program program, std::size_t* size) = nullptr;
  int (*cubin_)(Program program, char* cubin) = nullptr;
  int (*log_size_)(Program program, std::size_t* size) = nullptr;
  int (*log_)(Program program, char* log) = nullptr;
};

}  // namespace bench
