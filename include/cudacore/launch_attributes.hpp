// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <cudacore/event.hpp>
#include <cudacore/handles.hpp>

namespace cudacore {

/// How long lines of the L2 cache stay there (CUaccessProperty).
enum class AccessProperty : std::uint8_t { normal, streaming, persisting };

/// Memory whose lines the L2 cache keeps, or doesn't keep (CUaccessPolicyWindow).
struct AccessPolicyWindow {
  CUdeviceptr base_ptr = 0;
  std::size_t num_bytes = 0;  ///< 0: there is no window
  double hit_ratio = 1;       ///< the part of the lines, 0 to 1, that has hit_prop
  AccessProperty hit_prop = AccessProperty::normal;
  AccessProperty miss_prop = AccessProperty::normal;  ///< of all others: normal or streaming

  friend bool operator==(const AccessPolicyWindow&, const AccessPolicyWindow&) = default;
};

/// Refuses a window that no device has.
/// @throw std::invalid_argument that names the field.
void check_window(const AccessPolicyWindow& window);

/// Whose writes a memory fence waits for (CUlaunchMemSyncDomain): those of the same domain.
enum class MemSyncDomain : std::uint8_t { normal, remote };

/// The domains of the device that the two logical ones stand for (CUlaunchMemSyncDomainMap).
struct MemSyncDomainMap {
  std::uint8_t normal = 0;
  std::uint8_t remote = 1;

  friend bool operator==(const MemSyncDomainMap&, const MemSyncDomainMap&) = default;
};

/// How clusters are spread over a device (CUclusterSchedulingPolicy).
enum class ClusterSchedulingPolicy : std::uint8_t { normal, spread, load_balancing };

/// Whether a cluster may be larger than the 8 blocks that every device has.
enum class PortableClusterSizeMode : std::uint8_t { normal, require_portable, allow_non_portable };

/// Whether a block may have more shared memory than every device has.
enum class SharedMemoryMode : std::uint8_t {
  normal,
  require_portable,
  allow_non_portable,
  allow_oversized,
  prefer_oversized
};

/// What a launch may request besides its shape (CUlaunchAttribute). What is unset is left to the
/// driver.
struct LaunchAttributes {
  std::optional<AccessPolicyWindow> access_policy_window{};
  std::optional<ClusterSchedulingPolicy> cluster_scheduling_policy_preference{};
  /// Recorded once all blocks have triggered it, or ended; without timing, and not shared between
  /// processes.
  std::optional<Event> programmatic_event{};
  bool trigger_at_block_start = false;  ///< whether the start of a block triggers it as well
  /// Recorded once all blocks have started; without timing, and not shared between processes.
  std::optional<Event> launch_completion_event{};
  std::optional<MemSyncDomainMap> mem_sync_domain_map{};
  std::optional<MemSyncDomain> mem_sync_domain{};
  /// The cluster that the device should use where it can: a multiple of LaunchConfig::cluster.
  std::optional<std::array<unsigned, 3>> preferred_cluster{};
  /// Only in graphs: kernels may update the node.
  bool device_updatable_kernel_node = false;
  std::optional<int> shared_memory_carveout{};  ///< percent of the most there is, 0 to 100
  bool nvlink_util_centric_scheduling = false;
  std::optional<PortableClusterSizeMode> portable_cluster_size_mode{};
  std::optional<SharedMemoryMode> shared_memory_mode{};
};

namespace launching {
struct AttributeBox;
}

/// Attributes in the driver's form, made once for all launches; null if none is set. Keeps the
/// events.
/// @throw std::invalid_argument for a value that no launch can have.
[[nodiscard]] std::shared_ptr<const launching::AttributeBox> prepare(LaunchAttributes attributes);
/// What was prepared; nothing for null.
[[nodiscard]] const LaunchAttributes& attributes_of(
    const std::shared_ptr<const launching::AttributeBox>& prepared) noexcept;

}  // namespace cudacore
