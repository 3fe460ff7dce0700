// SPDX-License-Identifier: Apache-2.0
//
// The 64 bits of an mbarrier in shared memory, and the operations on them. PTX leaves them opaque.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudacore::simulator {

inline constexpr std::uint32_t max_mbarrier_count = (1U << 20U) - 1;

/// The state of an mbarrier: a phase ends when no arrivals are pending and no bytes are
/// outstanding.
struct MbarrierState {
  std::uint32_t pending = 0;   ///< arrivals that the phase still waits for
  std::uint32_t expected = 0;  ///< arrivals of the next phase
  std::int32_t bytes = 0;      ///< bytes of asynchronous copies that the phase still waits for
  bool odd_phase = false;

  static MbarrierState unpack(std::uint64_t bits) noexcept;
  [[nodiscard]] std::uint64_t pack() const noexcept;
};

/// How an operation changes an mbarrier.
struct MbarrierChange {
  std::int64_t expect_bytes = 0;    ///< added to the outstanding bytes
  std::int64_t complete_bytes = 0;  ///< subtracted from them
  std::uint32_t arrive = 0;
  std::uint32_t drop = 0;  ///< subtracted from the arrivals of future phases
};

/// Changes an mbarrier at a host address atomically, and returns its old value. If a count or the
/// number of bytes would go out of range, changes nothing and sets `valid` to false.
std::uint64_t change_mbarrier(std::byte* host, const MbarrierChange& change, bool& valid) noexcept;

/// The current state of the mbarrier.
[[nodiscard]] std::uint64_t read_mbarrier(const std::byte* host) noexcept;

}  // namespace cudacore::simulator
