// SPDX-License-Identifier: Apache-2.0
#include "simulator/ops/mbarrier_object.hpp"

#include <atomic>

namespace cudacore::simulator {

namespace {

// 20 bits pending, 20 bits expected, 22 bits for signed bytes, one bit for the phase.
constexpr unsigned expected_shift = 20;
constexpr unsigned bytes_shift = 40;
constexpr unsigned bytes_bits = 22;
constexpr unsigned phase_shift = 63;
constexpr std::int64_t max_bytes = (std::int64_t{1} << 20U) - 1;

std::atomic_ref<std::uint64_t> word_at(std::byte* host) noexcept {
  return std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(host));
}

}  // namespace

MbarrierState MbarrierState::unpack(std::uint64_t bits) noexcept {
  const auto bytes = static_cast<std::uint32_t>(bits >> bytes_shift & ((1U << bytes_bits) - 1));
  constexpr std::uint32_t sign = 1U << (bytes_bits - 1);
  return {static_cast<std::uint32_t>(bits & max_mbarrier_count),
          static_cast<std::uint32_t>(bits >> expected_shift & max_mbarrier_count),
          static_cast<std::int32_t>(bytes ^ sign) - static_cast<std::int32_t>(sign),
          (bits >> phase_shift & 1) != 0};
}

std::uint64_t MbarrierState::pack() const noexcept {
  const auto unsigned_bytes =
      std::uint64_t{static_cast<std::uint32_t>(bytes) & ((1U << bytes_bits) - 1)};
  return std::uint64_t{pending} | std::uint64_t{expected} << expected_shift |
         unsigned_bytes << bytes_shift | std::uint64_t{odd_phase} << phase_shift;
}

std::uint64_t change_mbarrier(std::byte* host, const MbarrierChange& change, bool& valid) noexcept {
  const auto word = word_at(host);
  std::uint64_t old = word.load();
  valid = true;
  for (;;) {
    MbarrierState state = MbarrierState::unpack(old);
    const std::int64_t bytes = state.bytes + change.expect_bytes - change.complete_bytes;
    if (bytes > max_bytes || bytes < -max_bytes || change.arrive > state.pending ||
        change.drop > state.expected) {
      valid = false;
      return old;
    }
    state.bytes = static_cast<std::int32_t>(bytes);
    state.pending -= change.arrive;
    state.expected -= change.drop;
    if (state.pending == 0 && state.bytes == 0) {
      state.pending = state.expected;
      state.odd_phase = !state.odd_phase;
    }
    if (word.compare_exchange_weak(old, state.pack())) return old;
  }
}

std::uint64_t read_mbarrier(const std::byte* host) noexcept {
  return word_at(const_cast<std::byte*>(host)).load(std::memory_order_acquire);
}

}  // namespace cudacore::simulator
