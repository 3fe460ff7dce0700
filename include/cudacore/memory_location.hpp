// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace cudacore {

/// Where managed memory is or should be: on a device, or on the host (CUmemLocation).
struct MemoryLocation {
  enum class Kind : std::uint8_t { device, host, host_numa, host_numa_current };

  Kind kind = Kind::host;
  int id = 0;  ///< the ordinal of the device, or the number of the NUMA node

  [[nodiscard]] static constexpr MemoryLocation device(int ordinal) noexcept {
    return {Kind::device, ordinal};
  }
  [[nodiscard]] static constexpr MemoryLocation host() noexcept { return {}; }
  [[nodiscard]] static constexpr MemoryLocation host_numa(int node) noexcept {
    return {Kind::host_numa, node};
  }
  /// The NUMA node of the calling thread.
  [[nodiscard]] static constexpr MemoryLocation host_numa_current() noexcept {
    return {Kind::host_numa_current, 0};
  }
  friend bool operator==(const MemoryLocation&, const MemoryLocation&) = default;
};

}  // namespace cudacore
