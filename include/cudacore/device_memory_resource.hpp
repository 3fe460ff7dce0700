// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <cudacore/device.hpp>
#include <cudacore/pool_memory_resource.hpp>

namespace cudacore {

struct DeviceMemoryResourceOptions {
  bool ipc_enabled = false;  ///< other processes may map the memory
  std::size_t max_size = 0;  ///< maximum size of the pool in bytes; 0 for the device's own limit
};

/// A pool of device memory. Without options, it is the device's current pool, set to keep freed
/// memory; with options, a new pool.
class DeviceMemoryResource : public PoolMemoryResource {
 public:
  explicit DeviceMemoryResource(Device device,
                                const std::optional<DeviceMemoryResourceOptions>& options = {});
  /// Imports a pool of another process (cuMemPoolImportFromShareableHandle). The descriptor is not
  /// trusted.
  /// @throw CUDAError unless it stands for a pool.
  DeviceMemoryResource(Device device, PoolDescriptor descriptor);
  [[nodiscard]] bool is_host_accessible() const override { return false; }
  [[nodiscard]] int device_id() const override { return device_.id(); }
  [[nodiscard]] bool is_accessible_by_peer(CUdeviceptr pointer, int device) const override;

  /// The other devices that may access the memory, in order (cuMemPoolGetAccess).
  [[nodiscard]] std::vector<int> peers() const;
  /// Changes which other devices may access the memory, also that of existing buffers, in one call
  /// (cuMemPoolSetAccess). The pool's own device is left out.
  /// @throw NotSupportedError for a device that cannot access memory of the pool's: nothing is
  /// changed then. std::invalid_argument for a device that does not exist.
  void change_peers(const std::vector<int>& allowed, const std::vector<int>& denied) const;

 private:
  Device device_;
};

}  // namespace cudacore
