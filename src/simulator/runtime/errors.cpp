// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "simulator/runtime/call.hpp"

namespace cudacore::runtime {

namespace {

struct Error {
  const char* name;
  cudaError_t code;
  const char* text;  ///< null if it is the driver's
};

constexpr std::array errors{
#define CUDACORE_RUNTIME_ERROR(name, code, text) Error{#name, name, text},
#include "simulator/runtime/errors.def"
#undef CUDACORE_RUNTIME_ERROR
};

const Error* find(int code) noexcept {
  const auto* found =
      std::ranges::find(errors, code, [](const Error& error) -> int { return error.code; });
  return found != errors.end() ? found : nullptr;
}

/// After these errors, a context is lost for good.
bool is_sticky(cudaError_t error) noexcept {
  constexpr std::array lost{
      cudaErrorECCUncorrectable,    cudaErrorNvlinkUncorrectable, cudaErrorContained,
      cudaErrorIllegalAddress,      cudaErrorLaunchTimeout,       cudaErrorAssert,
      cudaErrorHardwareStackError,  cudaErrorIllegalInstruction,  cudaErrorMisalignedAddress,
      cudaErrorInvalidAddressSpace, cudaErrorInvalidPc,           cudaErrorLaunchFailure,
      cudaErrorTensorMemoryLeak,    cudaErrorExternalDevice};
  return std::ranges::find(lost, error) != lost.end();
}

/// The thread's last error, unless it belongs to a context that has been reset since.
cudaError_t& last_error() noexcept {
  Thread& thread = this_thread();
  if (is_sticky(thread.last_error) && !is_alive(thread.failed)) thread.last_error = cudaSuccess;
  return thread.last_error;
}

}  // namespace

cudaError_t remember(Result result) noexcept {
  if (result.failed()) {
    Thread& thread = this_thread();
    thread.last_error = result.error();
    if (is_sticky(thread.last_error)) (void)cuCtxGetCurrent(&thread.failed);
  }
  return result.error();
}

extern "C" {

cudaError_t cudaGetLastError() {
  cudaError_t& last = last_error();
  const cudaError_t error = last;
  if (!is_sticky(error)) last = cudaSuccess;
  return error;
}

cudaError_t cudaPeekAtLastError() { return last_error(); }

const char* cudaGetErrorName(int code) {
  const Error* error = find(code);
  return error != nullptr ? error->name : "unrecognized error code";
}

const char* cudaGetErrorString(int code) {
  const Error* error = find(code);
  if (error == nullptr) return "unrecognized error code";
  if (error->text != nullptr) return error->text;
  const char* text = nullptr;
  const CUresult result = cuGetErrorString(static_cast<CUresult>(code), &text);
  return result == CUDA_SUCCESS && text != nullptr ? text : error->name;
}

}  // extern "C"

}  // namespace cudacore::runtime
