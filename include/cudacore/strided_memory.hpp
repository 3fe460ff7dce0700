// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <cudacore/buffer.hpp>

namespace cudacore {

/// Elements in the memory of a buffer, at equal distances in each dimension.
struct StridedMemory {
  Buffer buffer{nullptr};
  std::size_t offset = 0;               ///< bytes from its start to the element at index 0
  std::vector<std::int64_t> shape{};    ///< how many elements each dimension has
  std::vector<std::int64_t> strides{};  ///< bytes from one to the next, for each dimension
};

/// Copies elements of `item_size` bytes between two arrays of one shape (cuMemcpyAsync,
/// cuMemcpy3DAsync). Neighboring dimensions become one where they can. What is left may be rows,
/// and planes of rows, in any order of the dimensions; rows of one element are slow.
/// @throw std::invalid_argument if the shapes differ, if elements lie outside of a buffer, or if
/// several elements of the destination share memory; NotSupportedError, which says why, if the
/// driver can't copy them all in one call.
void copy_strided(const StridedMemory& destination, const StridedMemory& source,
                  std::size_t item_size, const Stream& stream);

/// Sets every element to the bytes of `item` (cuMemsetD8Async, cuMemsetD2D8Async and the like).
/// Elements of more than 4 bytes are set word by word, unless their words are all the same.
/// @throw std::invalid_argument as copy_strided(); NotSupportedError if the elements are not rows
/// at equal distances.
void fill_strided(const StridedMemory& destination, std::span<const std::byte> item,
                  const Stream& stream);

}  // namespace cudacore
