// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "bindings/collector.hpp"
#include "bindings/element_type.hpp"
#include "bindings/exported_array.hpp"

namespace cudacore::bindings {

/// Typed, strided elements in the memory of a Buffer or of another library's array; what a
/// StridedMemoryView holds. It never changes. It keeps the memory, but it doesn't stop a Buffer
/// from being closed, and refuses to be used after that.
struct StridedView {
  py::object exporter;                   ///< the Buffer object, or the array that it was made from
  std::shared_ptr<const void> memory{};  ///< what else keeps the memory of an array; may be null
  CUdeviceptr address = 0;               ///< of the element at index 0 of all dimensions
  ElementType element{};
  bool is_typed = true;  ///< false if only the size of an element is known
  StridedLayout layout{{}};
  bool has_strides = false;  ///< whether they were given, and are shown even in C order
  bool is_read_only = false;
  dlpack::Device device{};
  int device_id = -1;
  /// The device that was current when memory of the host was viewed by __array_interface__, which
  /// is what cuda.core calls its device.
  int viewed_on = -1;

  [[nodiscard]] int named_device() const noexcept { return std::max(device_id, viewed_on); }
  [[nodiscard]] bool is_device_accessible() const noexcept {
    return device.type != dlpack::DeviceType::cpu;
  }
};

template <>
struct CollectorTraits<StridedView> {
  static constexpr bool any = true;
  static bool may_keep(const StridedView& /*view*/) noexcept { return true; }
  static int visit(const StridedView& view, visitproc visit, void* arg) {
    Py_VISIT(view.exporter.ptr());
    return 0;
  }
};

/// Whether it shows a Buffer that was closed.
[[nodiscard]] bool is_closed(const StridedView& view) noexcept;

/// Refuses a view of a Buffer that was closed, or whose memory a reset has taken.
/// @throw std::invalid_argument, Error
void require_open(const StridedView& view);

/// A view of a Buffer object. `what` begins the messages.
/// @throw std::invalid_argument if it is closed, if the elements don't lie within it, or if they
/// are not aligned.
[[nodiscard]] StridedView view_buffer(const py::object& buffer, ElementType element,
                                      StridedLayout layout, const char* what);

[[nodiscard]] ExportedArray exported(const StridedView& view);
/// What shows a view whose elements DLPack has a type for, as long as its object lives.
[[nodiscard]] dlpack::Tensor tensor_of(const StridedView& view) noexcept;
/// The same for any view.
/// @throws if DLPack has no type for the elements, or the memory is not open any more
[[nodiscard]] dlpack::Tensor borrowed_tensor(const StridedView& view);

/// The ints of a shape, of strides or of axes: an int, or a sequence of ints.
/// @throw TypeError, OverflowError
[[nodiscard]] std::vector<std::int64_t> to_lengths(py::handle object, const std::string& what);

}  // namespace cudacore::bindings
