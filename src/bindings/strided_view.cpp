// SPDX-License-Identifier: Apache-2.0
#include "bindings/strided_view.hpp"

#include "bindings/conversions.hpp"
#include "bindings/dlpack.hpp"
#include "error/describe.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::bindings {
namespace {

const Buffer* buffer_of(const StridedView& view) noexcept {
  return get_if<Buffer>(view.exporter.ptr());
}

/// Refuses elements that don't lie within a buffer, or that no kernel could load.
void check_fit(const Buffer& buffer, const ElementType& element, const StridedLayout& layout,
               const std::string& what) {
  const StridedLayout::Range range = layout.range();
  const auto item = static_cast<std::int64_t>(element.size);
  std::int64_t bytes = 0;
  const bool overflows = __builtin_mul_overflow(range.end, item, &bytes);
  if (overflows || static_cast<std::uint64_t>(bytes) > buffer.size()) {
    throw py::value_error(what + ": shape " + shape_text(layout.shape()) + " and strides " +
                          shape_text(layout.strides()) + " of " + element.name + " need " +
                          (overflows ? "more than 2**63" : std::to_string(bytes)) +
                          " bytes, but the buffer has " + std::to_string(buffer.size()));
  }
  if (range.first < 0) {
    throw py::value_error(what + ": strides " + shape_text(layout.strides()) +
                          " reach before the start of the buffer; view[::-1] reverses a view");
  }
  if (layout.count() != 0 && buffer.handle() % element.alignment != 0) {
    throw py::value_error(what + ": the buffer begins at " +
                          error::format_address(buffer.handle()) + ", but elements of " +
                          element.name + " must be aligned to " +
                          std::to_string(element.alignment) + " bytes");
  }
}

}  // namespace

bool is_closed(const StridedView& view) noexcept {
  const Buffer* buffer = buffer_of(view);
  return buffer != nullptr && buffer->is_closed();
}

void require_open(const StridedView& view) {
  if (is_closed(view)) {
    throw py::value_error("StridedMemoryView: the Buffer whose memory it shows is closed");
  }
  if (const Buffer* buffer = buffer_of(view)) buffer->box()->throw_if_stale();
}

StridedView view_buffer(const py::object& object, ElementType element, StridedLayout layout,
                        const char* what) {
  const Buffer buffer = *get_if<Buffer>(object.ptr());
  if (buffer.is_closed()) throw py::value_error(std::string(what) + ": the buffer is closed");
  buffer.box()->throw_if_stale();
  check_fit(buffer, element, layout, what);
  StridedView view{.exporter = object};
  view.address = buffer.handle();
  view.element = std::move(element);
  view.layout = std::move(layout);
  view.device = dlpack_device(buffer);
  view.device_id = buffer.device_id();
  view.is_read_only = buffer.box()->is_read_only;
  return view;
}

ExportedArray exported(const StridedView& view) {
  require_open(view);
  ExportedArray array = [&] {
    if (const Buffer* buffer = buffer_of(view)) return exported(*buffer);
    ExportedArray made{.owner = "", .memory = view.memory};
    if (made.memory == nullptr) made.memory = keep_alive(view.exporter);
    made.device = view.device;
    made.is_device_accessible = view.is_device_accessible();
    made.is_host_accessible = view.device.type != dlpack::DeviceType::cuda;
    return made;
  }();
  array.owner = "StridedMemoryView";
  array.address = view.address;
  array.type = view.element.dlpack;
  array.type_string = view.is_typed ? view.element.type_string : "";
  array.item_size = view.element.size;
  array.layout = view.layout;
  array.is_read_only = view.is_read_only;
  return array;
}

dlpack::Tensor tensor_of(const StridedView& view) noexcept {
  const StridedLayout& layout = view.layout;
  return {.data = layout.count() == 0 ? nullptr : reinterpret_cast<void*>(view.address),  // NOLINT
          .device = view.device,
          .dimensions = static_cast<std::int32_t>(layout.rank()),
          .type = *view.element.dlpack,
          .shape = const_cast<std::int64_t*>(layout.shape().data()),
          .strides = const_cast<std::int64_t*>(layout.strides().data()),
          .byte_offset = 0};
}

dlpack::Tensor borrowed_tensor(const StridedView& view) {
  if (!view.element.dlpack) require_dlpack_type(exported(view));
  require_open(view);
  return tensor_of(view);
}

std::vector<std::int64_t> to_lengths(py::handle object, const std::string& what) {
  const auto to_length = [&](py::handle item) {
    if (!is_index(item)) refuse_type(what, "an int or a tuple of ints", item);
    return to_int<std::int64_t>(item, what);
  };
  if (is_index(object)) return {to_length(object)};
  const bool is_sequence = PyTuple_Check(object.ptr()) != 0 || PyList_Check(object.ptr()) != 0;
  if (!is_sequence) refuse_type(what, "an int or a tuple of ints", object);
  const py::tuple items(py::reinterpret_borrow<py::object>(object));  // which no code changes
  std::vector<std::int64_t> lengths;
  for (const py::handle item : items) lengths.push_back(to_length(item));
  return lengths;
}

}  // namespace cudacore::bindings
