// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cudacore::driver {

/// Held while a thread works with NVRTC or nvJitLink. A thread may hold several.
class CompilerCall {
 public:
  CompilerCall() noexcept;
  ~CompilerCall();
  CompilerCall(const CompilerCall&) = delete;
  CompilerCall& operator=(const CompilerCall&) = delete;
};

/// Waits for the calls in progress; those that come later never return. For a process that exits
/// while threads compile: the libraries destroy at exit what their calls work with.
void end_compiler_calls() noexcept;

}  // namespace cudacore::driver
