// SPDX-License-Identifier: Apache-2.0
//
// What every function of the runtime does at its start and end, using the driver's functions.
#pragma once

#include <cuda.h>

#include <exception>
#include <new>
#include <optional>
#include <string>

namespace cudacore::runtime {

enum cudaError_t : int {
#define CUDACORE_RUNTIME_ERROR(name, code, text) name = (code),
#include "simulator/runtime/errors.def"
#undef CUDACORE_RUNTIME_ERROR
};

/// dim3 of CUDA C++.
struct Dim3 {
  unsigned x = 1;
  unsigned y = 1;
  unsigned z = 1;
};

/// What the runtime stores for each thread. It has no destructor: programs call the runtime after
/// their threads' destructors have run.
struct Thread {
  int device = 0;
  CUcontext context = nullptr;  ///< the primary context that the runtime made current
  cudaError_t last_error = cudaSuccess;
  CUcontext failed = nullptr;  ///< if the last error stays with a context: that context
};

[[nodiscard]] Thread& this_thread() noexcept;

/// The driver's codes are also valid in the runtime.
class Result {
 public:
  Result(cudaError_t error) noexcept : error_(error) {}  // NOLINT(google-explicit-constructor)
  Result(CUresult result) noexcept                       // NOLINT(google-explicit-constructor)
      : error_(static_cast<cudaError_t>(result)) {}
  [[nodiscard]] cudaError_t error() const noexcept { return error_; }
  [[nodiscard]] bool failed() const noexcept { return error_ != cudaSuccess; }

 private:
  cudaError_t error_;
};

/// Logs an error in the driver's log, where users learn the reason.
Result refuse(cudaError_t error, const std::string& why);

/// cuInit, once.
[[nodiscard]] Result initialise() noexcept;
/// Makes a device's primary context current to the thread.
[[nodiscard]] Result use_device(int device) noexcept;
/// Makes sure that a context is current: one that the program chose with driver functions, or the
/// primary context of the thread's device.
[[nodiscard]] Result use_context() noexcept;
/// The device of the current context, or the thread's device if there is none.
[[nodiscard]] Result current_device(int& device) noexcept;
/// The primary context of a device, kept until the device is reset.
[[nodiscard]] Result primary_context(int device, CUcontext& context) noexcept;
/// Whether a context has not been destroyed, for example by a reset; a lost context is still alive.
[[nodiscard]] bool is_alive(CUcontext context) noexcept;

/// Stores an error for cudaGetLastError.
cudaError_t remember(Result result) noexcept;

/// A call that needs the driver, but no context: Result body().
template <class Body>
cudaError_t driver_call(Body&& body) noexcept {
  try {
    const Result ready = initialise();
    return remember(ready.failed() ? ready : Result(body()));
  } catch (const std::bad_alloc&) {
    return remember(cudaErrorMemoryAllocation);
  } catch (const std::exception&) {
    return remember(cudaErrorUnknown);
  }
}

/// A call that works in the thread's context: Result body().
template <class Body>
cudaError_t call(Body&& body) noexcept {
  return driver_call([&]() -> Result {
    const Result ready = use_context();
    return ready.failed() ? ready : Result(body());
  });
}

/// The stream that null refers to: the legacy default stream or, in programs compiled with
/// --default-stream per-thread, the thread's own.
class DefaultStream {
 public:
  explicit DefaultStream(CUstream stream) noexcept : stream_(stream) {}
  [[nodiscard]] CUstream operator()(CUstream stream = nullptr) const noexcept {
    return stream != nullptr ? stream : stream_;
  }
  /// The result of a call that returns when its work is done, given the result of queueing the
  /// work.
  [[nodiscard]] Result wait(Result queued) const noexcept {
    return queued.failed() ? queued : Result(cuStreamSynchronize(stream_));
  }

 private:
  CUstream stream_;
};

}  // namespace cudacore::runtime

/// A function of the runtime and its twin for programs with per-thread default streams, whose name
/// ends in _ptsz or _ptds. The remaining argument is an expression of type Result or CUresult, in
/// which `on` is the DefaultStream.
#define CUDACORE_RUNTIME_TWINS(name, suffix, parameters, ...)                                  \
  CUDACORE_RUNTIME_ON(name, parameters, nullptr, __VA_ARGS__)                                  \
  CUDACORE_RUNTIME_ON(CUDACORE_RUNTIME_JOINED(name, suffix), parameters, CU_STREAM_PER_THREAD, \
                      __VA_ARGS__)
#define CUDACORE_RUNTIME_ON(name, parameters, default_stream, ...) \
  cudaError_t name parameters {                                    \
    return call([&]() -> Result {                                  \
      [[maybe_unused]] const DefaultStream on{default_stream};     \
      return __VA_ARGS__;                                          \
    });                                                            \
  }
#define CUDACORE_RUNTIME_JOINED(name, suffix) CUDACORE_RUNTIME_JOINED_AS_IS(name, suffix)
#define CUDACORE_RUNTIME_JOINED_AS_IS(name, suffix) name##suffix
