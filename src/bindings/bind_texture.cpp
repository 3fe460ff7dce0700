// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"
#include "bindings/device_object.hpp"
#include "bindings/recorder.hpp"
#include "bindings/texture_objects.hpp"
#include "error/describe.hpp"
#include "owner/texture_boxes.hpp"

// Textures and surfaces. The Python part, cudacore.texture, has their options; it checks them, and
// calls _create().

namespace cudacore::bindings {
namespace {

PyObject* refuse_new_reader(PyTypeObject* type, PyObject* /*args*/, PyObject* /*kwargs*/) {
  return guarded([&]() -> PyObject* {
    const bool is_texture = type == heap_type<PyTexture>;
    raise_as_both(
        PyExc_TypeError, PyExc_RuntimeError,
        is_texture
            ? "TextureObject cannot be instantiated directly: use Device.create_texture_object()"
            : "SurfaceObject cannot be instantiated directly: use Device.create_surface_object()");
  });
}

/// A ResourceDescriptor's fields, which its class has checked.
TextureResource to_texture_resource(py::handle resource) {
  const py::object source = resource.attr("source");
  if (const auto* array = get_if<OpaqueArray>(source.ptr())) return *array;
  if (const auto* array = get_if<MipmappedArray>(source.ptr())) return *array;
  const auto* buffer = get_if<Buffer>(source.ptr());
  if (buffer == nullptr) {
    refuse_type("resource.source", "a Buffer, an OpaqueArray or a MipmappedArray", source);
  }
  const auto format = to_array_format(resource.attr("_format").cast<int>());
  const auto channels = resource.attr("num_channels").cast<int>();
  const auto bytes = [&](const char* name) { return resource.attr(name).cast<std::size_t>(); };
  if (resource.attr("kind").cast<std::string>() == "linear") {
    const std::size_t size = bytes("size_bytes");
    return LinearMemory{*buffer, format, channels, size};
  }
  const std::size_t width = bytes("width");
  const std::size_t height = bytes("height");
  const std::size_t pitch = bytes("pitch_bytes");
  return PitchedMemory{*buffer, format, channels, width, height, pitch};
}

/// The values of the options in their order, enumerations as numbers.
TextureObjectOptions to_texture_options(const py::tuple& values) {
  TextureObjectOptions options;
  std::size_t next = 0;
  const auto number = [&] { return values[next++].cast<int>(); };
  const auto flag = [&] { return values[next++].cast<bool>(); };
  const auto real = [&] { return values[next++].cast<float>(); };
  for (AddressMode& mode : options.address_modes)
    mode = checked_enumerator(number(), AddressMode::border, "address_mode");
  options.filter_mode = checked_enumerator(number(), FilterMode::linear, "filter_mode");
  options.read_mode = checked_enumerator(number(), ReadMode::normalized_float, "read_mode");
  options.normalized_coords = flag();
  options.srgb = flag();
  options.disable_trilinear_optimization = flag();
  options.seamless_cubemap = flag();
  options.max_anisotropy = values[next++].cast<unsigned>();
  options.mipmap_filter_mode = checked_enumerator(number(), FilterMode::linear, "filter_mode");
  options.mipmap_level_bias = real();
  options.min_mipmap_level_clamp = real();
  options.max_mipmap_level_clamp = real();
  for (float& channel : options.border_color) channel = real();
  return options;
}

PyTexture create_texture(py::handle device, py::object resource, py::object options,
                         const py::tuple& values) {
  const Device where = to_device(device);
  const TextureResource read = to_texture_resource(resource);
  const TextureObjectOptions reads = to_texture_options(values);
  TextureObject made = without_gil([&] { return TextureObject(where.context(), read, reads); });
  return {std::move(made), std::move(resource), std::move(options)};
}

PySurface create_surface(py::handle device, py::object resource, const py::object& source) {
  const Device where = to_device(device);
  const auto* given = get_if<OpaqueArray>(source.ptr());
  if (given == nullptr) refuse_type("resource.source", "an OpaqueArray", source);
  const OpaqueArray array = *given;
  if (array.device() != where) {
    throw py::value_error("the array is on device " + std::to_string(array.device().id()) +
                          ", and this is for device " + std::to_string(where.id()));
  }
  SurfaceObject made = without_gil([&] { return SurfaceObject(array); });
  return {std::move(made), std::move(resource)};
}

/// Takes what it holds out of the object, and gives it up without the GIL.
template <typename Reader, typename Value>
void close_reader(const ObjectOf<Reader>& self, Value Reader::*member) {
  Reader& reader = self.value();
  Value last = std::exchange(reader.*member, Value(nullptr));
  const py::object resource = std::exchange(reader.resource, py::object());
  const ReleaseGil release;
  last.close();
}
void close_texture(const ObjectOf<PyTexture>& self) { close_reader(self, &PyTexture::texture); }
void close_surface(const ObjectOf<PySurface>& self) { close_reader(self, &PySurface::surface); }

/// A launch that is recorded takes the handle as a number, behind which nobody sees the memory.
void require_no_stand_in(const TextureObject& texture) {
  const Recorder* recorder = Recorder::active();
  if (recorder == nullptr || texture.is_closed()) return;
  if (!recorder->is_stand_in_address(texture.box()->address)) return;
  throw NotSupportedError(
      "the handle of a TextureObject of an argument is read while that is recorded, and the "
      "address in the texture cannot be replaced; make the texture outside, and pass that");
}

py::object or_none(const py::object& object) { return object ? object : py::none(); }

std::string shown_reader(const char* name, const py::object& resource, unsigned long long handle) {
  if (handle == 0) return "<" + std::string(name) + ", closed>";
  return std::string(name) + "(handle=" + error::format_address(handle) +
         ", resource=" + std::string(py::repr(or_none(resource))) + ")";
}

}  // namespace

void bind_textures(py::module_& module) {
  HeapClass<PyTexture>(module, "cudacore.texture.TextureObject", &refuse_new_reader)
      .def_static("_create", in_parts, py::arg("device"), py::arg("resource"), py::arg("options"),
                  py::arg("values"), &create_texture)
      .property("handle", quick,
                [](const PyTexture& self) {
                  require_no_stand_in(self.texture);
                  return self.texture.handle();
                })
      .property("is_closed", quick, [](const PyTexture& self) { return self.texture.is_closed(); })
      .property("device", quick,
                [](const PyTexture& self) { return device_object(self.texture.device().id()); })
      .property("resource", quick, [](const PyTexture& self) { return or_none(self.resource); })
      .property("options", quick, [](const PyTexture& self) { return self.options; })
      .def("close", in_parts, &close_texture)
      .def("__enter__", quick, [](py::object self) { return self; })
      .def("__exit__", in_parts,
           [](const ObjectOf<PyTexture>& self, const py::args&) { close_texture(self); })
      .def("__repr__", in_parts, [](const ObjectOf<PyTexture>& object) {
        const PyTexture& self = object.value();
        return shown_reader("TextureObject", py::object(self.resource),
                            self.texture.is_closed() ? 0 : self.texture.box()->texture);
      });
  HeapClass<PySurface>(module, "cudacore.texture.SurfaceObject", &refuse_new_reader)
      .def_static("_create", in_parts, py::arg("device"), py::arg("resource"), py::arg("source"),
                  &create_surface)
      .property("handle", quick, [](const PySurface& self) { return self.surface.handle(); })
      .property("is_closed", quick, [](const PySurface& self) { return self.surface.is_closed(); })
      .property("device", quick,
                [](const PySurface& self) { return device_object(self.surface.device().id()); })
      .property("resource", quick, [](const PySurface& self) { return or_none(self.resource); })
      .def("close", in_parts, &close_surface)
      .def("__enter__", quick, [](py::object self) { return self; })
      .def("__exit__", in_parts,
           [](const ObjectOf<PySurface>& self, const py::args&) { close_surface(self); })
      .def("__repr__", in_parts, [](const ObjectOf<PySurface>& object) {
        const PySurface& self = object.value();
        return shown_reader("SurfaceObject", py::object(self.resource),
                            self.surface.is_closed() ? 0 : self.surface.box()->surface);
      });
}

}  // namespace cudacore::bindings
