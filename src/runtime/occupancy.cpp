// SPDX-License-Identifier: Apache-2.0
#include <exception>

#include "cudacore/kernel.hpp"
#include "error/describe.hpp"
#include "launch/enqueue.hpp"
#include "launch/kernel_box.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

/// A query about a kernel in a context, with its function there.
class OccupancyCall : public ContextCall {
 public:
  OccupancyCall(launching::KernelBox& kernel, const std::shared_ptr<error::ContextBox>& context,
                std::size_t dynamic_shared_memory)
      : ContextCall(context), kernel_(&kernel) {
    launching::KernelOnDevice& state = kernel.on(*context);
    if (dynamic_shared_memory != 0) {
      allow_shared_memory(api(), *context, kernel, state, dynamic_shared_memory);
    }
    function_ = state.context == context->context ? state.function
                                                  : reinterpret_cast<CUfunction>(kernel.kernel);
  }

  [[nodiscard]] CUfunction function() const noexcept { return function_; }
  void check(CUresult result, const char* name) const {
    error::check(
        result, name, [this] { return kernel_->describe_on(context()->device); }, context().get());
  }

 private:
  launching::KernelBox* kernel_;
  CUfunction function_ = nullptr;
};

using SharedMemory = std::function<std::size_t(int)>;

/// The driver passes no user data through, so each thread has its own function.
thread_local const SharedMemory* shared_memory = nullptr;
thread_local std::exception_ptr* shared_memory_failure = nullptr;

std::size_t call_shared_memory(int block_size) noexcept {
  if (*shared_memory_failure != nullptr) return 0;
  try {
    return (*shared_memory)(block_size);
  } catch (...) {
    *shared_memory_failure = std::current_exception();
    return 0;
  }
}

/// Installs a function for call_shared_memory(), and restores the previous one at the end.
class SharedMemoryScope : driver::NotCopied {
 public:
  SharedMemoryScope(const SharedMemory& function, std::exception_ptr& failure)
      : function_(shared_memory), failure_(shared_memory_failure) {
    shared_memory = &function;
    shared_memory_failure = &failure;
  }
  ~SharedMemoryScope() {
    shared_memory = function_;
    shared_memory_failure = failure_;
  }

 private:
  const SharedMemory* function_;
  std::exception_ptr* failure_;
};

using ClusterQuery = CUresult (*driver::DriverApi::*)(int*, CUfunction, const CUlaunchConfig*);

int count_clusters(launching::KernelBox& kernel, const LaunchConfig& config, const Stream& stream,
                   ClusterQuery query, const char* name) {
  const owner::StreamBox& queue = require_open(stream.box(), "Stream");
  const OccupancyCall call(kernel, queue.work_context(), config.shmem_size);
  const launching::DriverLaunch launch(config, queue.stream);
  int count = 0;
  call.check((call.api().*query)(&count, call.function(), &launch.config), name);
  return count;
}

}  // namespace

int Kernel::max_active_blocks_per_multiprocessor(int block_size,
                                                 std::size_t dynamic_shared_memory) const {
  const OccupancyCall call(*box_, error::current_context(), dynamic_shared_memory);
  int blocks = 0;
  call.check(call.api().cuOccupancyMaxActiveBlocksPerMultiprocessor(
                 &blocks, call.function(), block_size, dynamic_shared_memory),
             "cuOccupancyMaxActiveBlocksPerMultiprocessor");
  return blocks;
}

PotentialBlockSize Kernel::max_potential_block_size(std::size_t dynamic_shared_memory,
                                                    int block_size_limit) const {
  const OccupancyCall call(*box_, error::current_context(), dynamic_shared_memory);
  PotentialBlockSize size;
  call.check(call.api().cuOccupancyMaxPotentialBlockSize(&size.min_grid_size, &size.max_block_size,
                                                         call.function(), nullptr,
                                                         dynamic_shared_memory, block_size_limit),
             "cuOccupancyMaxPotentialBlockSize");
  return size;
}

PotentialBlockSize Kernel::max_potential_block_size(const SharedMemory& dynamic_shared_memory,
                                                    int block_size_limit) const {
  if (!dynamic_shared_memory) {
    throw std::invalid_argument(
        "max_potential_block_size needs a function from block size to bytes");
  }
  const OccupancyCall call(*box_, error::current_context(), 0);
  PotentialBlockSize size;
  std::exception_ptr failure;
  CUresult result = CUDA_SUCCESS;
  {
    const SharedMemoryScope scope(dynamic_shared_memory, failure);
    result = call.api().cuOccupancyMaxPotentialBlockSize(&size.min_grid_size, &size.max_block_size,
                                                         call.function(), call_shared_memory, 0,
                                                         block_size_limit);
  }
  if (failure != nullptr) std::rethrow_exception(failure);
  call.check(result, "cuOccupancyMaxPotentialBlockSize");
  return size;
}

std::size_t Kernel::available_dynamic_shared_memory_per_block(int blocks_per_multiprocessor,
                                                              int block_size) const {
  const OccupancyCall call(*box_, error::current_context(), 0);
  std::size_t bytes = 0;
  call.check(call.api().cuOccupancyAvailableDynamicSMemPerBlock(
                 &bytes, call.function(), blocks_per_multiprocessor, block_size),
             "cuOccupancyAvailableDynamicSMemPerBlock");
  return bytes;
}

int Kernel::max_potential_cluster_size(const LaunchConfig& config, const Stream& stream) const {
  return count_clusters(*box_, config, stream,
                        &driver::DriverApi::cuOccupancyMaxPotentialClusterSize,
                        "cuOccupancyMaxPotentialClusterSize");
}

int Kernel::max_active_clusters(const LaunchConfig& config, const Stream& stream) const {
  return count_clusters(*box_, config, stream, &driver::DriverApi::cuOccupancyMaxActiveClusters,
                        "cuOccupancyMaxActiveClusters");
}

}  // namespace cudacore
