// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch_path.hpp"

#include <algorithm>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "cudacore/error.hpp"
#include "error/check.hpp"
#include "error/context_box.hpp"
#include "error/describe.hpp"
#include "launch/kernel_box.hpp"

namespace cudacore {

namespace {

std::uint64_t product(const Dim3& extents) noexcept {
  return std::uint64_t{extents[0]} * extents[1] * extents[2];
}

std::size_t largest_shared_memory(const handle::DeviceLimits& limits) noexcept {
  return std::max(limits.shmem_per_block, limits.shmem_per_block_optin);
}

bool exceeds(const Dim3& extents, const Dim3& limits) noexcept {
  return extents[0] > limits[0] || extents[1] > limits[1] || extents[2] > limits[2];
}

bool has_zero(const Dim3& extents) noexcept {
  return extents[0] == 0 || extents[1] == 0 || extents[2] == 0;
}

[[noreturn]] void refuse(const handle::KernelBox& kernel, const std::string& why) {
  throw std::invalid_argument(kernel.name + ": " + why);
}

[[noreturn]] void refuse_zero(const handle::KernelBox& kernel, const char* what,
                              const Dim3& extents) {
  refuse(kernel, std::string("a ") + what + " of " + handle::format_extents(extents) +
                     " has no work: every extent must be at least 1");
}

[[noreturn]] void refuse_extents(const handle::KernelBox& kernel, const char* what,
                                 const Dim3& extents, const Dim3& limits, int device) {
  refuse(kernel, std::string("a ") + what + " of " + handle::format_extents(extents) +
                     " is too large: " + handle::describe_device(device) + " allows " +
                     handle::format_extents(limits));
}

[[noreturn]] void refuse_threads(const handle::KernelBox& kernel, const LaunchConfig& config,
                                 unsigned device_limit, unsigned kernel_limit, int device) {
  std::string why = "a block of " + handle::format_extents(config.block) + " has " +
                    std::to_string(product(config.block)) + " threads; ";
  if (product(config.block) > device_limit) {
    why += handle::describe_device(device) + " allows " + std::to_string(device_limit);
  } else {
    why += "this kernel allows " + std::to_string(kernel_limit) +
           " by the registers it uses or its __launch_bounds__";
  }
  refuse(kernel, why);
}

[[noreturn]] void refuse_shared_memory(const handle::KernelBox& kernel, const LaunchConfig& config,
                                       std::size_t fixed, std::size_t limit, int device) {
  refuse(kernel,
         std::to_string(config.shmem_size) + " bytes of dynamic and " + std::to_string(fixed) +
             " of static shared memory for each block are too "
             "much: " +
             handle::describe_device(device) + " allows " + std::to_string(limit) + " together");
}

[[noreturn]] void refuse_feature(const handle::KernelBox& kernel, const char* feature, int device) {
  throw NotSupportedError(
      kernel.name + ": " + handle::describe_device(device) + " has no " + feature, 0, {}, {});
}

/// With clusters, the grid counts clusters.
void check_grid(const LaunchConfig& config, const handle::ContextBox& context,
                const handle::KernelBox& kernel) {
  const Dim3& limits = context.limits.grid;
  if (!config.cluster) {
    if (exceeds(config.grid, limits)) [[unlikely]] {
      refuse_extents(kernel, "grid", config.grid, limits, context.device);
    }
    return;
  }
  const Dim3& cluster = *config.cluster;
  if (!context.limits.cluster_launch) {
    refuse_feature(kernel, "thread block clusters (compute capability 9.0)", context.device);
  }
  if (has_zero(cluster)) refuse_zero(kernel, "cluster", cluster);
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    if (std::uint64_t{config.grid[i]} * cluster[i] > limits[i]) {
      refuse(kernel, "a grid of " + handle::format_extents(config.grid) + " clusters of " +
                         handle::format_extents(cluster) +
                         " blocks is too large: " + handle::describe_device(context.device) +
                         " allows " + handle::format_extents(limits) + " blocks");
    }
  }
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): clearing unused attributes costs time
DriverLaunch::DriverLaunch(const LaunchConfig& shape, CUstream stream) noexcept {
  config.gridDimX = shape.grid[0];
  config.gridDimY = shape.grid[1];
  config.gridDimZ = shape.grid[2];
  config.blockDimX = shape.block[0];
  config.blockDimY = shape.block[1];
  config.blockDimZ = shape.block[2];
  config.sharedMemBytes = static_cast<unsigned>(
      std::min<std::size_t>(shape.shmem_size, std::numeric_limits<unsigned>::max()));
  config.hStream = stream;
  config.attrs = attributes.data();
  const auto add = [this](CUlaunchAttributeID id) -> CUlaunchAttributeValue& {
    CUlaunchAttribute& attribute = attributes[config.numAttrs++];
    attribute = {};
    attribute.id = id;
    return attribute.value;
  };
  if (shape.cluster) {
    const Dim3& cluster = *shape.cluster;
    config.gridDimX *= cluster[0];
    config.gridDimY *= cluster[1];
    config.gridDimZ *= cluster[2];
    add(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION).clusterDim = {cluster[0], cluster[1], cluster[2]};
  }
  if (shape.is_cooperative) add(CU_LAUNCH_ATTRIBUTE_COOPERATIVE).cooperative = 1;
  if (shape.programmatic_stream_serialization) {
    add(CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
        .programmaticStreamSerializationAllowed = 1;
  }
  if (shape.priority) add(CU_LAUNCH_ATTRIBUTE_PRIORITY).priority = *shape.priority;
}

void check_shape(const LaunchConfig& config, const handle::ContextBox& context,
                 const handle::KernelOnDevice& state, const handle::KernelBox& kernel) {
  const handle::DeviceLimits& limits = context.limits;
  if (has_zero(config.grid)) [[unlikely]]
    refuse_zero(kernel, "grid", config.grid);
  if (has_zero(config.block)) [[unlikely]]
    refuse_zero(kernel, "block", config.block);
  if (exceeds(config.block, limits.block)) [[unlikely]] {
    refuse_extents(kernel, "block", config.block, limits.block, context.device);
  }
  if (product(config.block) > std::min(limits.threads_per_block, state.max_threads)) [[unlikely]] {
    refuse_threads(kernel, config, limits.threads_per_block, state.max_threads, context.device);
  }
  check_grid(config, context, kernel);
  const std::size_t shared_limit = largest_shared_memory(limits);
  const std::size_t left = shared_limit - std::min(state.static_shmem, shared_limit);
  if (config.shmem_size > left) [[unlikely]] {
    refuse_shared_memory(kernel, config, state.static_shmem, shared_limit, context.device);
  }
  if (config.is_cooperative && !limits.cooperative_launch) [[unlikely]] {
    refuse_feature(kernel, "cooperative launches", context.device);
  }
}

void allow_shared_memory(const driver::DriverApi& api, const handle::ContextBox& context,
                         handle::KernelBox& kernel, handle::KernelOnDevice& state,
                         std::size_t size) {
  if (size <= state.dynamic_shmem.load(std::memory_order_relaxed)) [[likely]]
    return;
  const std::size_t limit = largest_shared_memory(context.limits);
  const std::size_t most = limit - std::min(state.static_shmem, limit);
  const handle::ContextScope scope(api, context);
  const CUresult result =
      api.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                               static_cast<int>(most), kernel.kernel, context.device);
  if (result != CUDA_SUCCESS) {
    handle::throw_driver_error(result, "cuKernelSetAttribute",
                               "kernel " + kernel.name + ", " +
                                   handle::describe_device(context.device) + ", to allow " +
                                   std::to_string(most) + " bytes of dynamic shared memory",
                               nullptr);
  }
  state.dynamic_shmem.store(most, std::memory_order_relaxed);
}

CUresult enqueue(const driver::DriverApi& api, const handle::StreamBox& stream,
                 handle::ContextBox& context, handle::KernelBox& kernel, const LaunchConfig& config,
                 void** parameters) {
  if (context.lost.load(std::memory_order_relaxed)) [[unlikely]]
    handle::throw_if_lost(context);
  handle::KernelOnDevice& state = kernel.on(context);
  check_shape(config, context, state, kernel);
  allow_shared_memory(api, context, kernel, state, config.shmem_size);
  const DriverLaunch launch(config, stream.stream);
  // A function belongs to one context; in another context of the same device the driver finds it
  // automatically.
  CUfunction function = state.context == context.context
                            ? state.function
                            : reinterpret_cast<CUfunction>(kernel.kernel);
  const handle::ContextScope scope(api, context);
  const CUresult result = api.cuLaunchKernelEx(&launch.config, function, parameters, nullptr);
  if (result == CUDA_SUCCESS) [[likely]]
    context.history.add(kernel.interned_name, stream.stream);
  return result;
}

void throw_launch_error(CUresult result, const handle::StreamBox& stream,
                        handle::ContextBox& context, handle::KernelBox& kernel,
                        const LaunchConfig& config) {
  std::string object = handle::describe_stream(stream) + ", kernel " + kernel.name + ", grid " +
                       handle::format_extents(config.grid) + ", block " +
                       handle::format_extents(config.block);
  if (config.cluster) object += ", cluster " + handle::format_extents(*config.cluster);
  if (config.is_cooperative) object += ", cooperative";
  if (config.shmem_size != 0) {
    object += ", " + std::to_string(config.shmem_size) + " bytes of dynamic shared memory";
  }
  if (result == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES) {
    int registers = 0;
    if (driver::api().cuKernelGetAttribute(&registers, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel.kernel,
                                           context.device) == CUDA_SUCCESS) {
      object += ", " + std::to_string(registers) + " registers for each thread";
    }
  }
  handle::throw_driver_error(result, "cuLaunchKernelEx", object, &context);
}

}  // namespace cudacore
