// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <limits>

#include "bindings/conversions.hpp"
#include "bindings/device_object.hpp"
#include "bindings/graphics_object.hpp"
#include "error/describe.hpp"

namespace cudacore::bindings {
namespace {

PyObject* refuse_new_graphics(PyTypeObject* /*type*/, PyObject* /*args*/, PyObject* /*kwargs*/) {
  return guarded([]() -> PyObject* {
    raise_as_both(PyExc_TypeError, PyExc_RuntimeError,
                  "GraphicsResource cannot be instantiated directly: use "
                  "GraphicsResource.from_gl_buffer() or GraphicsResource.from_gl_image()");
  });
}

struct NamedUse {
  const char* name;
  bool GraphicsUse::*flag;  ///< null for none
};
constexpr std::array named_uses{
    NamedUse{"none", nullptr},
    NamedUse{"read_only", &GraphicsUse::is_read_only},
    NamedUse{"write_discard", &GraphicsUse::is_write_discard},
    NamedUse{"surface_load_store", &GraphicsUse::is_surface_load_store},
    NamedUse{"texture_gather", &GraphicsUse::is_texture_gather},
};

void add_use(GraphicsUse& use, py::handle flag, const std::string& what) {
  if (!PyUnicode_Check(flag.ptr())) {
    refuse_type(what, "None, a str, or a list or tuple of str", flag);
  }
  const auto name = flag.cast<std::string>();
  const auto* found = std::find_if(named_uses.begin(), named_uses.end(),
                                   [&](const NamedUse& each) { return each.name == name; });
  if (found == named_uses.end()) {
    std::string all;
    for (const NamedUse& each : named_uses) {
      all += (all.empty() ? "'" : ", '") + std::string(each.name) + "'";
    }
    throw py::value_error(what + ": unknown register flag " + shown(flag) + "; there are " + all);
  }
  if (found->flag != nullptr) use.*(found->flag) = true;
}

GraphicsUse to_use(py::handle flags, const std::string& what) {
  GraphicsUse use;
  if (flags.is_none()) return use;
  const bool is_sequence = PyTuple_Check(flags.ptr()) != 0 || PyList_Check(flags.ptr()) != 0;
  if (!is_sequence) {
    add_use(use, flags, what);
    return use;
  }
  const py::tuple all(py::reinterpret_borrow<py::object>(flags));  // which no code changes
  for (const py::handle each : all) add_use(use, each, what);
  return use;
}

PyGraphics from_gl_buffer(py::handle /*type*/, py::handle gl_buffer, py::handle flags,
                          py::handle stream) {
  const std::string what = "GraphicsResource.from_gl_buffer: ";
  const unsigned name = to_int<unsigned>(gl_buffer, what + "gl_buffer");
  const GraphicsUse use = to_use(flags, what + "flags");
  std::optional<Stream> maps_on = to_optional_stream(stream);
  GraphicsResource made = without_gil([&] { return GraphicsResource::from_gl_buffer(name, use); });
  return {std::move(made), py::object(), std::move(maps_on)};
}

PyGraphics from_gl_image(py::handle /*type*/, py::handle image, py::handle target,
                         py::handle flags) {
  const std::string what = "GraphicsResource.from_gl_image: ";
  const unsigned name = to_int<unsigned>(image, what + "image");
  const unsigned kind = to_int<unsigned>(target, what + "target");
  const GraphicsUse use = to_use(flags, what + "flags");
  return {without_gil([&] { return GraphicsResource::from_gl_image(name, kind, use); })};
}

/// Maps what `map` says without the GIL, and remembers the object for unmap(). cuda.core's errors
/// are RuntimeErrors.
template <typename Map>
py::object map_as(const ObjectOf<PyGraphics>& self, py::handle stream, const Map& map) {
  return runtime_error_too([&] {
    const GraphicsResource resource = self.value().resource;
    const int device = resource.device().id();
    const Stream chosen = to_stream(stream, device);
    py::object made = py::cast(without_gil([&] { return map(resource, chosen); }));
    // Dropping what it was mapped as before may run other code.
    const py::object before = std::exchange(self.value().mapped, made);
    return made;
  });
}

/// Closes what a resource is mapped as, which unmaps it unless something else still uses it.
void close_mapped(const GraphicsResource& resource, const py::object& mapped,
                  const std::optional<Stream>& stream) {
  if (!mapped) return;
  if (get_if<Buffer>(mapped.ptr()) != nullptr) {
    mapped.attr("close")(py::arg("stream") = to_object(stream));
    return;
  }
  if (stream && resource.is_mapped()) resource.set_unmapping_stream(*stream);
  mapped.attr("close")();
}

void unmap(const ObjectOf<PyGraphics>& self, py::handle stream) {
  runtime_error_too([&] {
    const std::optional<Stream> chosen = to_optional_stream(stream);
    const GraphicsResource resource = self.value().resource;
    static_cast<void>(resource.device());  // which a closed one has not
    if (!resource.is_mapped()) throw std::invalid_argument("GraphicsResource is not mapped");
    const py::object mapped = self.value().mapped;
    close_mapped(resource, mapped, chosen);
    if (resource.is_mapped()) {
      throw std::invalid_argument(
          "GraphicsResource.unmap: slices, levels, textures or surfaces of what it was mapped as "
          "are still open: close them, and it is unmapped");
    }
    const py::object before = std::exchange(self.value().mapped, py::object());
  });
}

void close_graphics(const ObjectOf<PyGraphics>& self, py::handle stream) {
  const std::optional<Stream> chosen = to_optional_stream(stream);
  PyGraphics& graphics = self.value();
  GraphicsResource last = std::exchange(graphics.resource, GraphicsResource(nullptr));
  const py::object mapped = std::exchange(graphics.mapped, py::object());
  const std::optional<Stream> maps_on = std::exchange(graphics.stream, std::nullopt);
  close_mapped(last, mapped, chosen);
  const ReleaseGil release;
  last.close();
}

py::object enter(const ObjectOf<PyGraphics>& self) {
  const std::optional<Stream> stream = self.value().stream;
  if (!stream) return self;
  return map_as(self, py::cast(*stream), [](const GraphicsResource& resource, const Stream& on) {
    return resource.map(on);
  });
}

auto handle_of(const PyGraphics& graphics) {
  return reinterpret_cast<std::uintptr_t>(graphics.resource.handle());
}

}  // namespace

void bind_graphics(py::module_& module) {
  const auto no_stream = py::arg("stream") = py::none();
  HeapClass<PyGraphics>(module, "cudacore.GraphicsResource", &refuse_new_graphics)
      .def_class("from_gl_buffer", in_parts, py::arg("gl_buffer"), py::kw_only(),
                 py::arg("flags") = py::none(), no_stream, &from_gl_buffer)
      .def_class("from_gl_image", in_parts, py::arg("image"), py::arg("target"), py::kw_only(),
                 py::arg("flags") = py::none(), &from_gl_image)
      .property("handle", quick, &handle_of)
      .property("resource_handle", quick, &handle_of)
      .property("device", quick,
                [](const PyGraphics& self) { return device_object(self.resource.device().id()); })
      .property("is_mapped", quick,
                [](const PyGraphics& self) { return self.resource.is_mapped(); })
      .property("is_closed", quick,
                [](const PyGraphics& self) { return self.resource.is_closed(); })
      .def("map", in_parts, py::kw_only(), no_stream,
           [](const ObjectOf<PyGraphics>& self, py::handle stream) {
             return map_as(self, stream, [](const GraphicsResource& resource, const Stream& on) {
               return resource.map(on);
             });
           })
      .def("map_array", in_parts, py::arg("layer") = 0, py::arg("level") = 0, py::kw_only(),
           no_stream,
           [](const ObjectOf<PyGraphics>& self, py::handle layer, py::handle level,
              py::handle stream) {
             const unsigned place = to_int<unsigned>(layer, "GraphicsResource.map_array: layer");
             const unsigned size = to_int<unsigned>(level, "GraphicsResource.map_array: level");
             return map_as(self, stream, [=](const GraphicsResource& resource, const Stream& on) {
               return resource.map_array(place, size, on);
             });
           })
      .def("map_mipmapped_array", in_parts, py::kw_only(), no_stream,
           [](const ObjectOf<PyGraphics>& self, py::handle stream) {
             return map_as(self, stream, [](const GraphicsResource& resource, const Stream& on) {
               return resource.map_mipmapped_array(on);
             });
           })
      .def("unmap", in_parts, py::kw_only(), no_stream, &unmap)
      .def("close", in_parts, no_stream, &close_graphics)
      .def("__enter__", in_parts, &enter)
      .def("__exit__", in_parts,
           [](const ObjectOf<PyGraphics>& self, const py::args&) {
             close_graphics(self, py::none());
           })
      .def("__repr__", quick, [](const PyGraphics& self) {
        if (self.resource.is_closed()) return std::string("<GraphicsResource, closed>");
        return "<GraphicsResource " + error::format_address(self.resource.handle()) +
               (self.resource.is_mapped() ? ", mapped>" : ">");
      });
}

}  // namespace cudacore::bindings
