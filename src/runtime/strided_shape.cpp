// SPDX-License-Identifier: Apache-2.0
#include "runtime/strided_shape.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

[[noreturn]] void refuse_shape(const char* function, const std::string& why) {
  throw std::invalid_argument(std::string(function) + ": " + why);
}

/// Checks that all elements lie within the buffer, and returns the address of the one at index 0.
CUdeviceptr checked_address(const char* function, const StridedMemory& array,
                            std::size_t item_size) {
  const owner::BufferBox& box = require_open(array.buffer.box(), "Buffer");
  box.throw_if_stale();
  std::int64_t low = 0;
  std::int64_t high = 0;
  bool overflows = array.offset > static_cast<std::size_t>(INT64_MAX);
  for (std::size_t i = 0; i < array.shape.size(); ++i) {
    std::int64_t reach = 0;
    overflows |= __builtin_mul_overflow(array.shape[i] - 1, array.strides[i], &reach);
    std::int64_t& bound = reach < 0 ? low : high;
    overflows |= __builtin_add_overflow(bound, reach, &bound);
  }
  std::int64_t first = 0;
  std::int64_t end = 0;
  overflows |= __builtin_add_overflow(static_cast<std::int64_t>(array.offset), low, &first);
  overflows |= __builtin_add_overflow(static_cast<std::int64_t>(array.offset), high, &end);
  overflows |= __builtin_add_overflow(end, static_cast<std::int64_t>(item_size), &end);
  if (overflows || first < 0 || static_cast<std::uint64_t>(end) > box.size) {
    refuse_shape(function,
                 "its elements reach outside of a buffer of " + error::format_bytes(box.size));
  }
  return box.pointer + array.offset;
}

/// Whether the elements of an outer dimension follow those of an inner one in both arrays.
bool follows(const StridedDimension& outer, const StridedDimension& inner) {
  return outer.strides[0] == inner.strides[0] * inner.length &&
         outer.strides[1] == inner.strides[1] * inner.length;
}

void require_own_memory(const char* function, const std::vector<StridedDimension>& dimensions,
                        std::size_t item_size) {
  // Each dimension must be stepped over by the ones outside of it.
  const std::vector<StridedDimension> innermost_first(dimensions.rbegin(), dimensions.rend());
  auto inner = static_cast<std::int64_t>(item_size);
  for (const StridedDimension& dimension : innermost_first) {
    if (dimension.strides[0] < inner) {
      refuse_shape(function, "several elements of the destination share memory");
    }
    inner += (dimension.length - 1) * dimension.strides[0];
  }
}

}  // namespace

StridedShape::StridedShape(const char* function, const StridedMemory& destination,
                           const StridedMemory& source, std::size_t item_size) {
  if (destination.shape != source.shape) refuse_shape(function, "the shapes differ");
  for (const StridedMemory* array : {&destination, &source}) {
    if (array->strides.size() != array->shape.size()) {
      refuse_shape(function, "there must be a stride for each dimension");
    }
  }
  if (item_size == 0 ||
      std::any_of(source.shape.begin(), source.shape.end(), [](auto n) { return n < 0; })) {
    refuse_shape(function, "elements have some bytes, and dimensions no negative length");
  }
  is_empty = std::find(source.shape.begin(), source.shape.end(), 0) != source.shape.end();
  if (is_empty) return;
  addresses = {checked_address(function, destination, item_size),
               checked_address(function, source, item_size)};
  for (std::size_t i = 0; i < source.shape.size(); ++i) {
    StridedDimension dimension{source.shape[i], {destination.strides[i], source.strides[i]}};
    if (dimension.length == 1) continue;
    auto& [to, from] = dimension.strides;
    if ((to < 0) != (from < 0) && from != 0 && to != 0) {
      throw NotSupportedError(std::string(function) + ": dimension " + std::to_string(i) +
                              " goes forwards in one array and backwards in the other, which the "
                              "driver can't copy; use a kernel");
    }
    if (to < 0) {
      addresses[0] -=
          static_cast<CUdeviceptr>(-to) * static_cast<CUdeviceptr>(dimension.length - 1);
      addresses[1] -=
          static_cast<CUdeviceptr>(-from) * static_cast<CUdeviceptr>(dimension.length - 1);
      to = -to;
      from = -from;
    }
    dimensions.push_back(dimension);
  }
  std::stable_sort(dimensions.begin(), dimensions.end(),
                   [](const StridedDimension& a, const StridedDimension& b) {
                     return a.strides[0] > b.strides[0];
                   });
  require_own_memory(function, dimensions, item_size);
  std::vector<StridedDimension> joined;
  for (const StridedDimension& dimension : dimensions) {
    if (!joined.empty() && follows(joined.back(), dimension)) {
      joined.back() = {joined.back().length * dimension.length, dimension.strides};
    } else {
      joined.push_back(dimension);
    }
  }
  dimensions = std::move(joined);
}

std::size_t StridedShape::take_row(std::size_t item_size) {
  const auto item = static_cast<std::int64_t>(item_size);
  if (dimensions.empty() || dimensions.back().strides[0] != item ||
      dimensions.back().strides[1] != item) {
    return item_size;
  }
  const std::size_t row = item_size * static_cast<std::size_t>(dimensions.back().length);
  dimensions.pop_back();
  return row;
}

}  // namespace cudacore
