// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "bindings/array_memory.hpp"
#include "bindings/device_object.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/later.hpp"
#include "bindings/options.hpp"
#include "driver/driver_api.hpp"
#include "error/check.hpp"

namespace cudacore::bindings {

/// The attributes of one device; each is read once and kept.
struct DeviceProperties {
  Device device;
};

namespace {

constexpr char properties_made[] = "Device.properties";

NamedTuple capability_tuple("ComputeCapability", "major minor");
NamedTuple memory_tuple("MemoryInfo", "free total");

/// The thread's Device objects, by ordinal: they die with the thread's state.
py::dict thread_devices() {
  PyObject* state = PyThreadState_GetDict();
  if (state == nullptr) throw std::runtime_error("Device: the calling thread has no Python state");
  const auto dict = py::reinterpret_borrow<py::dict>(state);
  const py::str key("cudacore devices");
  if (!dict.contains(key)) dict[key] = py::dict();
  return dict[key];
}

PyObject* new_device(PyTypeObject* /*type*/, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static constexpr const char* keywords[] = {"device_id"};
    py::handle id = Py_None;
    parse_keywords("Device", keywords, {&id, 1}, args, kwargs);
    return device_object(to_device(id).id()).release().ptr();
  });
}

/// Affects only the calling thread.
py::object set_current(const PyDevice& self, py::handle context) {
  if (context.is_none()) {
    self.device.set_current();
    return py::none();
  }
  const auto* wanted = get_if<Context>(context.ptr());
  if (wanted == nullptr) refuse_type("Device.set_current: ctx", "a Context or None", context);
  if (wanted->device() != self.device) {
    throw py::value_error("Device.set_current: ctx belongs to device " +
                          std::to_string(wanted->device().id()) + ", not to device " +
                          std::to_string(self.device.id()));
  }
  const Context previous = Context::current();
  wanted->set_current();
  return py::cast(previous);
}

Stream create_stream(const PyDevice& self, py::handle object, py::handle options) {
  if (object.is_none()) {
    return without_gil([device = self.device, chosen = to_options<StreamOptions>(options)] {
      return device.create_stream(chosen);
    });
  }
  if (!options.is_none()) {
    throw py::value_error(
        "Device.create_stream: obj is a stream already; options are for a new one");
  }
  if (is_mapping(object) || get_if<StreamOptions>(object.ptr()) != nullptr) {
    refuse_type("Device.create_stream: obj", "a Stream or have __cuda_stream__", object,
                "; options are given by name: create_stream(options=...)");
  }
  const Stream given = to_stream(object);
  static_cast<void>(given.handle());  // refuses a closed one
  return given;
}

PyObject* allocate(PyObject* self, const std::array<py::handle, 2>& arguments) {
  return allocate_on_device(*get_if<PyDevice>(self), arguments[0], arguments[1]);
}

PyObject* create_event(PyObject* self, const std::array<py::handle, 1>& arguments) {
  const auto chosen = to_options<EventOptions>(arguments[0]);
  return make_object(get_if<PyDevice>(self)->device.create_event(chosen));
}

/// The first bytes of what a resource allocates, which may have rounded the size up.
Buffer allocate_exactly(MemoryResource& resource, std::size_t size, const Stream& stream) {
  const Buffer made = resource.allocate(size, stream);
  return made.size() == size ? made : made.slice(0, size);
}

Buffer to_device_memory(PyDevice& self, const py::object& host, py::handle stream) {
  const std::shared_ptr<MemoryResource> resource = resource_of(self);
  const Stream chosen = to_stream(stream, self.device.id());
  if (const auto* given = get_if<Buffer>(host.ptr())) {
    const Buffer source = *given;
    const ReleaseGil release;
    Buffer made = allocate_exactly(*resource, source.size(), chosen);
    made.copy_from(source, chosen);
    return made;
  }
  const ArrayMemory source(host, false, chosen, "Device.to_device: host");
  const ReleaseGil release;
  Buffer made = allocate_exactly(*resource, source.size(), chosen);
  source.copy_to(made);
  return made;
}

/// The part of textures that is written in Python, which checks options.
py::module_ textures() { return py::module_::import("cudacore.texture._create"); }

/// What was current before each `with device:` that this thread is in; null if nothing was.
struct Entered {
  int device;
  CUcontext previous;
};
std::vector<Entered>& entered_devices() {
  thread_local std::vector<Entered> entered;
  return entered;
}

void enter(const Device& device) {
  const driver::DriverApi& api = driver::api();
  std::vector<Entered>& entered = entered_devices();
  entered.reserve(entered.size() + 1);
  CUcontext previous = nullptr;
  error::check(api.cuCtxGetCurrent(&previous), "cuCtxGetCurrent");
  device.set_current();
  entered.push_back({device.id(), previous});
}

void leave(const Device& device) {
  std::vector<Entered>& entered = entered_devices();
  if (entered.empty() || entered.back().device != device.id()) {
    throw std::runtime_error("Device.__exit__: the innermost `with` of this thread is not device " +
                             std::to_string(device.id()) +
                             "'s; leave in the reverse order, on the "
                             "thread that entered");
  }
  const CUcontext previous = entered.back().previous;
  entered.pop_back();
  error::check(driver::api().cuCtxSetCurrent(previous), "cuCtxSetCurrent",
               "the context that was current before `with` device " + std::to_string(device.id()));
}

/// A line for each attribute, in the order in which the driver numbers them.
std::string all_properties(const DeviceProperties& self) {
  std::string text = "device " + std::to_string(self.device.id()) + " (" + self.device.name() + ")";
  for (const DeviceAttribute& attribute : device_attributes()) {
    const int value = self.device.attribute(attribute.attribute);
    text += "\n  " + std::string(attribute.name) + ": ";
    text += !attribute.is_bool ? std::to_string(value) : value != 0 ? "True" : "False";
  }
  return text;
}

void bind_properties(py::module_& module) {
  HeapClass<DeviceProperties> type(module, "cudacore.DeviceProperties",
                                   refuse_new<properties_made>);
  for (const DeviceAttribute& attribute : device_attributes()) {
    const std::string name(attribute.name);
    const int number = attribute.attribute;
    if (attribute.is_bool) {
      type.property(
          name.c_str(), quick, "bool: The device attribute of this name.",
          [number](const DeviceProperties& self) { return self.device.attribute(number) != 0; });
    } else {
      type.property(
          name.c_str(), quick, "int: The device attribute of this name.",
          [number](const DeviceProperties& self) { return self.device.attribute(number); });
    }
  }
  type.def("__repr__", quick,
           [](const DeviceProperties& self) {
             return "<DeviceProperties of device " + std::to_string(self.device.id()) + ">";
           })
      .def("__str__", quick, &all_properties);
}

std::shared_ptr<MemoryResource> to_open_memory_resource(py::handle object) {
  std::shared_ptr<MemoryResource> resource = to_memory_resource(object);
  if (attribute_or_none(object, "is_closed").is(py::bool_(true))) {
    throw py::value_error("Device.memory_resource: " + shown(object) + " is closed");
  }
  return resource;
}

std::size_t granularity_of(const PyDevice& self, py::handle num_devices,
                           const std::string& granularity) {
  constexpr const char* what = "Device.get_multicast_granularity";
  const int devices = to_int<int>(num_devices, std::string(what) + ": num_devices", {.least = 1});
  if (granularity != "recommended" && granularity != "minimum") {
    throw py::value_error(std::string(what) +
                          ": granularity must be 'recommended' or 'minimum', not '" + granularity +
                          "'");
  }
  return multicast_granularity(self.device, static_cast<unsigned>(devices),
                               granularity == "recommended");
}

}  // namespace

const std::shared_ptr<MemoryResource>& resource_of(PyDevice& device) {
  if (device.memory_resource == nullptr) {
    std::shared_ptr<MemoryResource> made =
        without_gil([where = device.device] { return where.memory_resource(); });
    // Another thread may have chosen one in the meantime.
    if (device.memory_resource == nullptr) device.memory_resource = std::move(made);
  }
  return device.memory_resource;
}

py::object device_object(int ordinal) {
  py::dict devices = thread_devices();
  const py::int_ key(ordinal);
  if (!devices.contains(key)) devices[key] = py::cast(PyDevice{Device(ordinal), nullptr});
  return devices[key];
}

void bind_device(py::module_& module) {
  capability_tuple.add();
  memory_tuple.add();
  bind_properties(module);

  HeapClass<PyDevice>(module, "cudacore.Device", &new_device)
      .def_static("get_all_devices", quick,
                  []() {
                    py::list devices;
                    for (const Device device : Device::all())
                      devices.append(device_object(device.id()));
                    return py::tuple(devices);
                  })
      .def("get_multicast_granularity", quick, py::arg("num_devices"),
           py::arg("granularity") = "recommended", &granularity_of)
      .def("to_system_device", in_parts,
           [](const PyDevice& self) {
             return py::module_::import("cudacore.system._device")
                 .attr("system_device")(self.device.uuid());
           })
      .property("device_id", quick, [](const PyDevice& self) { return self.device.id(); })
      .property("name", quick, [](const PyDevice& self) { return self.device.name(); })
      .property("uuid", quick, [](const PyDevice& self) { return self.device.uuid(); })
      .property("pci_bus_id", quick, [](const PyDevice& self) { return self.device.pci_bus_id(); })
      .property("compute_capability", quick,
                [](const PyDevice& self) {
                  const ComputeCapability capability = self.device.compute_capability();
                  return capability_tuple(capability.major, capability.minor);
                })
      .property("arch", quick, [](const PyDevice& self) { return self.device.arch(); })
      .property("properties", quick,
                [](const PyDevice& self) { return DeviceProperties{self.device}; })
      .property("mem_info", in_parts,
                [](const PyDevice& self) {
                  const MemoryInfo info =
                      without_gil([device = self.device] { return device.memory_info(); });
                  return memory_tuple(info.free, info.total);
                })
      .property("context", quick, [](const PyDevice& self) { return self.device.context(); })
      .property("memory_resource", in_parts, &resource_of)
      .setter("memory_resource", in_parts,
              [](PyDevice& self, py::handle resource) {
                std::shared_ptr<MemoryResource> chosen = to_open_memory_resource(resource);
                self.memory_resource.swap(chosen);
              })
      .property("default_stream", quick,
                [](const PyDevice& self) { return self.device.default_stream(); })
      .def("can_access_peer", quick, py::arg("peer"),
           [](const PyDevice& self, py::handle peer) {
             return self.device.can_access_peer(to_device(peer));
           })
      .def("set_current", quick, py::arg("ctx") = py::none(), &set_current)
      .def("create_stream", in_parts, py::arg("obj") = py::none(), py::arg("options") = py::none(),
           &create_stream)
      .property("resources", in_parts,
                [](const PyDevice& self) {
                  make_class("DeviceResources");
                  return DeviceResources(self.device);
                })
      .def("create_context", in_parts, py::arg("options") = py::none(),
           [](const PyDevice& self, py::handle options) {
             return create_green_context(self.device, options);
           })
      .def("create_graph_builder", in_parts,
           [](const ObjectOf<PyDevice>& self) {
             return self.attr("create_stream")().attr("create_graph_builder")();
           })
      .def("create_opaque_array", in_parts, py::arg("options"),
           [](const py::object& self, const py::object& options) {
             return textures().attr("create_opaque_array")(self, options);
           })
      .def("create_mipmapped_array", in_parts, py::arg("options"),
           [](const py::object& self, const py::object& options) {
             return textures().attr("create_mipmapped_array")(self, options);
           })
      .def("create_texture_object", in_parts, py::kw_only(), py::arg("resource"),
           py::arg("options") = py::none(),
           [](const py::object& self, const py::object& resource, const py::object& options) {
             return textures().attr("create_texture_object")(self, resource, options);
           })
      .def("create_surface_object", in_parts, py::kw_only(), py::arg("resource"),
           [](const py::object& self, const py::object& resource) {
             return textures().attr("create_surface_object")(self, resource);
           })
      .def_fast(fast_method<"Device.create_event($self, options=None)", &create_event>)
      .def_fast(fast_method<"Device.allocate($self, size, *, stream=None)", &allocate>)
      .def("to_device", in_parts, py::arg("host"), py::kw_only(), py::arg("stream") = py::none(),
           &to_device_memory)
      .def("__enter__", in_parts,
           [](const PyDevice& self) {
             const Device device = self.device;
             {
               const ReleaseGil release;
               enter(device);
             }
             return device_object(device.id());
           })
      .def("__exit__", quick,
           [](const PyDevice& self, const py::args& /*error*/) { leave(self.device); })
      .def("sync", [](const PyDevice& self) { self.device.sync(); })
      .def("__int__", quick, [](const PyDevice& self) { return self.device.id(); })
      .def("__index__", quick, [](const PyDevice& self) { return self.device.id(); })
      .def_equality([](const PyDevice& a, const PyDevice& b) { return a.device == b.device; })
      .def("__hash__", quick,
           [](const PyDevice& self) { return std::hash<int>{}(self.device.id()); })
      .def("__reduce__", quick,
           [](const PyDevice& self) {
             return py::make_tuple(type_of<PyDevice>(), py::make_tuple(self.device.id()));
           })
      .def("__repr__", quick, [](const PyDevice& self) {
        const std::string start = "<Device " + std::to_string(self.device.id());
        try {
          return start + " (" + self.device.name() + ")>";
        } catch (const Error&) {  // such as in a forked child
          return start + ">";
        }
      });
}

}  // namespace cudacore::bindings
