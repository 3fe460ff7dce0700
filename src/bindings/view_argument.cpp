// SPDX-License-Identifier: Apache-2.0
#include "bindings/view_argument.hpp"

#include <cstring>

namespace cudacore::bindings {
namespace {

using signature::ViewLayout;
using Order = ViewLayout::Order;
using Indices = std::array<std::int64_t, std::size_t{ForeignArray::most_dimensions}>;

[[noreturn]] void refuse(const std::string& why) { throw ForeignArrayError(why); }

void require_extents(const ViewLayout& layout, const dlpack::Tensor& tensor) {
  const auto rank = static_cast<int>(layout.extents.size());
  if (tensor.dimensions != rank) {
    refuse("it has " + std::to_string(tensor.dimensions) +
           (tensor.dimensions == 1 ? " dimension" : " dimensions") + ", and the parameter " +
           std::to_string(rank));
  }
  for (int i = 0; i < rank; ++i) {
    const std::int64_t fixed = layout.extents[static_cast<std::size_t>(i)];
    if (fixed != ViewLayout::dynamic && fixed != tensor.shape[i]) {
      refuse("its extent " + std::to_string(i) + " is " + std::to_string(tensor.shape[i]) +
             ", and the parameter's is " + std::to_string(fixed));
    }
  }
}

/// The strides of an array without gaps, in elements. Those of an empty array are as of one whose
/// extents are 1 in place of 0.
Indices packed_strides(const dlpack::Tensor& tensor, bool from_right) {
  Indices strides{};
  std::int64_t stride = 1;
  for (int i = 0; i < tensor.dimensions; ++i) {
    const int axis = from_right ? tensor.dimensions - 1 - i : i;
    strides[static_cast<std::size_t>(axis)] = stride;
    if (i + 1 == tensor.dimensions) break;  // no stride follows
    const std::int64_t extent = std::max<std::int64_t>(tensor.shape[axis], 1);
    if (__builtin_mul_overflow(stride, extent, &stride)) {
      refuse("its extents are more than 64 bits count, even though it is empty");
    }
  }
  return strides;
}

/// The array's own strides; those of single elements, which mean nothing, as if without gaps.
Indices own_strides(const ForeignArray& array) {
  const dlpack::Tensor& tensor = array.tensor;
  Indices strides = packed_strides(tensor, true);
  for (int i = 0; tensor.strides != nullptr && array.count != 0 && i < tensor.dimensions; ++i) {
    if (tensor.shape[i] > 1) strides[static_cast<std::size_t>(i)] = tensor.strides[i];
  }
  return strides;
}

void require_order(const ViewLayout& layout, const ForeignArray& array, const Indices& strides) {
  const dlpack::Tensor& tensor = array.tensor;
  if (array.count == 0 || layout.order == Order::any_order) return;
  if (layout.order == Order::strided) {
    for (int i = 0; i < tensor.dimensions; ++i) {
      if (strides[static_cast<std::size_t>(i)] <= 0) {
        refuse(
            "its stride " + std::to_string(i) + " is " +
            std::to_string(strides[static_cast<std::size_t>(i)]) +
            ", and those of a cuda::std::layout_stride are positive; a cudacore::array_view takes "
            "any");
      }
    }
    return;
  }
  const bool is_right = layout.order == Order::right;
  const Indices packed = packed_strides(tensor, is_right);
  for (int i = 0; i < tensor.dimensions; ++i) {
    const auto axis = static_cast<std::size_t>(i);
    if (tensor.shape[i] > 1 && strides[axis] != packed[axis]) {
      refuse(is_right ? "it is not C-contiguous, as cuda::std::layout_right is; pass a contiguous "
                        "copy, or let the kernel take a cuda::std::layout_stride"
                      : "it is not Fortran-contiguous, as cuda::std::layout_left is; pass such a "
                        "copy, or let the kernel take a cuda::std::layout_stride");
    }
  }
}

/// Refuses elements that lie farther apart than an index of the view counts.
void require_reach(const ViewLayout& layout, const ForeignArray& array, const Indices& strides) {
  if (array.count == 0) return;
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  bool overflows = false;
  for (int i = 0; i < array.tensor.dimensions; ++i) {
    std::int64_t reach = 0;
    overflows |= __builtin_mul_overflow(array.tensor.shape[i] - 1,
                                        strides[static_cast<std::size_t>(i)], &reach);
    std::int64_t& end = reach < 0 ? lowest : highest;
    overflows |= __builtin_add_overflow(end, reach, &end);
  }
  const std::int64_t largest = layout.largest_index;
  if (!overflows && highest < largest && lowest > -largest) return;
  const std::string bits = std::to_string(8 * layout.index_size) + "-bit";
  refuse("its elements lie farther apart than the parameter's " + bits +
         " indices reach, which end at " + std::to_string(largest) +
         "; let the kernel take 64-bit indices, such as cudacore::array_view<T, " +
         std::to_string(array.tensor.dimensions) + "> or cuda::std::dextents<long long, " +
         std::to_string(array.tensor.dimensions) + ">");
}

/// Writes numbers of `size` bytes, one behind the other.
class Writer {
 public:
  Writer(const ViewLayout& layout, unsigned char* place) : layout_(&layout), place_(place) {}

  void write(std::int64_t value, const char* what) {
    if (value > layout_->largest_index || value < -layout_->largest_index) {
      refuse(std::string(what) + " is " + std::to_string(value) + ", and the parameter holds " +
             std::to_string(layout_->largest_index) + " at most");
    }
    std::memcpy(place_, &value, layout_->index_size);
    place_ += layout_->index_size;
  }

 private:
  const ViewLayout* layout_;
  unsigned char* place_;
};

}  // namespace

void pack_view(const ViewLayout& layout, const ForeignArray& array, unsigned char* destination) {
  const dlpack::Tensor& tensor = array.tensor;
  require_extents(layout, tensor);
  const Indices strides = own_strides(array);
  require_order(layout, array, strides);
  if (array.count > static_cast<std::uint64_t>(layout.largest_index)) {
    refuse("it has " + std::to_string(array.count) +
           " elements, and the parameter's indices end at " + std::to_string(layout.largest_index));
  }
  require_reach(layout, array, strides);
  const auto address = reinterpret_cast<std::uint64_t>(tensor.data);
  std::memcpy(destination, &address, sizeof(address));
  Writer writer(layout, destination + sizeof(address));
  for (int i = 0; i < tensor.dimensions; ++i) {
    const bool is_dynamic = layout.extents[static_cast<std::size_t>(i)] == ViewLayout::dynamic;
    if (is_dynamic) writer.write(tensor.shape[i], "an extent");
  }
  if (layout.order != Order::strided && layout.order != Order::any_order) return;
  for (int i = 0; i < tensor.dimensions; ++i) {
    writer.write(strides[static_cast<std::size_t>(i)], "a stride");
  }
}

}  // namespace cudacore::bindings
