// SPDX-License-Identifier: Apache-2.0
#include "simulator/runtime/call.hpp"

#include <map>
#include <memory>
#include <mutex>

/// The simulated driver's log, the only function used here that is not in <cuda.h>.
extern "C" void cudacoreSimulatorLogError(const char* message);

namespace cudacore::runtime {

namespace {

struct Primaries {
  std::mutex mutex;
  std::map<int, CUcontext> of_device;
};

/// Never destroyed: programs call the runtime while they end.
Primaries& primaries() {
  static Primaries& all = *std::make_unique<Primaries>().release();
  return all;
}

}  // namespace

Thread& this_thread() noexcept {
  static constinit thread_local Thread thread;
  return thread;
}

Result refuse(cudaError_t error, const std::string& why) {
  cudacoreSimulatorLogError(why.c_str());
  return error;
}

Result initialise() noexcept {
  static const CUresult result = cuInit(0);
  return result;
}

bool is_alive(CUcontext context) noexcept {
  unsigned long long id = 0;
  return context != nullptr && cuCtxGetId(context, &id) == CUDA_SUCCESS;
}

Result use_device(int device) noexcept {
  CUcontext context = nullptr;
  Result result = primary_context(device, context);
  if (!result.failed()) result = cuCtxSetCurrent(context);
  if (result.failed()) return result;
  Thread& thread = this_thread();
  thread.device = device;
  thread.context = context;
  return cudaSuccess;
}

Result use_context() noexcept {
  const Thread& thread = this_thread();
  CUcontext current = nullptr;
  if (const CUresult result = cuCtxGetCurrent(&current); result != CUDA_SUCCESS) return result;
  const bool is_ours = current == nullptr || current == thread.context;
  return is_ours && !is_alive(current) ? use_device(thread.device) : cudaSuccess;
}

Result current_device(int& device) noexcept {
  const Thread& thread = this_thread();
  CUcontext current = nullptr;
  if (const CUresult result = cuCtxGetCurrent(&current); result != CUDA_SUCCESS) return result;
  if (current != nullptr && current != thread.context) return cuCtxGetDevice(&device);
  device = thread.device;
  return cudaSuccess;
}

Result primary_context(int device, CUcontext& context) noexcept {
  const std::scoped_lock lock(primaries().mutex);
  CUcontext& known = primaries().of_device[device];
  // The program may have reset the device with driver functions.
  if (!is_alive(known)) {
    known = nullptr;
    const CUresult result = cuDevicePrimaryCtxRetain(&known, device);
    if (result != CUDA_SUCCESS) return result;
  }
  context = known;
  return cudaSuccess;
}

extern "C" {

cudaError_t cudaDeviceReset() {
  return driver_call([]() -> Result {
    int device = 0;
    if (const Result result = current_device(device); result.failed()) return result;
    CUcontext ended = nullptr;
    {
      const std::scoped_lock lock(primaries().mutex);
      std::swap(ended, primaries().of_device[device]);
    }
    const bool is_retained = is_alive(ended);
    const CUresult result = cuDevicePrimaryCtxReset(device);
    if (is_retained) (void)cuDevicePrimaryCtxRelease(device);
    return result;
  });
}

}  // extern "C"

}  // namespace cudacore::runtime
