// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "compile/architecture.hpp"
#include "cudacore/object_code.hpp"
#include "driver/compiler_call.hpp"
#include "driver/nvjitlink_api.hpp"
#include "error/check.hpp"

namespace cudacore::compile {

/// One nvJitLinkHandle, which is linked once.
class NvJitLinkSession : driver::NotCopied {
 public:
  /// @param name for messages.
  /// @param flags the command line, with -arch.
  /// @throw NotSupportedError for an architecture or a flag that this nvJitLink doesn't know;
  /// LinkError.
  NvJitLinkSession(std::string name, const Architecture& architecture,
                   std::span<const std::string> flags);
  ~NvJitLinkSession();

  /// Gives up ownership of the nvJitLinkHandle; the last reference destroys it.
  [[nodiscard]] std::shared_ptr<void> keep();

  /// @throw LinkError, also for a cubin that is not relocatable, which nvJitLink would
  /// ignore.
  void add(const ObjectCode& input);
  /// @throw LinkError
  void complete();

  [[nodiscard]] std::vector<std::byte> cubin() const;
  [[nodiscard]] std::string ptx() const;
  [[nodiscard]] std::string error_log() const;
  [[nodiscard]] std::string info_log() const;

 private:
  using SizeFunction = int (*)(driver::NvJitLinkHandle, std::size_t*);
  using GetFunction = int (*)(driver::NvJitLinkHandle, char*);

  /// What `get` returns; `function` is its name, and with "Size" that of `size_of`.
  [[nodiscard]] std::string output(const std::string& function, SizeFunction size_of,
                                   GetFunction get) const;
  /// A log of the session; empty if the library can't provide it.
  [[nodiscard]] std::string read_log(SizeFunction size_of, GetFunction get) const;
  void check(int result, const char* function, std::string_view object) const;
  [[noreturn]] void throw_error(int result, const char* function, std::string_view object,
                                const std::string& log, const std::string& advice = {}) const;

  driver::CompilerCall call_;
  const driver::NvJitLinkApi& api_;
  std::string name_;
  Architecture architecture_;
  driver::NvJitLinkHandle handle_ = nullptr;
};

}  // namespace cudacore::compile
