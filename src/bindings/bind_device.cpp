// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/errors.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/gil.hpp"
#include "bindings/host_buffer.hpp"
#include "bindings/keywords.hpp"
#include "bindings/options.hpp"
#include "bindings/values.hpp"
#include "cudacore/error.hpp"
#include "driver/driver_api.hpp"
#include "error/check.hpp"

namespace cudacore::bindings {

/// The attributes of one device; each is read once and kept.
struct DeviceProperties {
  Device device;
};

namespace {

constexpr char properties_made[] = "Device.properties";

// Never released: Python objects in statics outlive the interpreter.
PyObject* compute_capability_type = nullptr;
PyObject* memory_info_type = nullptr;

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

/// cuCtxSetCurrent is of the calling thread alone.
py::object set_current(const PyDevice& self, py::handle context) {
  if (context.is_none()) {
    self.device.set_current();
    return py::none();
  }
  const auto* wanted = get_if<Context>(context.ptr());
  if (wanted == nullptr) {
    throw py::type_error("Device.set_current: ctx must be a Context or None, not " +
                         type_name(context));
  }
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
  const Stream given = to_stream(object);
  static_cast<void>(given.handle());  // refuses a closed one
  return given;
}

constexpr char class_name[] = "Device";

PyObject* allocate(PyObject* self, const std::array<py::handle, 2>& arguments) {
  return allocate_on_device(*get_if<PyDevice>(self), arguments[0], arguments[1]);
}

PyObject* create_event(PyObject* self, const std::array<py::handle, 1>& arguments) {
  const auto chosen = to_options<EventOptions>(arguments[0]);
  return make_object(get_if<PyDevice>(self)->device.create_event(chosen));
}

Buffer to_device_memory(PyDevice& self, const py::object& host, py::handle stream) {
  const std::shared_ptr<MemoryResource> resource = resource_of(self);
  const Stream chosen = to_stream(stream, self.device.id());
  if (const auto* given = get_if<Buffer>(host.ptr())) {
    const Buffer source = *given;
    const ReleaseGil release;
    Buffer made = resource->allocate(source.size(), chosen);
    made.copy_from(source, chosen);
    return made;
  }
  const HostBuffer source(host, false, "Device.to_device: host");
  const ReleaseGil release;
  Buffer made = resource->allocate(source.bytes().size(), chosen);
  made.copy_from(source.bytes(), chosen);
  return made;
}

/// What was current before each `with device:` that this thread is in; null where nothing was.
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

constexpr char allocate_doc[] =
    "allocate($self, size, *, stream=None)\n--\n\n"
    "Allocates from `memory_resource`, ordered on a stream.\n\n"
    "Parameters\n----------\n"
    "size : int\n    Bytes.\n"
    "stream : Stream or None\n    The current stream where None.\n\n"
    "Returns\n-------\nBuffer\n\n"
    "Raises\n------\nOutOfMemoryError";

constexpr char create_event_doc[] =
    "create_event($self, options=None)\n--\n\n"
    "Makes an event of this device (cuEventCreate), or hands out one that was closed.\n\n"
    "Parameters\n----------\noptions : EventOptions, dict or None\n\n"
    "Returns\n-------\nEvent";

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
                                   "The attributes of a device (cuDeviceGetAttribute).\n\n"
                                   "0 or False for an attribute that the driver does not know.",
                                   refuse_new<properties_made>);
  for (const DeviceAttribute& attribute : device_attributes()) {
    const std::string name(attribute.name);
    const int number = attribute.attribute;
    if (attribute.is_bool) {
      type.def_property_readonly(
          name.c_str(),
          [number](const DeviceProperties& self) { return self.device.attribute(number) != 0; },
          quick, "bool: The device attribute of this name.");
    } else {
      type.def_property_readonly(
          name.c_str(),
          [number](const DeviceProperties& self) { return self.device.attribute(number); }, quick,
          "int: The device attribute of this name.");
    }
  }
  type.def(
          "__repr__",
          [](const DeviceProperties& self) {
            return "<DeviceProperties of device " + std::to_string(self.device.id()) + ">";
          },
          quick)
      .def("__str__", &all_properties, quick);
}

}  // namespace

const std::shared_ptr<MemoryResource>& resource_of(PyDevice& device) {
  if (device.memory_resource == nullptr) {
    std::shared_ptr<MemoryResource> made =
        without_gil([where = device.device] { return where.memory_resource(); });
    // Another thread may have chosen one meanwhile.
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
  compute_capability_type = add_named_tuple(module, "ComputeCapability", "major minor");
  memory_info_type = add_named_tuple(module, "MemoryInfo", "free total");
  bind_properties(module);

  HeapClass<PyDevice>(
      module, "cudacore.Device",
      "Device(device_id=None)\n--\n\n"
      "A GPU.\n\n"
      "Each thread has one Device object for each GPU. No call is needed before it\n"
      "is used: the primary context is retained and made current where a call needs\n"
      "it.\n\n"
      "Parameters\n----------\n"
      "device_id : int, Device or None\n"
      "    The ordinal. None is the device of the thread's current context, device 0\n"
      "    where there is none.\n\n"
      "Raises\n------\n"
      "ValueError\n    There is no such device.\n"
      "DriverNotFoundError\n    There is no driver, or no GPU.\n\n"
      "Examples\n--------\n"
      ">>> dev = cudacore.Device()\n"
      ">>> dev.compute_capability >= (7, 5)\n"
      "True",
      &new_device)
      .def_static(
          "get_all_devices",
          []() {
            py::list devices;
            for (const Device device : Device::all()) devices.append(device_object(device.id()));
            return py::tuple(devices);
          },
          quick,
          "All devices the driver shows (cuDeviceGetCount).\n\nReturns\n-------\ntuple of Device")
      .def_property_readonly(
          "device_id", [](const PyDevice& self) { return self.device.id(); }, quick,
          "int: The ordinal.")
      .def_property_readonly(
          "name", [](const PyDevice& self) { return self.device.name(); }, quick,
          "str: Such as ``NVIDIA H200`` (cuDeviceGetName).")
      .def_property_readonly(
          "uuid", [](const PyDevice& self) { return self.device.uuid(); }, quick,
          "str: 8-4-4-4-12 hexadecimal digits (cuDeviceGetUuid).")
      .def_property_readonly(
          "pci_bus_id", [](const PyDevice& self) { return self.device.pci_bus_id(); }, quick,
          "str: Such as ``0000:41:00.0`` (cuDeviceGetPCIBusId).")
      .def_property_readonly(
          "compute_capability",
          [](const PyDevice& self) {
            const ComputeCapability capability = self.device.compute_capability();
            return py::handle(compute_capability_type)(capability.major, capability.minor);
          },
          quick, "ComputeCapability: (major, minor).")
      .def_property_readonly(
          "arch", [](const PyDevice& self) { return self.device.arch(); }, quick,
          "str: The digits of the compute capability, such as ``90``.")
      .def_property_readonly(
          "properties", [](const PyDevice& self) { return DeviceProperties{self.device}; }, quick,
          "DeviceProperties: All attributes of the device.")
      .def_property_readonly(
          "mem_info",
          [](const PyDevice& self) {
            const MemoryInfo info =
                without_gil([device = self.device] { return device.memory_info(); });
            return py::handle(memory_info_type)(info.free, info.total);
          },
          in_parts, "MemoryInfo: (free, total) bytes of device memory (cuMemGetInfo).")
      .def_property_readonly(
          "context", [](const PyDevice& self) { return self.device.context(); }, quick,
          "Context: The primary context, retained on first use (cuDevicePrimaryCtxRetain).")
      .def_property(
          "memory_resource", &resource_of,
          [](PyDevice& self, py::handle resource) {
            std::shared_ptr<MemoryResource> chosen = to_memory_resource(resource);
            self.memory_resource.swap(chosen);
          },
          in_parts,
          "MemoryResource: What `allocate` uses, for this thread. By default the device's current\n"
          "memory pool, or cuMemAlloc on a device without pools.")
      .def_property_readonly(
          "default_stream", [](const PyDevice& self) { return self.device.default_stream(); },
          quick, "Stream: The legacy default stream of this device.")
      .def(
          "can_access_peer",
          [](const PyDevice& self, py::handle peer) {
            return self.device.can_access_peer(to_device(peer));
          },
          py::arg("peer"), quick,
          "Whether kernels here can reach another device's memory (cuDeviceCanAccessPeer).\n\n"
          "Parameters\n----------\npeer : Device or int\n\nReturns\n-------\nbool")
      .def("set_current", &set_current, py::arg("ctx") = py::none(), quick,
           "Makes this device the calling thread's current one (cuCtxSetCurrent).\n\n"
           "Parameters\n----------\n"
           "ctx : Context or None\n    The primary context where None.\n\n"
           "Returns\n-------\nContext or None\n"
           "    The context that was current before, where ctx was given.")
      .def("create_stream", &create_stream, py::arg("obj") = py::none(),
           py::arg("options") = py::none(), in_parts,
           "Makes a stream of this device (cuStreamCreateWithPriority), or wraps one.\n\n"
           "Parameters\n----------\n"
           "obj : anything with ``__cuda_stream__``, or None\n    A stream to wrap.\n"
           "options : StreamOptions, dict or None\n\n"
           "Returns\n-------\nStream")
      .def_fast(FastMethod<class_name, create_event_doc, &create_event>::definition)
      .def_fast(FastMethod<class_name, allocate_doc, &allocate>::definition)
      .def("to_device", &to_device_memory, py::arg("host"), py::kw_only(),
           py::arg("stream") = py::none(), in_parts,
           "Copies a host object into a new buffer of `memory_resource` (cuMemcpyAsync).\n\n"
           "Parameters\n----------\n"
           "host : object with the buffer protocol, or Buffer\n"
           "    bytes, an array, a NumPy array; C-contiguous. Pinned memory must stay as it is "
           "until\n"
           "    the stream has passed the copy.\n"
           "stream : Stream or None\n    The current stream where None.\n\n"
           "Returns\n-------\nBuffer\n\n"
           "Raises\n------\n"
           "TypeError\n    The object shows no memory, or is not contiguous.\n"
           "OutOfMemoryError\n\n"
           "Examples\n--------\n"
           ">>> buffer = cudacore.Device().to_device(b\"abcd\")\n"
           ">>> len(buffer)\n"
           "4")
      .def(
          "__enter__",
          [](const PyDevice& self) {
            const Device device = self.device;
            {
              const ReleaseGil release;
              enter(device);
            }
            return device_object(device.id());
          },
          in_parts, "Makes the device the thread's current one until the end of the ``with``.")
      .def(
          "__exit__", [](const PyDevice& self, const py::args& /*error*/) { leave(self.device); },
          quick)
      .def(
          "sync", [](const PyDevice& self) { self.device.sync(); },
          "Waits for all work of the device in this process (cuCtxSynchronize); answers Ctrl-C.")
      .def(
          "__int__", [](const PyDevice& self) { return self.device.id(); }, quick)
      .def(
          "__index__", [](const PyDevice& self) { return self.device.id(); }, quick)
      .def_equality([](const PyDevice& a, const PyDevice& b) { return a.device == b.device; })
      .def(
          "__hash__", [](const PyDevice& self) { return std::hash<int>{}(self.device.id()); },
          quick)
      .def(
          "__reduce__",
          [](const PyDevice& self) {
            return py::make_tuple(type_of<PyDevice>(), py::make_tuple(self.device.id()));
          },
          quick)
      .def(
          "__repr__",
          [](const PyDevice& self) {
            const std::string start = "<Device " + std::to_string(self.device.id());
            try {
              return start + " (" + self.device.name() + ")>";
            } catch (const Error&) {  // in a forked child, for one, the driver says nothing
              return start + ">";
            }
          },
          quick);
}

}  // namespace cudacore::bindings
