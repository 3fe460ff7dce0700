// SPDX-License-Identifier: Apache-2.0
#include "launch/enqueue.hpp"

#include <algorithm>
#include <limits>

#include "error/check.hpp"
#include "error/describe.hpp"
#include "launch/shape.hpp"

namespace cudacore::launching {

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
  if (shape.attributes != nullptr) [[unlikely]] {
    const AttributeBox& others = *shape.attributes;
    std::copy_n(others.native.begin(), others.count, attributes.begin() + config.numAttrs);
    config.numAttrs += others.count;
  }
}

void allow_shared_memory(const driver::DriverApi& api, const error::ContextBox& context,
                         KernelBox& kernel, KernelOnDevice& state, std::size_t size) {
  if (size <= state.dynamic_shmem.load(std::memory_order_relaxed)) [[likely]]
    return;
  const std::size_t most = most_dynamic_shared_memory(context.limits, state);
  const error::ContextScope scope(api, context);
  error::check(api.cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                        static_cast<int>(most), kernel.kernel, context.device),
               "cuKernelSetAttribute", [&] {
                 return kernel.describe_on(context.device) + ", to allow " + std::to_string(most) +
                        " bytes of dynamic shared memory";
               });
  state.dynamic_shmem.store(most, std::memory_order_relaxed);
}

CUresult enqueue(const driver::DriverApi& api, const owner::StreamBox& stream,
                 error::ContextBox& context, KernelBox& kernel, const LaunchConfig& config,
                 void** parameters) {
  if (context.lost.load(std::memory_order_relaxed)) [[unlikely]]
    error::throw_if_lost(context);
  KernelOnDevice& state = kernel.on(context);
  check_shape(config, context, state, kernel);
  allow_shared_memory(api, context, kernel, state, config.shmem_size);
  const DriverLaunch launch(config, stream.stream);
  // A function belongs to one context; in another context of the same device the driver finds it
  // automatically.
  CUfunction function = state.context == context.context
                            ? state.function
                            : reinterpret_cast<CUfunction>(kernel.kernel);
  const error::ContextScope scope(api, context);
  const CUresult result = api.cuLaunchKernelEx(&launch.config, function, parameters, nullptr);
  if (result == CUDA_SUCCESS) [[likely]] {
    context.history.add(kernel.interned_name, stream.stream);
    if (config.attributes != nullptr) [[unlikely]]
      config.attributes->note_records();
  }
  return result;
}

void throw_launch_error(CUresult result, const owner::StreamBox& stream, error::ContextBox& context,
                        KernelBox& kernel, const LaunchConfig& config) {
  std::string object = owner::describe_stream(stream) + ", kernel " + kernel.name + ", grid " +
                       error::format_extents(config.grid) + ", block " +
                       error::format_extents(config.block);
  if (config.cluster) object += ", cluster " + error::format_extents(*config.cluster);
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
  error::throw_driver_error(result, "cuLaunchKernelEx", object, &context);
}

}  // namespace cudacore::launching
