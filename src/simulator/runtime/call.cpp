// SPDX-License-Identifier: Apache-2.0
#include "simulator/runtime/call.hpp"

#include <map>
#include <memory>
#include <mutex>

/// The simulated driver's log, the one thing here that <cuda.h> does not have.
extern "C" void cudacoreSimulatorLogError(const char* message);

namespace cudacore::runtime {

namespace {

struct Primary {
  CUcontext context = nullptr;
  unsigned resets = 0;
};

struct Primaries {
  std::mutex mutex;
  std::map<int, Primary> of_device;
};

/// Never destroyed: programs call the runtime while they end.
Primaries& primaries() {
  static Primaries& all = *std::make_unique<Primaries>().release();
  return all;
}

/// The primary context of a device, and how often it was reset.
Result retain(int device, Primary& primary) {
  const std::scoped_lock lock(primaries().mutex);
  Primary& known = primaries().of_device[device];
  if (known.context == nullptr) {
    const CUresult result = cuDevicePrimaryCtxRetain(&known.context, device);
    if (result != CUDA_SUCCESS) return result;
  }
  primary = known;
  return cudaSuccess;
}

unsigned resets_of(int device) {
  const std::scoped_lock lock(primaries().mutex);
  return primaries().of_device[device].resets;
}

}  // namespace

Thread& this_thread() noexcept {
  static thread_local Thread thread;
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

Result use_device(int device) noexcept {
  Primary primary;
  Result result = retain(device, primary);
  if (!result.failed()) result = cuCtxSetCurrent(primary.context);
  if (result.failed()) return result;
  Thread& thread = this_thread();
  thread.device = device;
  thread.context = primary.context;
  thread.resets = primary.resets;
  return cudaSuccess;
}

Result use_context() noexcept {
  const Thread& thread = this_thread();
  CUcontext current = nullptr;
  if (const CUresult result = cuCtxGetCurrent(&current); result != CUDA_SUCCESS) return result;
  const bool is_ours = current == nullptr || current == thread.context;
  if (!is_ours || (current != nullptr && thread.resets == resets_of(thread.device))) {
    return cudaSuccess;
  }
  return use_device(thread.device);
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
  Primary primary;
  const Result result = retain(device, primary);
  context = primary.context;
  return result;
}

cudaError_t remember(Result result) noexcept {
  if (result.failed()) this_thread().last_error = result.error();
  return result.error();
}

extern "C" {

cudaError_t cudaDeviceReset() {
  return driver_call([]() -> Result {
    int device = 0;
    if (const Result result = current_device(device); result.failed()) return result;
    Primary ended;
    {
      const std::scoped_lock lock(primaries().mutex);
      Primary& primary = primaries().of_device[device];
      ++primary.resets;
      std::swap(ended.context, primary.context);
    }
    const CUresult result = cuDevicePrimaryCtxReset(device);
    if (ended.context != nullptr) (void)cuDevicePrimaryCtxRelease(device);
    return result;
  });
}

}  // extern "C"

}  // namespace cudacore::runtime
