// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "driver/compiler_call.hpp"
#include "driver/nvrtc_api.hpp"

namespace cudacore::compile {

/// The nvrtcResult values that are handled specially.
enum NvrtcResult : int {
  nvrtc_success = 0,
  nvrtc_out_of_memory = 1,
  nvrtc_invalid_option = 5,
  nvrtc_compilation = 6,
  nvrtc_builtin_operation_failure = 7,
  nvrtc_name_expression_not_valid = 10,
  nvrtc_no_pch_create_attempted = 13,
  nvrtc_pch_create_heap_exhausted = 14,
};

/// "NVRTC 13.0".
[[nodiscard]] std::string nvrtc_version(const driver::NvrtcApi& api);

/// Does nothing on success.
/// @throw OutOfMemoryError, Error that names the function and the object.
void check_nvrtc(const driver::NvrtcApi& api, int result, const char* function,
                 const std::string& object);

/// One nvrtcProgram, which is compiled once.
class NvrtcCompilation : driver::NotCopied {
 public:
  /// @param headers in-memory headers, by the name used in an #include.
  NvrtcCompilation(const std::string& source, std::string name,
                   const std::map<std::string, std::string>& headers);
  ~NvrtcCompilation();

  /// Gives up ownership of the nvrtcProgram; the last reference destroys it.
  [[nodiscard]] std::shared_ptr<void> keep();

  void add_name_expression(const std::string& expression);
  /// The result code of nvrtcCompileProgram.
  /// @throw InterruptedError if the interrupt hook requests it; needs NVRTC 12.9 or later.
  [[nodiscard]] int compile(std::span<const std::string> flags);

  [[nodiscard]] std::string log() const;
  [[nodiscard]] std::string ptx() const;
  [[nodiscard]] std::vector<std::byte> cubin() const;
  [[nodiscard]] std::vector<std::byte> ltoir() const;
  /// The symbol of a name expression.
  [[nodiscard]] std::string lowered_name(const std::string& expression) const;
  /// The result of nvrtcGetPCHCreateStatus.
  /// @throw NotSupportedError for an NVRTC without precompiled headers.
  [[nodiscard]] int pch_create_status() const;
  /// Makes NVRTC's heap for precompiled headers as large as this compilation needed.
  void grow_pch_heap() const;

 private:
  /// What `get` returns; `function` is its name, and with "Size" that of `size_of`.
  [[nodiscard]] std::string output(const std::string& function,
                                   int (*size_of)(driver::NvrtcProgram, std::size_t*),
                                   int (*get)(driver::NvrtcProgram, char*)) const;

  driver::CompilerCall call_;
  const driver::NvrtcApi& api_;
  std::string name_;
  driver::NvrtcProgram program_ = nullptr;
};

}  // namespace cudacore::compile
