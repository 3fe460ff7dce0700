// SPDX-License-Identifier: Apache-2.0
#include "bindings/array_memory.hpp"
#include "bindings/conversions.hpp"
#include "bindings/device_object.hpp"
#include "bindings/kept_arguments.hpp"
#include "bindings/recorder.hpp"
#include "bindings/strided_view.hpp"
#include "bindings/texture_objects.hpp"

// Arrays. The Python part, cudacore.texture, has their options; it checks them, and calls
// _create().

namespace cudacore::bindings {

template <>
Py_hash_t hash_of(const OpaqueArray& array) noexcept {
  return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(array.box().get()) >> 4);
}
template <>
Py_hash_t hash_of(const MipmappedArray& array) noexcept {
  return static_cast<Py_hash_t>(reinterpret_cast<std::uintptr_t>(array.box().get()) >> 4);
}

namespace {

constexpr char how_array_is_made[] = "Device.create_opaque_array()";
constexpr char how_mipmap_is_made[] = "Device.create_mipmapped_array()";

PyObject* refuse_new_array(PyTypeObject* type, PyObject* /*args*/, PyObject* /*kwargs*/) {
  return guarded([&]() -> PyObject* {
    const bool is_mipmap = type == heap_type<MipmappedArray>;
    raise_as_both(PyExc_TypeError, PyExc_RuntimeError,
                  std::string(is_mipmap ? "MipmappedArray" : "OpaqueArray") +
                      " cannot be instantiated directly: use " +
                      (is_mipmap ? how_mipmap_is_made : how_array_is_made));
  });
}

OpaqueArrayOptions to_array_options(py::handle shape, int format, int channels, bool is_surface) {
  OpaqueArrayOptions options;
  options.shape = to_lengths(shape, "shape");
  options.format = to_array_format(format);
  options.num_channels = channels;
  options.is_surface_load_store = is_surface;
  return options;
}

py::tuple shape_of(const OpaqueArrayOptions& options) {
  py::tuple shape(options.shape.size());
  for (std::size_t i = 0; i < options.shape.size(); ++i) shape[i] = py::int_(options.shape[i]);
  return shape;
}

/// The ArrayFormatType.
py::object format_of_options(const OpaqueArrayOptions& options) {
  const auto all = py::module_::import("cudacore.typing").attr("ArrayFormatType");
  return py::list(all)[static_cast<std::size_t>(options.format)];
}

void copy_from_memory(const ObjectOf<OpaqueArray>& self, py::handle source, py::handle stream) {
  const Borrowed<OpaqueArray> array(self.ptr());
  const Stream chosen = to_stream(stream, array.get().device().id());
  std::shared_ptr<void> used;
  require_recorded(chosen, {source});
  std::span<const std::byte> host;
  std::optional<Borrowed<Buffer>> buffer;
  if (get_if<Buffer>(source.ptr()) != nullptr) {
    buffer.emplace(source.ptr());
    const ReleaseGil release;
    array.get().copy_from(buffer->get(), chosen);
  } else {
    constexpr const char* what = "OpaqueArray.copy_from: src";
    used = with_memory(source, false, chosen, what, [&](const ArrayMemory& from) {
      require_fit(from.elements(), array.get(), what);
      if (from.is_on_host()) host = from.host_bytes();
      require_recorded_source(host);
      const ReleaseGil release;
      from.copy_to(array.get());
    });
    note_recorded_source(chosen, host, used);
  }
  keep_if_captured(chosen, {self, source}, std::move(used));
}

py::object copy_to_memory(const ObjectOf<OpaqueArray>& self, py::object destination,
                          py::handle stream) {
  const Borrowed<OpaqueArray> array(self.ptr());
  const Stream chosen = to_stream(stream, array.get().device().id());
  require_recorded(chosen, {destination});
  std::shared_ptr<void> used;
  std::optional<Borrowed<Buffer>> buffer;
  if (get_if<Buffer>(destination.ptr()) != nullptr) {
    buffer.emplace(destination.ptr());
    const ReleaseGil release;
    array.get().copy_to(buffer->get(), chosen);
  } else {
    constexpr const char* what = "OpaqueArray.copy_to: dst";
    used = with_memory(destination, true, chosen, what, [&](const ArrayMemory& to) {
      require_fit(to.elements(), array.get(), what);
      require_recorded_copy(chosen, to.is_on_host());
      const ReleaseGil release;
      to.copy_from(array.get());
    });
  }
  keep_if_captured(chosen, {self, destination}, std::move(used));
  return destination;
}

/// Takes the array out of the object, and gives it up without the GIL.
template <typename Array>
void close_array(const ObjectOf<Array>& self) {
  Array last = close_object<Array>(self.ptr());
  const ReleaseGil release;
  last.close();
}

std::string shown_options(const OpaqueArrayOptions& options) {
  return "shape=" + std::string(py::str(shape_of(options))) +
         ", format=" + format_of_options(options).attr("name").cast<std::string>() +
         ", num_channels=" + std::to_string(options.num_channels);
}

void bind_opaque_array(py::module_& module) {
  HeapClass<OpaqueArray>(module, "cudacore.texture.OpaqueArray", &refuse_new_array)
      .def_static("_create", py::arg("device"), py::arg("shape"), py::arg("form"),
                  py::arg("num_channels"), py::arg("is_surface_load_store"),
                  [](py::handle device, py::handle shape, int format, int channels, bool surface) {
                    return [where = to_device(device),
                            options = to_array_options(shape, format, channels, surface)] {
                      return OpaqueArray(where.context(), options);
                    };
                  })
      .property("handle", quick, read<&OpaqueArray::handle>)
      .property("is_closed", quick, read<&OpaqueArray::is_closed>)
      .property("device", quick,
                [](const OpaqueArray& self) { return device_object(self.device().id()); })
      .property("shape", quick, [](const OpaqueArray& self) { return shape_of(self.options()); })
      .property("format", quick,
                [](const OpaqueArray& self) { return format_of_options(self.options()); })
      .property("num_channels", quick,
                [](const OpaqueArray& self) { return self.options().num_channels; })
      .property("is_surface_load_store", quick,
                [](const OpaqueArray& self) { return self.options().is_surface_load_store; })
      .property("element_bytes", quick, read<&OpaqueArray::element_bytes>)
      .property("size_bytes", quick, read<&OpaqueArray::size_bytes>)
      .def("copy_from", in_parts, py::arg("src"), py::kw_only(), py::arg("stream") = py::none(),
           &copy_from_memory)
      .def("copy_to", in_parts, py::arg("dst"), py::kw_only(), py::arg("stream") = py::none(),
           &copy_to_memory)
      .def("close", in_parts, &close_array<OpaqueArray>)
      .def("__enter__", quick, [](py::object self) { return self; })
      .def("__exit__", in_parts,
           [](const ObjectOf<OpaqueArray>& self, const py::args&) { close_array(self); })
      .def_identity([](const OpaqueArray& a, const OpaqueArray& b) { return a.box() == b.box(); })
      .def("__repr__", quick, [](const OpaqueArray& self) {
        return self.is_closed() ? std::string("<OpaqueArray, closed>")
                                : "OpaqueArray(" + shown_options(self.options()) + ")";
      });
}

void bind_mipmapped_array(py::module_& module) {
  HeapClass<MipmappedArray>(module, "cudacore.texture.MipmappedArray", &refuse_new_array)
      .def_static("_create", py::arg("device"), py::arg("shape"), py::arg("form"),
                  py::arg("num_channels"), py::arg("num_levels"), py::arg("is_surface_load_store"),
                  [](py::handle device, py::handle shape, int format, int channels, int levels,
                     bool surface) {
                    return [where = to_device(device),
                            options = MipmappedArrayOptions{
                                to_array_options(shape, format, channels, surface), levels}] {
                      return MipmappedArray(where.context(), options);
                    };
                  })
      .def("get_level", py::arg("level"),
           [](const MipmappedArray& self, py::handle level) {
             return [array = MipmappedArray(self),
                     chosen = to_int<int>(level, "MipmappedArray.get_level: level")] {
               return array.get_level(chosen);
             };
           })
      .property("handle", quick, read<&MipmappedArray::handle>)
      .property("is_closed", quick, read<&MipmappedArray::is_closed>)
      .property("device", quick,
                [](const MipmappedArray& self) { return device_object(self.device().id()); })
      .property("shape", quick, [](const MipmappedArray& self) { return shape_of(self.options()); })
      .property("format", quick,
                [](const MipmappedArray& self) { return format_of_options(self.options()); })
      .property("num_channels", quick,
                [](const MipmappedArray& self) { return self.options().num_channels; })
      .property("num_levels", quick,
                [](const MipmappedArray& self) { return self.options().num_levels; })
      .property("is_surface_load_store", quick,
                [](const MipmappedArray& self) { return self.options().is_surface_load_store; })
      .def("close", in_parts, &close_array<MipmappedArray>)
      .def("__enter__", quick, [](py::object self) { return self; })
      .def("__exit__", in_parts,
           [](const ObjectOf<MipmappedArray>& self, const py::args&) { close_array(self); })
      .def_identity(
          [](const MipmappedArray& a, const MipmappedArray& b) { return a.box() == b.box(); })
      .def("__repr__", quick, [](const MipmappedArray& self) {
        if (self.is_closed()) return std::string("<MipmappedArray, closed>");
        const MipmappedArrayOptions options = self.options();
        return "MipmappedArray(" + shown_options(options) +
               ", num_levels=" + std::to_string(options.num_levels) + ")";
      });
}

}  // namespace

void bind_arrays(py::module_& module) {
  bind_opaque_array(module);
  bind_mipmapped_array(module);
}

}  // namespace cudacore::bindings
