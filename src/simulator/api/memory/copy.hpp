// SPDX-License-Identifier: Apache-2.0
//
// Copies and fills: finding the bytes, and the work on them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "simulator/api/memory/memory_object.hpp"
#include "simulator/api/stream/stream.hpp"

namespace cudacore::simulator {

/// The kind of memory that an address must have.
enum class Side : std::uint8_t {
  device,  ///< memory that devices can access
  any,     ///< that, or any host memory
};

/// The bytes that a copy or a fill touches.
struct Range {
  std::byte* bytes = nullptr;
  bool pageable = false;  ///< host memory that no driver knows
  bool on_device = false;
  bool read_only = false;  ///< mapped so that nobody may write it (cuMemSetAccess)
  bool sync = false;       ///< CU_POINTER_ATTRIBUTE_SYNC_MEMOPS
  /// The part of it that the driver allocated in host memory: another context may free it
  /// meanwhile.
  std::vector<std::shared_ptr<const HostPages>> pages = {};
};

/// Finds the bytes at an address. If some of them must not be accessed, returns nothing and logs
/// why.
std::optional<Range> find_range(std::uint64_t address, std::size_t size, Side side);
/// The same for bytes that are to be written.
std::optional<Range> find_target(std::uint64_t address, std::size_t size, Side side);

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

/// The number of bytes from the first to the last of a box; nothing if that exceeds the address
/// space.
std::optional<std::size_t> span_of(const Box& box, const Strides& strides) noexcept;

enum class Synchrony : std::uint8_t {
  asynchronous,  ///< waits only for pageable memory
  synchronous,   ///< a synchronous call, except between a device's own memory
};

/// Copies in stream order. The ranges contain the boxes.
CUresult copy(const Stream& stream, Range to, const Strides& to_strides, Range from,
              const Strides& from_strides, const Box& box, Synchrony synchrony);

/// Fills rows with a value of 1, 2 or 4 bytes; box.width must be a multiple of that.
CUresult fill(const Stream& stream, Range range, std::size_t pitch, const Box& box,
              std::uint32_t value, unsigned value_size, Synchrony synchrony);

/// The work of a copy or a fill. The box is not empty.
std::unique_ptr<Work> make_copy(const Box& box, Range to, const Strides& to_strides, Range from,
                                const Strides& from_strides);
std::unique_ptr<Work> make_fill(const Box& box, Range range, std::size_t pitch, std::uint32_t value,
                                unsigned value_size);

/// Finds the bytes that a copy or a fill touches now, and makes the work; null if there are none.
CUresult find_copy(const CUDA_MEMCPY3D& copy, std::unique_ptr<Work>& work);
CUresult find_fill(const CUDA_MEMSET_NODE_PARAMS& fill, std::unique_ptr<Work>& work);

}  // namespace cudacore::simulator
