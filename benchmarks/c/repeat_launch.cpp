// SPDX-License-Identifier: Apache-2.0
//
// Launches of a kernel, timed inside a process that has loaded other libraries too: they make each
// call of the driver slower, which a program of its own doesn't show.
#include <cuda.h>

#include <chrono>

using LaunchKernelEx = CUresult (*)(const CUlaunchConfig*, CUfunction, void**, void**);

/// Launches one block `count` times; returns the seconds that a launch takes, or -1
/// if one fails.
extern "C" double cudacore_repeat_launch(LaunchKernelEx launch, CUfunction function,
                                         CUstream stream, void** arguments, unsigned threads,
                                         unsigned count) {
  CUlaunchConfig config{};
  config.gridDimX = config.gridDimY = config.gridDimZ = 1;
  config.blockDimX = threads;
  config.blockDimY = config.blockDimZ = 1;
  config.hStream = stream;
  const auto start = std::chrono::steady_clock::now();
  for (unsigned i = 0; i < count; ++i) {
    if (launch(&config, function, arguments, nullptr) != CUDA_SUCCESS) return -1;
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() / count;
}
