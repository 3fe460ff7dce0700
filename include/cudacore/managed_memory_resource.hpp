// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include <cudacore/pool_memory_resource.hpp>

namespace cudacore {

/// The preferred location of managed memory.
enum class ManagedLocation : std::uint8_t { none, device, host, host_numa };

struct ManagedMemoryResourceOptions {
  /// Device or NUMA node. Without a type: a device, or -1 for the host. If a NUMA node is needed
  /// but not specified, the current device's node is used.
  std::optional<int> preferred_location{};
  ManagedLocation preferred_location_type = ManagedLocation::none;
};

/// A pool of managed memory, which moves automatically between host and devices (driver 13.0).
class ManagedMemoryResource final : public PoolMemoryResource {
 public:
  explicit ManagedMemoryResource(ManagedMemoryResourceOptions options = {});
  [[nodiscard]] bool is_host_accessible() const override { return true; }
  [[nodiscard]] bool is_managed() const override { return true; }
  [[nodiscard]] int device_id() const override;
  [[nodiscard]] const ManagedMemoryResourceOptions& options() const noexcept { return options_; }

 private:
  ManagedMemoryResourceOptions options_;
};

}  // namespace cudacore
