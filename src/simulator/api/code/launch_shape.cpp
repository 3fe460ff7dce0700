// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/code/launch_shape.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <string>

#include "simulator/api/code/occupancy.hpp"
#include "simulator/api/entry.hpp"

namespace cudacore::simulator {

namespace {

constexpr auto portable_cluster_size_mode = static_cast<CUlaunchAttributeID>(17);
constexpr auto shared_memory_mode = static_cast<CUlaunchAttributeID>(18);
constexpr Dim3 most_blocks{0x7fffffff, 65535, 65535};
constexpr Dim3 most_threads{1024, 1024, 64};
constexpr std::uint64_t most_threads_per_block = 1024;

bool has_zero(const Dim3& extents) noexcept {
  return extents.x == 0 || extents.y == 0 || extents.z == 0;
}
bool exceeds(const Dim3& extents, const Dim3& limits) noexcept {
  return extents.x > limits.x || extents.y > limits.y || extents.z > limits.z;
}
bool is_same(const Dim3& a, const Dim3& b) noexcept {
  return a.x == b.x && a.y == b.y && a.z == b.z;
}

/// The product, or the largest number if it overflows, which exceeds every limit.
std::uint32_t multiply(std::uint32_t a, std::uint32_t b) noexcept {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(std::uint64_t{a} * b, std::numeric_limits<std::uint32_t>::max()));
}

std::string text_of(const Dim3& extents) {
  return std::to_string(extents.x) + "x" + std::to_string(extents.y) + "x" +
         std::to_string(extents.z);
}

CUresult refuse_launch(CUresult result, const Function& entry, const std::string& why) {
  return refuse(result, entry.name + " can't be launched: " + why);
}

/// Of an attribute that is an enumeration, newer than CUDA 13.0.
CUresult check_mode(const CUlaunchAttributeValue& value, int most) {
  int mode = 0;
  std::memcpy(&mode, &value, sizeof(mode));
  return mode >= 0 && mode <= most ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult read_attribute(const CUlaunchAttribute& attribute, LaunchShape& shape) {
  const CUlaunchAttributeValue& value = attribute.value;
  if (attribute.id == portable_cluster_size_mode) return check_mode(value, 2);
  if (attribute.id == shared_memory_mode) return check_mode(value, 4);
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      shape.cooperative = value.cooperative != 0;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      shape.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      // Triggered when the kernel ends: the latest time that a program may rely on.
      shape.event = value.programmaticEvent.event;
      shape.event_flags = static_cast<unsigned>(value.programmaticEvent.flags);
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      shape.completion_event = value.launchCompletionEvent.event;
      shape.completion_flags = static_cast<unsigned>(value.launchCompletionEvent.flags);
      return CUDA_SUCCESS;
    // Hints to a scheduler and caches that don't exist here.
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW:
    case CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY:
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP:
    case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION:
    case CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    case CU_LAUNCH_ATTRIBUTE_NVLINK_UTIL_CENTRIC_SCHEDULING:
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      return refuse(CUDA_ERROR_NOT_SUPPORTED,
                    "kernels that update the nodes of graphs are not simulated");
    default:
      return refuse(CUDA_ERROR_INVALID_VALUE,
                    "there is no launch attribute " + std::to_string(attribute.id));
  }
}

CUresult check_threads(const FunctionOnDevice& function, const LaunchShape& shape) {
  const Function& entry = function.entry;
  const std::uint64_t threads = shape.block.count();
  if (has_zero(shape.grid) || has_zero(shape.block)) {
    return refuse_launch(CUDA_ERROR_INVALID_VALUE, entry,
                         "a grid of " + text_of(shape.grid) + " blocks of " + text_of(shape.block) +
                             " threads has no work");
  }
  if (exceeds(shape.grid, most_blocks)) {
    return refuse_launch(
        CUDA_ERROR_INVALID_VALUE, entry,
        "a grid of " + text_of(shape.grid) + " blocks is larger than " + text_of(most_blocks));
  }
  if (exceeds(shape.block, most_threads) || threads > most_threads_per_block) {
    return refuse_launch(CUDA_ERROR_INVALID_VALUE, entry,
                         "a block of " + text_of(shape.block) + " threads is larger than " +
                             text_of(most_threads) + " or than 1024 threads");
  }
  if (entry.required_threads.x != 0 && !is_same(entry.required_threads, shape.block)) {
    return refuse_launch(CUDA_ERROR_INVALID_VALUE, entry,
                         "it requires blocks of " + text_of(entry.required_threads) +
                             " threads, not " + text_of(shape.block));
  }
  if (threads > function.max_threads()) {
    return refuse_launch(CUDA_ERROR_INVALID_VALUE, entry,
                         "a block of " + std::to_string(threads) + " threads is more than its " +
                             "launch bound of " + std::to_string(function.max_threads()));
  }
  return CUDA_SUCCESS;
}

CUresult check_shared(const FunctionOnDevice& function, const LaunchShape& shape) {
  if (shape.dynamic_shared <= function.max_dynamic_shared()) return CUDA_SUCCESS;
  return refuse_launch(CUDA_ERROR_INVALID_VALUE, function.entry,
                       std::to_string(shape.dynamic_shared) +
                           " bytes of dynamic shared memory are more than the " +
                           std::to_string(function.max_dynamic_shared()) +
                           " that its CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES allows");
}

}  // namespace

CUresult read_shape(const CUlaunchConfig& config, LaunchShape& shape) {
  shape.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  shape.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  shape.dynamic_shared = config.sharedMemBytes;
  shape.stream = config.hStream;
  if (config.numAttrs > 0 && config.attrs == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    if (const CUresult result = read_attribute(config.attrs[i], shape); result != CUDA_SUCCESS) {
      return result;
    }
  }
  return CUDA_SUCCESS;
}

void apply_directives(const Function& entry, LaunchShape& shape) noexcept {
  if (entry.required_threads.x != 0 && is_same(shape.block, {1, 1, 1})) {
    shape.block = entry.required_threads;
  }
  if (!entry.blocks_are_clusters) return;
  const Dim3& cluster = entry.required_cluster;
  shape.grid = {multiply(shape.grid.x, cluster.x), multiply(shape.grid.y, cluster.y),
                multiply(shape.grid.z, cluster.z)};
}

CUresult find_cluster(const FunctionOnDevice& function, const LaunchShape& shape, Dim3& cluster) {
  const Function& entry = function.entry;
  const Dim3 required = function.required_cluster();
  const bool is_required = required.x != 0;
  cluster = {1, 1, 1};
  if (is_required) cluster = required;
  if (shape.cluster) {
    if (is_required && !is_same(required, *shape.cluster)) {
      return refuse_launch(CUDA_ERROR_INVALID_CLUSTER_SIZE, entry,
                           "it requires clusters of " + text_of(required) + " blocks, not " +
                               text_of(*shape.cluster));
    }
    cluster = *shape.cluster;
  }
  int must_be_set = 0;
  (void)function.get(CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET, must_be_set);
  if (must_be_set != 0 && !shape.cluster && !is_required) {
    return refuse_launch(CUDA_ERROR_INVALID_CLUSTER_SIZE, entry, "it must be told a cluster size");
  }
  if (has_zero(cluster)) {
    return refuse_launch(CUDA_ERROR_INVALID_CLUSTER_SIZE, entry,
                         "a cluster of " + text_of(cluster) + " has no blocks");
  }
  if (cluster.count() > 1 && !function.device.clusters) {
    return refuse_launch(CUDA_ERROR_NOT_SUPPORTED, entry,
                         "devices below compute capability 9.0 have no clusters");
  }
  if (cluster.count() > function.max_cluster_blocks()) {
    return refuse_launch(CUDA_ERROR_INVALID_CLUSTER_SIZE, entry,
                         "a cluster of " + text_of(cluster) + " blocks has more than " +
                             std::to_string(function.max_cluster_blocks()));
  }
  return CUDA_SUCCESS;
}

CUresult check_shape(const FunctionOnDevice& function, LaunchShape& shape,
                     std::uint32_t& resident_blocks) {
  apply_directives(function.entry, shape);
  if (const CUresult result = check_threads(function, shape); result != CUDA_SUCCESS) return result;
  if (const CUresult result = check_shared(function, shape); result != CUDA_SUCCESS) return result;
  Dim3 cluster;
  if (const CUresult result = find_cluster(function, shape, cluster); result != CUDA_SUCCESS) {
    return result;
  }
  if (shape.grid.x % cluster.x != 0 || shape.grid.y % cluster.y != 0 ||
      shape.grid.z % cluster.z != 0) {
    return refuse_launch(CUDA_ERROR_INVALID_CLUSTER_SIZE, function.entry,
                         "a grid of " + text_of(shape.grid) + " blocks has no whole number of " +
                             "clusters of " + text_of(cluster));
  }
  shape.cluster = cluster;
  const auto threads = static_cast<unsigned>(shape.block.count());
  const unsigned blocks = blocks_per_multiprocessor(function, threads, shape.dynamic_shared);
  if (blocks == 0) {
    return refuse_launch(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, function.entry,
                         "not one block fits into a multiprocessor");
  }
  resident_blocks = blocks * function.device.multiprocessors;
  if (shape.cooperative && shape.grid.count() > resident_blocks) {
    return refuse_launch(CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, function.entry,
                         "a cooperative grid of " + std::to_string(shape.grid.count()) +
                             " blocks does not fit: the device holds " +
                             std::to_string(resident_blocks) + " at once");
  }
  return CUDA_SUCCESS;
}

}  // namespace cudacore::simulator
