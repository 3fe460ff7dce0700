// SPDX-License-Identifier: Apache-2.0
#include "launch/shape.hpp"

#include <algorithm>
#include <stdexcept>

#include "cudacore/error.hpp"
#include "error/check.hpp"
#include "error/describe.hpp"
#include "launch/attribute_box.hpp"

namespace cudacore::launching {
namespace {

std::uint64_t product(const Dim3& extents) noexcept {
  return std::uint64_t{extents[0]} * extents[1] * extents[2];
}

std::size_t largest_shared_memory(const error::DeviceLimits& limits) noexcept {
  return std::max(limits.shmem_per_block, limits.shmem_per_block_optin);
}

bool exceeds(const Dim3& extents, const Dim3& limits) noexcept {
  return extents[0] > limits[0] || extents[1] > limits[1] || extents[2] > limits[2];
}

bool has_zero(const Dim3& extents) noexcept {
  return extents[0] == 0 || extents[1] == 0 || extents[2] == 0;
}

[[noreturn]] void refuse(const KernelBox& kernel, const std::string& why) {
  throw std::invalid_argument(kernel.name + ": " + why);
}

[[noreturn]] void refuse_zero(const KernelBox& kernel, const char* what, const Dim3& extents) {
  refuse(kernel, std::string("a ") + what + " of " + error::format_extents(extents) +
                     " has no work: every extent must be at least 1");
}

[[noreturn]] void refuse_extents(const KernelBox& kernel, const char* what, const Dim3& extents,
                                 const Dim3& limits, int device) {
  refuse(kernel, std::string("a ") + what + " of " + error::format_extents(extents) +
                     " is too large: " + error::describe_device(device) + " allows " +
                     error::format_extents(limits));
}

[[noreturn]] void refuse_threads(const KernelBox& kernel, const LaunchConfig& config,
                                 unsigned device_limit, unsigned kernel_limit, int device) {
  const std::string why =
      product(config.block) > device_limit
          ? error::describe_device(device) + " allows " + std::to_string(device_limit)
          : "this kernel allows " + std::to_string(kernel_limit) +
                " by the registers it uses or its __launch_bounds__";
  refuse(kernel, "a block of " + error::format_extents(config.block) + " has " +
                     std::to_string(product(config.block)) + " threads; " + why);
}

[[noreturn]] void refuse_shared_memory(const KernelBox& kernel, const LaunchConfig& config,
                                       std::size_t fixed, std::size_t limit, int device) {
  refuse(kernel,
         std::to_string(config.shmem_size) + " bytes of dynamic and " + std::to_string(fixed) +
             " of static shared memory for each block are too much: " +
             error::describe_device(device) + " allows " + std::to_string(limit) + " together");
}

[[noreturn]] void refuse_feature(const KernelBox& kernel, const char* feature, int device) {
  throw NotSupportedError(kernel.name + ": " + error::describe_device(device) + " has no " +
                          feature);
}

/// With clusters, the grid counts clusters.
void check_grid(const LaunchConfig& config, const error::ContextBox& context,
                const KernelBox& kernel) {
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
      refuse(kernel, "a grid of " + error::format_extents(config.grid) + " clusters of " +
                         error::format_extents(cluster) +
                         " blocks is too large: " + error::describe_device(context.device) +
                         " allows " + error::format_extents(limits) + " blocks");
    }
  }
}

/// A preferred cluster consists of whole clusters, and the grid of whole preferred clusters.
void check_preferred_cluster(const LaunchConfig& config, const Dim3& preferred,
                             const KernelBox& kernel) {
  const std::string text = "a preferred cluster of " + error::format_extents(preferred);
  if (!config.cluster) refuse(kernel, text + " needs a cluster, of which it is a multiple");
  const Dim3& cluster = *config.cluster;
  for (std::size_t i = 0; i < cluster.size(); ++i) {
    if (preferred[i] % cluster[i] != 0 || (i == 2 && preferred[i] != cluster[i])) {
      refuse(kernel, text + " is no multiple, in x and y, of the cluster of " +
                         error::format_extents(cluster));
    }
    if (std::uint64_t{config.grid[i]} * cluster[i] % preferred[i] != 0) {
      refuse(kernel, text + " does not divide the grid of " + error::format_extents(config.grid) +
                         " clusters of " + error::format_extents(cluster));
    }
  }
}

void check_launch_priority(int priority, const error::ContextBox& context,
                           const KernelBox& kernel) {
  const driver::DriverApi& api = driver::api();
  const error::ContextScope scope(api, context);
  int least = 0;
  int greatest = 0;
  error::check(api.cuCtxGetStreamPriorityRange(&least, &greatest), "cuCtxGetStreamPriorityRange");
  if (priority >= greatest && priority <= least) return;
  refuse(kernel, "priority " + std::to_string(priority) + " is outside " +
                     std::to_string(greatest) + " (most urgent) to " + std::to_string(least) +
                     ", the range of " + error::describe_device(context.device));
}

void check_domains(MemSyncDomainMap map, const error::ContextBox& context,
                   const KernelBox& kernel) {
  int domains = 0;
  const CUresult result = driver::api().cuDeviceGetAttribute(
      &domains, CU_DEVICE_ATTRIBUTE_MEM_SYNC_DOMAIN_COUNT, context.device);
  error::check(result, "cuDeviceGetAttribute");
  if (map.normal < domains && map.remote < domains) return;
  refuse(kernel, "mem_sync_domain_map must have domains in 0 .. " + std::to_string(domains - 1) +
                     ", of which " + error::describe_device(context.device) + " has " +
                     std::to_string(domains));
}

void check_attributes(const LaunchConfig& config, const error::ContextBox& context,
                      const KernelBox& kernel) {
  const LaunchAttributes& attributes = config.attributes->given;
  if (attributes.mem_sync_domain_map) {
    check_domains(*attributes.mem_sync_domain_map, context, kernel);
  }
  if (attributes.access_policy_window) {
    check_window_on(*attributes.access_policy_window, context, kernel.name);
  }
  if (attributes.preferred_cluster) {
    check_preferred_cluster(config, *attributes.preferred_cluster, kernel);
  }
  config.attributes->require_usable_events();
}

}  // namespace

void check_shape(const LaunchConfig& config, const error::ContextBox& context,
                 const KernelOnDevice& state, const KernelBox& kernel) {
  const error::DeviceLimits& limits = context.limits;
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
  if (config.shmem_size > most_dynamic_shared_memory(limits, state)) [[unlikely]] {
    refuse_shared_memory(kernel, config, state.static_shmem, largest_shared_memory(limits),
                         context.device);
  }
  if (config.is_cooperative && !limits.cooperative_launch) [[unlikely]] {
    refuse_feature(kernel, "cooperative launches", context.device);
  }
  if (config.priority) [[unlikely]]
    check_launch_priority(*config.priority, context, kernel);
  if (config.attributes != nullptr) [[unlikely]]
    check_attributes(config, context, kernel);
}

std::size_t most_dynamic_shared_memory(const error::DeviceLimits& limits,
                                       const KernelOnDevice& state) noexcept {
  const std::size_t limit = largest_shared_memory(limits);
  return limit - std::min(state.static_shmem, limit);
}

}  // namespace cudacore::launching
