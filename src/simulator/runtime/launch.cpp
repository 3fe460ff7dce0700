// SPDX-License-Identifier: Apache-2.0
//
// Launches of kernels and of host functions.
#include <memory>
#include <utility>
#include <vector>

#include "simulator/runtime/programs.hpp"
#include "simulator/runtime/types.hpp"

namespace cudacore::runtime {

namespace {

/// What <<< >>> leaves for the kernel's stub.
struct CallConfiguration {
  Dim3 grid;
  Dim3 block;
  std::size_t shared_memory = 0;
  CUstream stream = nullptr;
};

using CallConfigurations = std::vector<CallConfiguration>;

// A plain pointer outlives the thread's destructors: those of static objects may launch kernels.
thread_local CallConfigurations* thread_configurations = nullptr;

struct EndConfigurations {
  EndConfigurations() = default;
  ~EndConfigurations() { delete std::exchange(thread_configurations, nullptr); }  // NOLINT
  EndConfigurations(const EndConfigurations&) = delete;
  EndConfigurations& operator=(const EndConfigurations&) = delete;
};

/// @throws std::bad_alloc
CallConfigurations& call_configurations() {
  if (thread_configurations == nullptr) {
    thread_configurations = std::make_unique<CallConfigurations>().release();
    static thread_local const EndConfigurations end;
  }
  return *thread_configurations;
}

int attribute_of_device(CUdevice_attribute attribute) {
  int device = 0;
  int value = 0;
  (void)current_device(device);
  (void)cuDeviceGetAttribute(&value, attribute, device);
  return value;
}

/// Whether a launch that the driver rejected as invalid has an invalid grid or block, for which the
/// runtime has a separate code.
bool is_invalid_configuration(const Dim3& grid, const Dim3& block) {
  const auto is_wrong = [](unsigned value, CUdevice_attribute most) {
    return value == 0 || value > static_cast<unsigned>(attribute_of_device(most));
  };
  const auto threads = static_cast<unsigned long long>(block.x) * block.y * block.z;
  return is_wrong(grid.x, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) ||
         is_wrong(grid.y, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y) ||
         is_wrong(grid.z, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z) ||
         is_wrong(block.x, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) ||
         is_wrong(block.y, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y) ||
         is_wrong(block.z, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z) ||
         threads >
             static_cast<unsigned>(attribute_of_device(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK));
}

Result launch(CUkernel kernel, const LaunchConfiguration& how, void** arguments) {
  const CUlaunchConfig config = driver_configuration(how);
  const CUresult result =
      cuLaunchKernelEx(&config, reinterpret_cast<CUfunction>(kernel), arguments, nullptr);
  if (result == CUDA_ERROR_INVALID_VALUE && is_invalid_configuration(how.grid, how.block)) {
    return cudaErrorInvalidConfiguration;
  }
  return result;
}

Result launch(const void* function, const LaunchConfiguration& how, void** arguments) {
  CUkernel kernel = nullptr;
  const Result result = find_kernel(function, kernel);
  return result.failed() ? result : launch(kernel, how, arguments);
}

Result launch(RegisteredKernel* registered, const LaunchConfiguration& how, void** arguments) {
  if (registered == nullptr) return cudaErrorInvalidDeviceFunction;
  CUkernel kernel = nullptr;
  const Result result = kernel_of(*registered, kernel);
  return result.failed() ? result : launch(kernel, how, arguments);
}

Result launch_cooperative(const void* function, LaunchConfiguration how, void** arguments) {
  CUlaunchAttribute cooperative{};
  cooperative.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE;
  cooperative.value.cooperative = 1;
  how.attributes = &cooperative;
  how.attribute_count = 1;
  return launch(function, how, arguments);
}

Result launch_as_told(const LaunchConfiguration* how, const void* function, void** arguments,
                      const DefaultStream& on) {
  if (how == nullptr) return cudaErrorInvalidValue;
  LaunchConfiguration there = *how;
  there.stream = on(there.stream);
  return launch(function, there, arguments);
}

}  // namespace

extern "C" {

unsigned __cudaPushCallConfiguration(Dim3 grid, Dim3 block, std::size_t shared_memory,
                                     CUstream stream) {
  try {
    call_configurations().push_back({grid, block, shared_memory, stream});
    return 0;
  } catch (const std::bad_alloc&) {
    return static_cast<unsigned>(remember(cudaErrorMemoryAllocation));
  }
}

cudaError_t __cudaPopCallConfiguration(Dim3* grid, Dim3* block, std::size_t* shared_memory,
                                       CUstream* stream) {
  CallConfigurations* const all = thread_configurations;
  if (all == nullptr || all->empty()) return remember(cudaErrorMissingConfiguration);
  *grid = all->back().grid;
  *block = all->back().block;
  *shared_memory = all->back().shared_memory;
  *stream = all->back().stream;
  all->pop_back();
  return cudaSuccess;
}

CUDACORE_RUNTIME_TWINS(__cudaLaunchKernel, _ptsz,
                       (RegisteredKernel * kernel, Dim3 grid, Dim3 block, void** arguments,
                        std::size_t shared_memory, CUstream stream),
                       launch(kernel, {grid, block, shared_memory, on(stream), nullptr, 0},
                              arguments))

CUDACORE_RUNTIME_TWINS(cudaLaunchKernel, _ptsz,
                       (const void* function, Dim3 grid, Dim3 block, void** arguments,
                        std::size_t shared_memory, CUstream stream),
                       launch(function, {grid, block, shared_memory, on(stream), nullptr, 0},
                              arguments))

CUDACORE_RUNTIME_TWINS(cudaLaunchCooperativeKernel, _ptsz,
                       (const void* function, Dim3 grid, Dim3 block, void** arguments,
                        std::size_t shared_memory, CUstream stream),
                       launch_cooperative(function,
                                          {grid, block, shared_memory, on(stream), nullptr, 0},
                                          arguments))

CUDACORE_RUNTIME_TWINS(cudaLaunchKernelExC, _ptsz,
                       (const LaunchConfiguration* how, const void* function, void** arguments),
                       launch_as_told(how, function, arguments, on))

CUDACORE_RUNTIME_TWINS(cudaLaunchHostFunc, _ptsz, (CUstream stream, CUhostFn function, void* data),
                       cuLaunchHostFunc(on(stream), function, data))

CUDACORE_RUNTIME_TWINS(cudaStreamAddCallback, _ptsz,
                       (CUstream stream, CUstreamCallback callback, void* data, unsigned flags),
                       cuStreamAddCallback(on(stream), callback, data, flags))

}  // extern "C"

}  // namespace cudacore::runtime
