// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills: where the bytes are, and the work on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "simulator/api/memory_object.hpp"
#include "simulator/api/stream.hpp"

namespace cudacore::simulator {

/// What an address must be.
enum class Side : std::uint8_t {
  device,  ///< memory that devices reach
  any,     ///< that, or any memory of the host
};

/// Bytes that a copy or a fill touches.
struct Range {
  std::byte* bytes = nullptr;
  bool pageable = false;  ///< memory of the host that no driver knows
  bool on_device = false;
  bool sync = false;  ///< CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
  /// What of it the driver allocated in the host's memory: another context may free it meanwhile.
  std::vector<std::shared_ptr<const HostPages>> pages = {};
};

/// Finds the bytes of an address; nothing, and why in the log, where not all of them may be
/// touched.
std::optional<Range> find_range(std::uint64_t address, std::size_t size, Side side);

/// Rows of bytes at equal distances, in planes at equal distances.
struct Box {
  std::size_t width = 0;  ///< bytes
  std::size_t height = 1;
  std::size_t depth = 1;
};
struct Strides {
  std::size_t row = 0;
  std::size_t plane = 0;
};

/// Bytes from the first to the last of a box; nothing if they are more than memory has.
std::optional<std::size_t> span_of(const Box& box, const Strides& strides) noexcept;

enum class Synchrony : std::uint8_t {
  asynchronous,  ///< waits for pageable memory alone
  synchronous,   ///< a call that is synchronous, but between a device's own memory
};

/// Copies in the stream's order. The ranges hold the boxes.
CUresult copy(const Stream& stream, Range to, const Strides& to_strides, Range from,
              const Strides& from_strides, const Box& box, Synchrony synchrony);

/// Fills rows with a value of 1, 2 or 4 bytes; box.width is a multiple of it.
CUresult fill(const Stream& stream, Range range, std::size_t pitch, const Box& box,
              std::uint32_t value, unsigned value_size, Synchrony synchrony);

}  // namespace cudacore::simulator
