// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bindings/strided_view.hpp"
#include "cudacore/tensor_map.hpp"

namespace cudacore::bindings {

/// A TensorMapDescriptor object: what a kernel takes, and the view that keeps the memory. Like the
/// view, it doesn't stop a Buffer from being closed, and refuses to be used after that.
struct TensorMapObject {
  std::shared_ptr<const TensorMapDescriptor> map;
  StridedView view;
  std::int64_t extent = 0;  ///< the bytes from the tensor's first element to the end of its last
};

template <>
struct CollectorTraits<TensorMapObject> {
  static constexpr bool any = true;
  static bool may_keep(const TensorMapObject& /*object*/) noexcept { return true; }
  static int visit(const TensorMapObject& object, visitproc visit, void* arg) {
    return CollectorTraits<StridedView>::visit(object.view, visit, arg);
  }
};

/// The arguments that all kinds of descriptors have in common; None is unset.
struct TensorMapFields {
  py::handle element_strides;
  py::handle data_type;
  py::handle interleave;
  py::handle swizzle;
  py::handle l2_promotion;
  py::handle oob_fill;
};

/// A descriptor of boxes of a view: StridedMemoryView.as_tensor_map.
[[nodiscard]] TensorMapObject make_tiled(const StridedView& view, py::handle box_dim,
                                         py::handle options, const TensorMapFields& fields);

}  // namespace cudacore::bindings
