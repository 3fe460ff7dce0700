// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cudacore/signature.hpp"

namespace cudacore::signature {

/// How the bytes of an array view lie in a kernel's parameter: cuda::std::mdspan with one of the
/// three standard layouts, or cudacore::array_view. First the address, then those extents that the
/// type doesn't fix, then, if it has them, the strides, in elements.
struct ViewLayout {
  static constexpr std::int64_t dynamic = -1;

  enum class Order : std::uint8_t {
    right,     ///< C order, no strides
    left,      ///< Fortran order, no strides
    strided,   ///< strides, all positive
    any_order  ///< strides of either sign
  };

  Param pointer;  ///< to the element
  Order order = Order::right;
  std::vector<std::int64_t> extents;  ///< of each dimension, or dynamic
  std::size_t index_size = 0;         ///< bytes of an extent and of a stride
  std::int64_t largest_index = 0;
};

/// Whether a type is one of these templates, in whatever form.
[[nodiscard]] bool is_view(const Param& param) noexcept;

/// The layout of a parameter of one of these types; unset for others, and for those whose size is
/// not what this layout makes it.
[[nodiscard]] std::optional<ViewLayout> view_layout(const Param& param);

}  // namespace cudacore::signature
