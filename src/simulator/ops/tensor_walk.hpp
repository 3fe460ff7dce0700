// SPDX-License-Identifier: Apache-2.0
//
// Which bytes of a tensor a copy by a tensor map moves, and where they lie in shared memory.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "simulator/ops/tensor_map.hpp"

namespace cudacore::simulator {

using TensorCoordinates = std::array<std::int64_t, TensorMap::most_dimensions>;
using PixelOffsets = std::array<std::int64_t, TensorMap::most_dimensions - 2>;

/// Elements of the innermost dimension that lie next to each other, in memory and shared memory.
struct TensorRow {
  std::uint64_t offset = 0;   ///< in shared memory, in bytes, before swizzling
  std::uint64_t address = 0;  ///< of the first element, even if that is outside of the tensor
  std::uint32_t count = 0;    ///< elements
  std::uint32_t first = 0;    ///< those from `first` to `end` are in the tensor
  std::uint32_t end = 0;
};

/// How many elements of a dimension a copy moves.
[[nodiscard]] inline std::uint32_t count_of(const TensorMap& map, std::size_t dimension) {
  return (map.box[dimension] + map.steps[dimension] - 1U) / map.steps[dimension];
}

/// Where 16 bytes of shared memory are moved to: the number of a piece in its span changes with the
/// number of the 128 bytes that it is in.
[[nodiscard]] inline std::uint64_t swizzled(const TensorMap& map, std::uint64_t address) {
  if (map.swizzle == 0) return address;
  const std::uint64_t pieces = map.swizzle / 16U;
  return address ^ ((address >> 7 & (pieces - 1)) << 4);
}

/// Makes rows one after the other.
class TensorRows {
 public:
  TensorRows(const TensorMap& map, std::uint32_t count, std::int64_t start)
      : map_(&map), count_(count), start_(start) {
    const auto length = static_cast<std::int64_t>(map.lengths[0]);
    first_ = static_cast<std::uint32_t>(std::clamp<std::int64_t>(-start, 0, count));
    end_ = static_cast<std::uint32_t>(std::clamp<std::int64_t>(length - start, first_, count));
  }

  /// The next row, at coordinates of which the first is not used.
  [[nodiscard]] TensorRow next(const TensorCoordinates& at) {
    const std::uint64_t size = size_of(map_->type);
    TensorRow row{.offset = offset_, .count = count_};
    // With swizzling, each row begins a new span.
    offset_ += map_->swizzle != 0 ? map_->swizzle : count_ * size;
    row.address = map_->address + static_cast<std::uint64_t>(start_) * size;
    bool is_inside = true;
    for (std::size_t i = 1; i < map_->rank; ++i) {
      const auto coordinate = static_cast<std::uint64_t>(at[i]);
      is_inside = is_inside && coordinate < map_->lengths[i];  // negative ones are large
      row.address += coordinate * map_->strides[i - 1];
    }
    if (!is_inside) return row;
    row.first = first_;
    row.end = end_;
    return row;
  }

 private:
  const TensorMap* map_;
  std::uint32_t count_;
  std::int64_t start_;
  std::uint32_t first_ = 0;
  std::uint32_t end_ = 0;
  std::uint64_t offset_ = 0;
};

/// Calls visit(row) for each row of a box, until it returns false. Returns whether it never did.
template <class Visit>
bool for_each_row(const TensorMap& map, const TensorCoordinates& corner, Visit visit) {
  TensorRows rows(map, count_of(map, 0), corner[0]);
  TensorCoordinates at = corner;
  std::array<std::uint32_t, TensorMap::most_dimensions> done{};
  while (true) {
    if (!visit(rows.next(at))) return false;
    std::size_t i = 1;
    for (; i < map.rank; ++i) {
      at[i] += map.steps[i];
      if (++done[i] < count_of(map, i)) break;
      at[i] = corner[i];
      done[i] = 0;
    }
    if (i == map.rank) return true;
  }
}

/// The same for the pixels of a column: the first is at the coordinates, and `offsets` are added to
/// each, but not to the bounds of the pixel box.
template <class Visit>
bool for_each_pixel(const TensorMap& map, const TensorCoordinates& start,
                    const PixelOffsets& offsets, Visit visit) {
  TensorRows rows(map, map.channels, start[0]);
  TensorCoordinates at = start;
  const std::size_t last = map.rank - std::size_t{1};  // the images
  for (std::uint32_t pixel = 0; pixel < map.pixels; ++pixel) {
    TensorCoordinates moved = at;
    for (std::size_t i = 1; i < last; ++i) moved[i] += offsets[i - 1];
    if (!visit(rows.next(moved))) return false;
    std::size_t i = 1;
    for (; i < last; ++i) {
      at[i] += map.steps[i];
      if (at[i] < static_cast<std::int64_t>(map.lengths[i]) + map.upper[i - 1]) break;
      at[i] = map.lower[i - 1];
    }
    if (i == last) ++at[last];
  }
  return true;
}

}  // namespace cudacore::simulator
