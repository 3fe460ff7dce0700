// SPDX-License-Identifier: Apache-2.0
#include "bindings/strided_layout.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace cudacore::bindings {
namespace {

std::int64_t times(std::int64_t a, std::int64_t b, std::span<const std::int64_t> shape) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(a, b, &product)) {
    throw std::invalid_argument("shape " + shape_text(shape) +
                                " has more elements, or strides reach farther, than 64 bits count");
  }
  return product;
}

std::vector<std::int64_t> c_strides(std::span<const std::int64_t> shape) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    strides[i] = stride;
    stride = times(stride, std::max<std::int64_t>(shape[i], 1), shape);
  }
  return strides;
}

}  // namespace

StridedLayout::StridedLayout(std::vector<std::int64_t> shape,
                             std::optional<std::vector<std::int64_t>> strides)
    : shape_(std::move(shape)) {
  recount();
  if (strides && strides->size() != shape_.size()) {
    throw std::invalid_argument("shape " + shape_text(shape_) + " and strides " +
                                shape_text(*strides) + " must have the same length");
  }
  strides_ = strides ? std::move(*strides) : c_strides(shape_);
}

void StridedLayout::recount() {
  count_ = std::find(shape_.begin(), shape_.end(), 0) == shape_.end() ? 1 : 0;
  for (const std::int64_t length : shape_) {
    if (length < 0) {
      throw std::invalid_argument("shape " + shape_text(shape_) + " has a negative length");
    }
    count_ = times(count_, length, shape_);
  }
}

bool StridedLayout::is_c_contiguous() const noexcept {
  if (count_ == 0) return true;
  std::int64_t expected = 1;
  for (std::size_t i = rank(); i-- > 0;) {
    if (shape_[i] != 1 && strides_[i] != expected) return false;
    expected *= shape_[i];
  }
  return true;
}

bool StridedLayout::is_dense() const {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> dimensions;  // apart, length
  for (std::size_t i = 0; count_ != 0 && i < rank(); ++i) {
    const auto stride = static_cast<std::uint64_t>(strides_[i]);
    if (shape_[i] != 1) dimensions.emplace_back(strides_[i] < 0 ? 0 - stride : stride, shape_[i]);
  }
  std::sort(dimensions.begin(), dimensions.end());
  std::uint64_t expected = 1;
  return std::all_of(dimensions.begin(), dimensions.end(), [&](const auto& dimension) {
    return dimension.first == std::exchange(expected, expected * dimension.second);
  });
}

StridedLayout::Range StridedLayout::range() const {
  if (count_ == 0) return {};
  Range range{0, 1};
  for (std::size_t i = 0; i < rank(); ++i) {
    const std::int64_t reach = times(shape_[i] - 1, strides_[i], shape_);
    std::int64_t& bound = reach < 0 ? range.first : range.end;
    if (__builtin_add_overflow(bound, reach, &bound)) {
      throw std::invalid_argument("strides " + shape_text(strides_) +
                                  " reach farther than 64 bits count");
    }
  }
  return range;
}

void StridedLayout::take(std::size_t dimension, std::int64_t index, std::int64_t& offset) {
  const std::int64_t length = shape_[dimension];
  if (index < -length || index >= length) {
    throw std::out_of_range("index " + std::to_string(index) + " is out of range for dimension " +
                            std::to_string(dimension) + ", which has " + std::to_string(length) +
                            " elements");
  }
  // Without elements, strides may be any, and lead nowhere.
  if (count_ != 0) offset += (index < 0 ? index + length : index) * strides_[dimension];
  shape_.erase(shape_.begin() + static_cast<std::ptrdiff_t>(dimension));
  strides_.erase(strides_.begin() + static_cast<std::ptrdiff_t>(dimension));
  recount();
}

void StridedLayout::slice(std::size_t dimension, std::int64_t start, std::int64_t step,
                          std::int64_t count, std::int64_t& offset) {
  if (count > 0 && count_ != 0) offset += start * strides_[dimension];
  shape_[dimension] = count;
  if (count > 1) strides_[dimension] = times(strides_[dimension], step, shape_);
  recount();
}

void StridedLayout::insert(std::size_t dimension) {
  const auto place = static_cast<std::ptrdiff_t>(dimension);
  std::int64_t stride = 1;
  if (dimension < rank() &&
      __builtin_mul_overflow(shape_[dimension], strides_[dimension], &stride)) {
    stride = 1;  // which means nothing for one element
  }
  shape_.insert(shape_.begin() + place, 1);
  strides_.insert(strides_.begin() + place, stride);
}

StridedLayout StridedLayout::transposed(std::span<const std::int64_t> axes) const {
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;
  std::vector<bool> is_taken(rank());
  for (const std::int64_t axis : axes) {
    const std::int64_t place = axis < 0 ? axis + static_cast<std::int64_t>(rank()) : axis;
    const auto index = static_cast<std::size_t>(place);
    if (place < 0 || index >= rank() || is_taken[index]) break;
    is_taken[index] = true;
    shape.push_back(shape_[index]);
    strides.push_back(strides_[index]);
  }
  if (shape.size() != rank() || axes.size() != rank()) {
    throw std::invalid_argument("axes " + shape_text(axes) + " must name each of the " +
                                std::to_string(rank()) + " dimensions once");
  }
  return StridedLayout(std::move(shape), std::move(strides));
}

std::optional<StridedLayout> StridedLayout::reshaped(std::vector<std::int64_t> shape) const {
  infer_length(shape, count_);
  StridedLayout made(std::move(shape));
  if (made.count_ != count_) {
    throw std::invalid_argument("shape " + shape_text(made.shape_) + " has " +
                                std::to_string(made.count_) + " elements, but the view has " +
                                std::to_string(count_));
  }
  if (is_c_contiguous()) return made;
  // Groups of old and new dimensions with the same number of elements each: the old ones of a group
  // must follow each other without gaps.
  std::size_t old_begin = 0;
  std::size_t new_begin = 0;
  while (old_begin < rank() && new_begin < made.rank()) {
    std::size_t old_end = old_begin + 1;
    std::size_t new_end = new_begin + 1;
    std::int64_t old_count = shape_[old_begin];
    std::int64_t new_count = made.shape_[new_begin];
    while (old_count != new_count) {
      if (old_count < new_count) {
        old_count *= shape_[old_end++];
      } else {
        new_count *= made.shape_[new_end++];
      }
    }
    std::int64_t stride = 1;
    bool is_first = true;
    for (std::size_t i = old_end; i-- > old_begin;) {
      if (shape_[i] == 1) continue;
      if (is_first) stride = strides_[i];
      std::int64_t expected = stride;
      for (std::size_t later = i + 1; later < old_end; ++later) expected *= shape_[later];
      if (strides_[i] != expected) return std::nullopt;
      is_first = false;
    }
    for (std::size_t i = new_end; i-- > new_begin;) {
      made.strides_[i] = stride;
      stride *= made.shape_[i];
    }
    old_begin = old_end;
    new_begin = new_end;
  }
  return made;
}

StridedLayout StridedLayout::resized(std::int64_t from, std::int64_t to) const {
  if (from == to) return *this;
  if (rank() == 0 || (strides_.back() != 1 && shape_.back() > 1)) {
    throw std::invalid_argument(
        "a dtype of another size needs a view whose last dimension is contiguous");
  }
  const std::int64_t bytes = times(shape_.back(), from, shape_);
  StridedLayout made = *this;
  bool is_whole = bytes % to == 0;
  made.shape_.back() = bytes / to;
  for (std::size_t i = 0; i + 1 < rank(); ++i) {
    const std::int64_t stride = times(strides_[i], from, shape_);
    is_whole = is_whole && (stride % to == 0 || shape_[i] < 2);
    made.strides_[i] = stride / to;
  }
  made.strides_.back() = 1;
  if (!is_whole) {
    throw std::invalid_argument("the rows of shape " + shape_text(shape_) + " with " +
                                std::to_string(from) + "-byte elements are not a whole number of " +
                                std::to_string(to) + "-byte elements");
  }
  made.recount();
  return made;
}

void infer_length(std::vector<std::int64_t>& shape, std::int64_t count) {
  const auto open = std::find(shape.begin(), shape.end(), -1);
  if (open == shape.end()) return;
  if (std::find(open + 1, shape.end(), -1) != shape.end()) {
    throw std::invalid_argument("shape " + shape_text(shape) + " may have one -1");
  }
  std::vector<std::int64_t> others = shape;
  others[static_cast<std::size_t>(open - shape.begin())] = 1;
  const std::int64_t known = StridedLayout(std::move(others)).count();
  if (known == 0 || count % known != 0) {
    throw std::invalid_argument("shape " + shape_text(shape) + ": " + std::to_string(count) +
                                " elements leave no whole number for the -1");
  }
  *open = count / known;
}

std::string shape_text(std::span<const std::int64_t> shape) {
  std::string text = "(";
  for (const std::int64_t length : shape) {
    if (text.size() > 1) text += ", ";
    text += std::to_string(length);
  }
  return text + (shape.size() == 1 ? ",)" : ")");
}

}  // namespace cudacore::bindings
