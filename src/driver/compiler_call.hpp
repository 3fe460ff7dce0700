// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "driver/blocking.hpp"
#include "driver/process.hpp"

namespace cudacore::driver {

/// Held while a thread uses NVRTC or nvJitLink. A thread may hold several.
class CompilerCall : NotCopied {
 public:
  CompilerCall() noexcept;
  ~CompilerCall();
};

/// Keeps a compiler's handle as long as it is in use. `destroy` destroys it, unless the process is
/// exiting.
template <typename Handle, typename Destroy>
[[nodiscard]] std::shared_ptr<void> keep_until_exit(Handle handle, Destroy destroy) {
  return {handle, [destroy](Handle ended) {
            if (is_exiting()) return;
            const BlockingScope scope;
            const CompilerCall call;
            destroy(ended);
          }};
}

/// Waits for the calls in progress; later calls never return. For a process that exits while
/// threads compile: at exit, the libraries destroy what their calls use.
void end_compiler_calls() noexcept;

}  // namespace cudacore::driver
