// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"
#include "bindings/dlpack.hpp"
#include "bindings/foreign_view.hpp"
#include "bindings/keywords.hpp"
#include "bindings/recorder.hpp"
#include "bindings/tensor_map_object.hpp"
#include "bindings/view_copy.hpp"
#include "bindings/view_index.hpp"

namespace cudacore::bindings {
namespace {

/// StridedMemoryView(obj, stream_ptr), which cuda.core deprecates.
PyObject* new_view(PyTypeObject* /*type*/, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static constexpr const char* keywords[] = {"obj", "stream_ptr"};
    std::array<py::handle, 2> given{Py_None, Py_None};
    parse_keywords("StridedMemoryView", keywords, given, args, kwargs);
    if (given[0].is_none()) {
      throw py::type_error(
          "StridedMemoryView objects are not made directly: use StridedMemoryView.from_dlpack, "
          "from_cuda_array_interface, from_array_interface, from_any_interface or from_buffer, or "
          "Buffer.view");
    }
    if (PyErr_WarnEx(PyExc_DeprecationWarning,
                     "StridedMemoryView(obj, stream_ptr) is deprecated: use "
                     "StridedMemoryView.from_any_interface(obj, stream_ptr)",
                     1) != 0) {
      throw py::error_already_set();
    }
    return make_object(view_array(py::reinterpret_borrow<py::object>(given[0]), given[1],
                                  {&read_any_dlpack, &read_cuda_interface, &read_host_interface}));
  });
}

StridedView from_buffer(py::handle /*type*/, const py::object& buffer, py::handle shape,
                        py::handle strides, py::handle itemsize, py::handle dtype,
                        bool is_readonly) {
  constexpr char what[] = "StridedMemoryView.from_buffer";
  if (get_if<Buffer>(buffer.ptr()) == nullptr) {
    refuse_type(std::string(what) + ": buffer", "a Buffer", buffer);
  }
  if (itemsize.is_none() && dtype.is_none()) {
    throw py::value_error("StridedMemoryView.from_buffer: itemsize or dtype must be given");
  }
  const std::size_t size =
      itemsize.is_none() ? 0 : to_size(itemsize, "StridedMemoryView.from_buffer: itemsize");
  ElementType element = dtype.is_none()
                            ? opaque_elements(size)
                            : to_element_type(dtype, "StridedMemoryView.from_buffer: dtype");
  if (element.size == 0 || (!itemsize.is_none() && size != element.size)) {
    throw py::value_error("StridedMemoryView.from_buffer: itemsize is " + std::to_string(size) +
                          ", but elements of " + element.name + " have " +
                          std::to_string(element.size) + " bytes");
  }
  std::vector<std::int64_t> lengths = to_lengths(shape, std::string(what) + ": shape");
  std::optional<std::vector<std::int64_t>> steps;
  if (!strides.is_none()) steps = to_lengths(strides, std::string(what) + ": strides");
  StridedView view = view_buffer(buffer, std::move(element),
                                 StridedLayout(std::move(lengths), std::move(steps)), what);
  view.is_typed = !dtype.is_none();
  view.has_strides = !strides.is_none();
  view.is_read_only |= is_readonly;
  return view;
}

/// The same bytes as elements of another type.
py::object with_type(const ObjectOf<StridedView>& self, py::handle layout, py::handle dtype) {
  if (!layout.is_none()) {
    throw NotSupportedError(
        "StridedMemoryView.view: layouts are private classes of cuda.core, which cudacore lacks; "
        "index, reshape or transpose the view, or give a dtype by name: view(dtype=...)");
  }
  if (dtype.is_none()) return self;
  ElementType element = to_element_type(dtype, "StridedMemoryView.view: dtype");
  StridedView view = self.value();
  require_open(view);
  if (view.layout.count() != 0 && view.address % element.alignment != 0) {
    throw py::value_error("StridedMemoryView.view: elements of " + element.name +
                          " must be aligned to " + std::to_string(element.alignment) +
                          " bytes, which the view is not");
  }
  view.layout = view.layout.resized(static_cast<std::int64_t>(view.element.size),
                                    static_cast<std::int64_t>(element.size));
  view.has_strides = view.has_strides && element.size == view.element.size;
  view.element = std::move(element);
  view.is_typed = true;
  return py::cast(std::move(view));
}

StridedView to_view(py::handle object, const char* what) {
  const auto* view = get_if<StridedView>(object.ptr());
  if (view == nullptr) {
    refuse_type(std::string(what) + ": other", "a StridedMemoryView", object,
                "; StridedMemoryView.from_any_interface(array, -1) views an array");
  }
  return *view;
}

/// Without this, NumPy would make an array of one view for each element.
py::object to_numpy(const ObjectOf<StridedView>& self, py::handle dtype, py::handle copy) {
  const StridedView& view = self.value();
  require_open(view);
  if (view.device.type == dlpack::DeviceType::cuda) {
    throw py::type_error(
        "the memory of this StridedMemoryView is on device " + std::to_string(view.device_id) +
        ", where NumPy can't read it; numpy.from_dlpack(view, device=\"cpu\") copies it");
  }
  const py::module_ numpy = py::module_::import("numpy");
  return numpy.attr("array")(numpy.attr("from_dlpack")(self), dtype, py::arg("copy") = copy);
}

py::tuple to_tuple(const std::vector<std::int64_t>& lengths) {
  py::tuple made(lengths.size());
  for (std::size_t i = 0; i < lengths.size(); ++i) made[i] = lengths[i];
  return made;
}

py::object strides_of(const StridedView& view) {
  if (!view.has_strides && view.layout.is_c_contiguous()) return py::none();
  return to_tuple(view.layout.strides());
}

py::object dtype_of(const StridedView& view) {
  return view.is_typed ? numpy_dtype(view.element) : py::object(py::none());
}

std::string repr(const StridedView& view) {
  const py::handle exporter = view.exporter;
  return "StridedMemoryView(ptr=" + std::to_string(view.address) +
         ", shape=" + shape_text(view.layout.shape()) +
         ", strides=" + py::str(strides_of(view)).cast<std::string>() +
         ", itemsize=" + std::to_string(view.element.size) +
         ", dtype=" + (view.is_typed ? view.element.name : "NoneType") +
         ", device_id=" + std::to_string(view.named_device()) +
         ", is_device_accessible=" + (view.is_device_accessible() ? "True" : "False") +
         ", readonly=" + (view.is_read_only ? "True" : "False") +
         ", exporting_obj=" + type_name(exporter) + ")";
}

template <auto... readers>
StridedView view_by(py::handle /*type*/, const py::object& object, py::handle stream) {
  return view_array(object, stream, {readers...});
}

}  // namespace

void bind_strided_view(py::module_& module) {
  HeapClass<StridedView> type(module, "cudacore.utils.StridedMemoryView", &new_view);
  const auto stream = py::arg("stream_ptr") = py::none();
  type.def_class("from_dlpack", in_parts, py::arg("obj"), stream, &view_by<&read_any_dlpack>)
      .def_class("from_cuda_array_interface", in_parts, py::arg("obj"), stream,
                 &view_by<&read_cuda_interface>)
      .def_class("from_array_interface", in_parts, py::arg("obj"),
                 [](py::handle, const py::object& object) {
                   return view_array(object, py::int_(-1), {&read_host_interface});
                 })
      .def_class("from_any_interface", in_parts, py::arg("obj"), stream,
                 &view_by<&read_any_dlpack, &read_cuda_interface, &read_host_interface>)
      .def_class("from_buffer", in_parts, py::arg("buffer"), py::arg("shape"),
                 py::arg("strides") = py::none(), py::kw_only(), py::arg("itemsize") = py::none(),
                 py::arg("dtype") = py::none(), py::arg("is_readonly").noconvert() = false,
                 &from_buffer)
      .def("view", in_parts, py::arg("layout") = py::none(), py::arg("dtype") = py::none(),
           &with_type)
      .def("reshape", quick, &reshaped)
      .def("transpose", quick, &transposed)
      .property("T", quick,
                [](const StridedView& self) { return transposed(self, py::args(py::tuple())); })
      .def("__getitem__", quick, py::arg("index"), py::pos_only(), &at_index)
      .def("__len__", quick,
           [](const StridedView& self) {
             if (self.layout.rank() == 0) {
               throw py::type_error("a StridedMemoryView without dimensions has no length");
             }
             return self.layout.shape()[0];
           })
      .def("__array__", in_parts, py::arg("dtype") = py::none(), py::arg("copy") = py::none(),
           &to_numpy)
      .def("copy_from", in_parts, py::arg("other"), py::arg("stream") = py::none(),
           py::arg("allocator") = py::none(), py::arg("blocking") = py::none(),
           [](const StridedView& self, py::handle other, py::handle chosen, py::handle,
              py::handle blocking) {
             constexpr char what[] = "StridedMemoryView.copy_from";
             copy_view(self, to_view(other, what), chosen, blocking, what);
           })
      .def("copy_to", in_parts, py::arg("other"), py::arg("stream") = py::none(),
           py::arg("allocator") = py::none(), py::arg("blocking") = py::none(),
           [](const StridedView& self, py::handle other, py::handle chosen, py::handle,
              py::handle blocking) {
             constexpr char what[] = "StridedMemoryView.copy_to";
             copy_view(to_view(other, what), self, chosen, blocking, what);
           })
      .def("fill", in_parts, py::arg("value"), py::kw_only(), py::arg("stream") = py::none(),
           &fill_view)
      .property("ptr", quick,
                [](const StridedView& self) {
                  require_open(self);
                  return self.address;
                })
      .property("device_id", quick, read<&StridedView::named_device>)
      .property("is_device_accessible", quick, read<&StridedView::is_device_accessible>)
      .property("readonly", quick, read<&StridedView::is_read_only>)
      .property("exporting_obj", quick,
                [](const StridedView& self) {
                  const Recorder* recorder = Recorder::active();
                  if (recorder != nullptr && recorder->is_stand_in_address(self.address) &&
                      !recorder->is_stand_in(self.exporter)) {
                    throw NotSupportedError(
                        "exporting_obj of an argument of a recorded function: what else the object "
                        "has is "
                        "not recorded; pass it as an argument of its own");
                  }
                  return self.exporter;
                })
      .property("shape", quick,
                [](const StridedView& self) { return to_tuple(self.layout.shape()); })
      .property("strides", quick, &strides_of)
      .property("dtype", in_parts, &dtype_of)
      .property("size", quick, [](const StridedView& self) { return self.layout.count(); })
      .property("ndim", quick, [](const StridedView& self) { return self.layout.rank(); })
      .property("itemsize", quick, [](const StridedView& self) { return self.element.size; })
      .property("nbytes", quick,
                [](const StridedView& self) {
                  return self.layout.count() * static_cast<std::int64_t>(self.element.size);
                })
      .def("as_tensor_map", in_parts, py::arg("box_dim") = py::none(), py::kw_only(),
           py::arg("options") = py::none(), py::arg("element_strides") = py::none(),
           py::arg("data_type") = py::none(), py::arg("interleave") = py::none(),
           py::arg("swizzle") = py::none(), py::arg("l2_promotion") = py::none(),
           py::arg("oob_fill") = py::none(),
           [](const StridedView& self, py::handle box, py::handle options, py::handle strides,
              py::handle data_type, py::handle interleave, py::handle swizzle, py::handle l2,
              py::handle fill) {
             return make_tiled(self, box, options,
                               {strides, data_type, interleave, swizzle, l2, fill});
           })
      .def("__dlpack__", in_parts, py::kw_only(), py::arg("stream") = py::none(),
           py::arg("max_version") = py::none(), py::arg("dl_device") = py::none(),
           py::arg("copy") = py::none(),
           [](const StridedView& self, py::handle consumer, py::handle max_version,
              py::handle dl_device, py::handle copy) {
             return dlpack_capsule(exported(self), consumer, max_version, dl_device, copy);
           })
      .def("__dlpack_device__", quick,
           [](const StridedView& self) { return bindings::to_tuple(self.device); })
      .property("__cuda_array_interface__", in_parts,
                [](const StridedView& self) { return cuda_array_interface(exported(self)); })
      .def("__repr__", quick, &repr);
  type.attr("__dlpack_c_exchange_api__") = exchange_capsule();
  type.attr("__c_dlpack_exchange_api__") = type.attr("__dlpack_c_exchange_api__");
}

}  // namespace cudacore::bindings
