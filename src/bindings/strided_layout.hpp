// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace cudacore::bindings {

/// Where the elements of an array lie: the length of each dimension, and how many elements apart
/// its neighbors are. A plain value; no Python.
///
/// The functions that make a layout from another also change `offset`, in elements, from the
/// array's address to its first element.
class StridedLayout {
 public:
  /// In C order, unless strides are given.
  /// @throw std::invalid_argument if a length is negative, if the numbers of lengths and strides
  /// differ, or if the elements are too many for 64 bits.
  explicit StridedLayout(std::vector<std::int64_t> shape,
                         std::optional<std::vector<std::int64_t>> strides = std::nullopt);

  [[nodiscard]] std::size_t rank() const noexcept { return shape_.size(); }
  [[nodiscard]] const std::vector<std::int64_t>& shape() const noexcept { return shape_; }
  [[nodiscard]] const std::vector<std::int64_t>& strides() const noexcept { return strides_; }
  /// The number of elements.
  [[nodiscard]] std::int64_t count() const noexcept { return count_; }
  [[nodiscard]] bool is_c_contiguous() const noexcept;
  /// Whether the elements fill their range, each place once, in whatever order of dimensions.
  [[nodiscard]] bool is_dense() const;

  /// The elements that it reaches, from `first` up to `end`, relative to the address; empty if
  /// there are none.
  struct Range {
    std::int64_t first = 0;
    std::int64_t end = 0;
  };
  /// @throw std::invalid_argument if it reaches too far for 64 bits.
  [[nodiscard]] Range range() const;

  /// Fixes one dimension, which it removes.
  /// @throw std::out_of_range
  void take(std::size_t dimension, std::int64_t index, std::int64_t& offset);
  /// Keeps `count` elements of a dimension, from `start` on, `step` apart.
  void slice(std::size_t dimension, std::int64_t start, std::int64_t step, std::int64_t count,
             std::int64_t& offset);
  /// Adds a dimension of one element.
  void insert(std::size_t dimension);
  /// @throw std::invalid_argument if `axes` are not all dimensions, each once.
  [[nodiscard]] StridedLayout transposed(std::span<const std::int64_t> axes) const;
  /// The same elements, in C order, under another shape; unset if that takes a copy.
  /// @throw std::invalid_argument if the number of elements differs.
  [[nodiscard]] std::optional<StridedLayout> reshaped(std::vector<std::int64_t> shape) const;
  /// The same bytes as elements of another size; the last dimension must be contiguous.
  /// @throw std::invalid_argument if it is not, or if its bytes are not a whole number of elements.
  [[nodiscard]] StridedLayout resized(std::int64_t from, std::int64_t to) const;

 private:
  void recount();

  std::vector<std::int64_t> shape_;
  std::vector<std::int64_t> strides_;
  std::int64_t count_ = 1;
};

/// Replaces a -1 in a shape by what is left of `count` elements.
/// @throw std::invalid_argument if there are several, or nothing fits.
void infer_length(std::vector<std::int64_t>& shape, std::int64_t count);

/// "(2, 3)", "(2,)"
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> shape);

}  // namespace cudacore::bindings
