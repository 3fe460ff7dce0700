// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>

#include <cudacore/pool_memory_resource.hpp>

namespace cudacore {

struct PinnedMemoryResourceOptions {
  bool ipc_enabled = false;  ///< other processes may map the memory
  std::size_t max_size = 0;  ///< maximum size of the pool in bytes; 0 for no limit
  /// The host NUMA node; any node if unset, or, with ipc_enabled, that of the current device.
  std::optional<int> numa_id{};
};

/// A pool of page-locked host memory that every device can access.
class PinnedMemoryResource final : public PoolMemoryResource {
 public:
  explicit PinnedMemoryResource(PinnedMemoryResourceOptions options = {});
  /// Imports a pool of another process; see DeviceMemoryResource.
  explicit PinnedMemoryResource(PoolDescriptor descriptor);
  [[nodiscard]] bool is_host_accessible() const override { return true; }
  [[nodiscard]] int device_id() const override { return -1; }
  /// The NUMA node, or -1 if none was specified.
  [[nodiscard]] int numa_id() const noexcept { return numa_id_; }

 private:
  int numa_id_;
};

}  // namespace cudacore
