// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "driver/blocking.hpp"
#include "driver/process.hpp"

namespace cudacore::driver {

/// Held while a thread works with NVRTC or nvJitLink. A thread may hold several.
class CompilerCall {
 public:
  CompilerCall() noexcept;
  ~CompilerCall();
  CompilerCall(const CompilerCall&) = delete;
  CompilerCall& operator=(const CompilerCall&) = delete;
};

/// Keeps a compiler's handle for as long as somebody holds it. `destroy` ends it, not once the
/// process exits.
template <typename Handle, typename Destroy>
[[nodiscard]] std::shared_ptr<void> keep_until_exit(Handle handle, Destroy destroy) {
  return {handle, [destroy](Handle ended) {
            if (is_exiting()) return;
            const BlockingScope scope;
            const CompilerCall call;
            destroy(ended);
          }};
}

/// Waits for the calls in progress; those that come later never return. For a process that exits
/// while threads compile: the libraries destroy at exit what their calls work with.
void end_compiler_calls() noexcept;

}  // namespace cudacore::driver
