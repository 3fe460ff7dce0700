// SPDX-License-Identifier: Apache-2.0
#include "bindings/view_copy.hpp"

#include "bindings/conversions.hpp"
#include "bindings/host_buffer.hpp"
#include "bindings/recorder.hpp"
#include "runtime/strided_copies.hpp"

namespace cudacore::bindings {
namespace {

/// The elements of a view that is not empty, in a buffer that holds just what they reach.
StridedMemory memory_of(const StridedView& view) {
  const ExportedArray array = exported(view);
  const StridedLayout::Range range = array.layout.range();
  const auto item = static_cast<std::int64_t>(array.item_size);
  StridedMemory memory;
  memory.shape = array.layout.shape();
  memory.offset = static_cast<std::size_t>(-range.first * item);
  for (std::size_t i = 0; i < memory.shape.size(); ++i) {
    // A single element may have any stride.
    memory.strides.push_back(memory.shape[i] > 1 ? array.layout.strides()[i] * item : 0);
  }
  memory.buffer = Buffer::from_handle(array.address - memory.offset,
                                      static_cast<std::size_t>((range.end - range.first) * item),
                                      nullptr, std::const_pointer_cast<void>(array.memory));
  return memory;
}

/// The bytes of an element that a value stands for.
std::string to_element(const StridedView& view, py::handle value) {
  constexpr char what[] = "StridedMemoryView.fill";
  if (view.is_typed) {
    const py::object made =
        py::module_::import("cudacore._host").attr("element_bytes")(value, view.element.name, what);
    return made.cast<std::string>();
  }
  const HostBuffer host(value, false, "StridedMemoryView.fill, of elements without a type: value");
  if (host.bytes().size() != view.element.size) {
    throw py::value_error(std::string(what) + ": an element has " +
                          std::to_string(view.element.size) + " bytes, not " +
                          std::to_string(host.bytes().size()));
  }
  return {reinterpret_cast<const char*>(host.bytes().data()), host.bytes().size()};
}

}  // namespace

void copy_view(const StridedView& target, const StridedView& source, py::handle stream,
               py::handle blocking, const char* what) {
  const StridedView to = target;
  const StridedView from = source;
  const bool is_on_host = !to.is_device_accessible() || !from.is_device_accessible();
  const int waits = blocking.is_none() ? int{is_on_host} : PyObject_IsTrue(blocking.ptr());
  if (waits < 0) throw py::error_already_set();
  const int device = to.device.type == dlpack::DeviceType::cuda ? to.device_id : from.device_id;
  const Stream chosen = to_stream(stream, device);
  require_open(to);
  require_open(from);
  if (to.is_read_only) throw py::value_error(std::string(what) + ": the target is read-only");
  if (to.layout.shape() != from.layout.shape() || to.element.name != from.element.name) {
    throw py::value_error(std::string(what) + ": both views must have the same shape and dtype, " +
                          "not " + shape_text(to.layout.shape()) + " of " + to.element.name +
                          " and " + shape_text(from.layout.shape()) + " of " + from.element.name);
  }
  if (to.layout.count() == 0) return;
  const StridedMemory into = memory_of(to);
  const StridedMemory out_of = memory_of(from);
  if (owner::any_capture() && chosen.box() != nullptr) [[unlikely]] {
    for (const CUdeviceptr address : {to.address, from.address}) {
      Recorder::require_no_foreign_stand_in(*chosen.box(), address);
    }
  }
  require_recorded_copy(chosen, to.device.type == dlpack::DeviceType::cpu);
  std::span<const std::byte> host;
  if (from.device.type == dlpack::DeviceType::cpu) {
    host = {reinterpret_cast<const std::byte*>(out_of.buffer.handle()),  // NOLINT
            out_of.buffer.size()};
  }
  require_recorded_source(host);
  without_gil([&] { copy_strided_for(what, into, out_of, to.element.size, chosen); });
  note_recorded_source(chosen, host, out_of.buffer.box());
  if (waits != 0) without_gil([&] { chosen.sync(); });
}

void fill_view(const ObjectOf<StridedView>& self, py::handle value, py::handle stream) {
  constexpr char what[] = "StridedMemoryView.fill";
  const StridedView view = self.value();
  require_open(view);
  const std::string element = to_element(view, value);
  const Stream chosen =
      to_stream(stream, view.device.type == dlpack::DeviceType::cuda ? view.device_id : -1);
  require_open(view);
  if (view.is_read_only) throw py::value_error(std::string(what) + ": the view is read-only");
  if (!view.is_device_accessible()) {
    throw py::value_error(std::string(what) +
                          ": the memory is the host's alone: np.asarray(view)[...] = value");
  }
  if (view.layout.count() == 0) return;
  const StridedMemory memory = memory_of(view);
  require_recorded(chosen);
  const ReleaseGil release;
  fill_strided_for(what, memory, std::as_bytes(std::span(element)), chosen);
}

}  // namespace cudacore::bindings
