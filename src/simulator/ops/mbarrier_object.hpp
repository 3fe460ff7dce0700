// SPDX-License-Identifier: Apache-2.0
//
// The 64 bits of an mbarrier in shared memory, and what happens to them. PTX leaves them opaque.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudacore::simulator {

inline constexpr std::uint32_t max_mbarrier_count = (1U << 20U) - 1;

/// An mbarrier as it stands: a phase ends when nobody is pending and no bytes are due.
struct MbarrierState {
  std::uint32_t pending = 0;   ///< arrivals that the phase waits for
  std::uint32_t expected = 0;  ///< arrivals of the next phase
  std::int32_t bytes = 0;      ///< of asynchronous copies that the phase waits for
  bool odd_phase = false;

  static MbarrierState unpack(std::uint64_t bits) noexcept;
  [[nodiscard]] std::uint64_t pack() const noexcept;
};

/// How an operation changes an mbarrier.
struct MbarrierChange {
  std::int64_t expect_bytes = 0;    ///< added to the bytes due
  std::int64_t complete_bytes = 0;  ///< taken from them
  std::uint32_t arrive = 0;
  std::uint32_t drop = 0;  ///< taken from the arrivals of the phases to come
};

/// Changes an mbarrier at an address of the host, atomically, and gives what stood there. Nothing
/// changes, and `valid` is false, where a count or the bytes leave their range.
std::uint64_t change_mbarrier(std::byte* host, const MbarrierChange& change, bool& valid) noexcept;

/// The mbarrier as it stands.
[[nodiscard]] std::uint64_t read_mbarrier(const std::byte* host) noexcept;

}  // namespace cudacore::simulator
