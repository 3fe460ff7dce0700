// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <typeinfo>

#include "bindings/errors.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/gil.hpp"
#include "bindings/instance.hpp"
#include "bindings/option_value.hpp"
#include "bindings/options.hpp"
#include "bindings/pool_attributes.hpp"
#include "bindings/values.hpp"
#include "error/sticky.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::bindings {

namespace {

Buffer allocate_in_python(const py::object& self, std::size_t size,
                          const std::optional<Stream>& stream) {
  const py::object made = run_python(
      [&] { return self.attr("allocate")(size, py::arg("stream") = to_object(stream)); });
  const auto* buffer = get_if<Buffer>(made.ptr());
  if (buffer == nullptr) {
    throw py::type_error(type_name(self) + ".allocate must return a Buffer, not " +
                         type_name(made));
  }
  return *buffer;
}

void deallocate_in_python(const py::object& self, CUdeviceptr pointer, std::size_t size,
                          const std::optional<Stream>& stream, int device) {
  const auto call = [&] {
    // cuda.core's resources take a stream, and nothing else.
    const Stream ordered_on = stream       ? *stream
                              : device < 0 ? Stream::legacy_default()
                                           : Device(device).default_stream();
    self.attr("deallocate")(pointer, size, py::arg("stream") = py::cast(ordered_on));
  };
  try {
    run_python(call);
  } catch (const py::error_already_set& raised) {
    if (raised.matches(PyExc_Exception) || error::NobodyCatchesScope::here()) {
      throw;  // is reported
    }
    throw PythonInterrupt(raised);
  }
}

/// A memory resource written in Python: each call goes to the Python object's method.
class PyMemoryResource : public MemoryResource {
 public:
  Buffer allocate(std::size_t size, const std::optional<Stream>& stream) override {
    const AcquireGil acquire;
    return allocate_in_python(self(), size, stream);
  }
  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override {
    const AcquireGil acquire;
    const py::error_scope kept_error;  // an object may end while an error is on its way
    deallocate_in_python(self(), pointer, size, stream, device_id());
  }
  bool is_device_accessible() const override { return read<bool>("is_device_accessible"); }
  bool is_host_accessible() const override { return read<bool>("is_host_accessible"); }
  bool is_managed() const override { return read<bool>("is_managed"); }
  int device_id() const override { return read<int>("device_id"); }

 private:
  [[nodiscard]] py::object self() const {
    return py::cast(static_cast<const MemoryResource*>(this));
  }
  template <typename T>
  [[nodiscard]] T read(const char* name) const {
    const AcquireGil acquire;
    const py::object resource = self();
    const py::object value = resource.attr(name);
    try {
      return value.cast<T>();
    } catch (const py::cast_error&) {
      throw py::type_error(type_name(resource) + "." + name + " must be " +
                           (std::is_same_v<T, bool> ? "a bool" : "an int of 32 bits") + ", not " +
                           type_name(value));
    }
  }
};

/// A pool of a class that derives from DeviceMemoryResource in Python, which may define allocate()
/// and deallocate() anew.
class PyDeviceMemoryResource final : public DeviceMemoryResource {
 public:
  using DeviceMemoryResource::DeviceMemoryResource;

  Buffer allocate(std::size_t size, const std::optional<Stream>& stream) override {
    const AcquireGil acquire;
    return allocate_in_python(self(), size, stream);
  }
  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override {
    if (!may_take_gil()) {
      DeviceMemoryResource::deallocate(pointer, size, stream);
      return;
    }
    const AcquireGil acquire;
    const py::error_scope kept_error;
    deallocate_in_python(self(), pointer, size, stream, device_id());
  }

 private:
  [[nodiscard]] py::object self() const {
    return py::cast(static_cast<const DeviceMemoryResource*>(this));
  }
};

[[noreturn]] void not_defined(const py::object& self, const char* member) {
  raise_as_both(
      PyExc_NotImplementedError, PyExc_TypeError,
      type_name(self) + " must define " + member + ": MemoryResource itself has no memory");
}

/// MemoryResource.__new__: makes the C++ part too, so that the __init__ of a subclass need not call
/// that of MemoryResource. The classes written in C++ inherit it, and make theirs in __init__.
py::object new_resource(py::handle type, const py::args& args, const py::kwargs& kwargs) {
  auto* wanted = reinterpret_cast<PyTypeObject*>(type.ptr());
  const py::handle base = py::type::handle_of<MemoryResource>();
  if (PyType_Check(type.ptr()) == 0 ||
      PyType_IsSubtype(wanted, reinterpret_cast<PyTypeObject*>(base.ptr())) == 0) {
    throw py::type_error(
        "MemoryResource.__new__: expected MemoryResource or a class derived from it, not " +
        std::string(PyType_Check(type.ptr()) != 0 ? wanted->tp_name
                                                  : "an object of type " + type_name(type)));
  }
  if (type.is(base) && (!args.empty() || !kwargs.empty())) {
    throw py::type_error(
        "MemoryResource takes no arguments: derive from it, and give them to your own __init__");
  }
  auto made = py::reinterpret_steal<py::object>(py::detail::make_new_instance(wanted));
  auto* instance = reinterpret_cast<py::detail::instance*>(made.ptr());
  for (auto& part : py::detail::values_and_holders(instance)) {
    if (part.type == py::detail::get_type_info(typeid(MemoryResource))) {
      part.value_ptr() = static_cast<MemoryResource*>(new PyMemoryResource);
      part.type->init_instance(instance, nullptr);
    }
  }
  return made;
}

template <typename T, typename Base>
using ResourceClass = Policied<py::class_<T, Base, std::shared_ptr<T>>>;

void refuse_uninitialised(const char* function, py::handle resource) {
  if (!is_initialised(resource)) {
    throw py::value_error(std::string(function) + ": __init__ of this " + type_name(resource) +
                          " was never called");
  }
}

/// What allocate() was asked for.
struct Request {
  std::size_t size = 0;
  py::handle stream;

  Request(const char* function, py::handle bytes, py::handle given_stream) : stream(given_stream) {
    if (!bytes) throw py::type_error(std::string(function) + " needs a size");
    size = to_byte_count(bytes, function);
  }
};

/// `resource` must be held by the caller: a foreign stream's protocol runs Python code.
template <typename Allocate>
Buffer allocate_from(MemoryResource& resource, const Request& request, const Allocate& allocate) {
  const Stream stream = to_stream(request.stream, resource.device_id());
  const ReleaseGil release;  // a pool that grows may wait for the device
  return allocate(request.size, stream);
}

/// allocate(size, *, stream=None) of a class T: the instance is known to hold a T.
template <typename T>
PyObject* allocate(PyObject* self, const std::array<py::handle, 2>& arguments) {
  refuse_uninitialised("MemoryResource.allocate", self);
  auto* instance = reinterpret_cast<py::detail::instance*>(self);
  // A class in Python may have several bases, each with a part of its own.
  const auto* type = instance->simple_layout ? nullptr : py::detail::get_type_info(typeid(T), true);
  auto* resource = static_cast<T*>(instance->get_value_and_holder(type).value_ptr());
  const Request request("MemoryResource.allocate", arguments[0], arguments[1]);
  Buffer made = allocate_from(*resource, request, [&](std::size_t size, const Stream& stream) {
    return resource->T::allocate(size, stream);  // not what a subclass makes of it
  });
  // The memory goes back to the Python object, whose class may define deallocate().
  if constexpr (std::is_same_v<T, DeviceMemoryResource>) {
    if (typeid(*resource) == typeid(PyDeviceMemoryResource)) {
      made.box()->resource = to_memory_resource(self);
    }
  }
  return make_object(std::move(made));
}

constexpr char base_name[] = "MemoryResource";
constexpr char allocate_doc[] =
    "allocate($self, size, *, stream=None)\n--\n\n"
    "Allocates memory, usable on the stream from now on.\n\n"
    "Parameters\n----------\n"
    "size : int\n    Bytes.\n"
    "stream : Stream or None\n    The current stream where None.\n\n"
    "Returns\n-------\nBuffer\n\n"
    "Raises\n------\nOutOfMemoryError";

/// What every class written in C++ has.
template <typename T, typename Class>
void add_members(Class& type) {
  type.attr("allocate") = py::reinterpret_steal<py::object>(
      PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()),
                        &FastMethod<base_name, allocate_doc, &allocate<T>>::definition));
  type.def(
          "deallocate",
          [](T& self, py::handle pointer, std::size_t size, py::handle stream) {
            const auto address = to_address(pointer, "MemoryResource.deallocate: ptr");
            return [&self, address, size, given = to_optional_stream(stream)] {
              self.T::deallocate(address, size, given);  // not a subclass's own
            };
          },
          py::arg("ptr"), py::arg("size"), py::kw_only(), py::arg("stream") = py::none(),
          "Takes memory back; `Buffer.close` calls it.\n\n"
          "Parameters\n----------\n"
          "ptr : int\n    The address.\n"
          "size : int\n    Bytes.\n"
          "stream : Stream or None\n    What the release is ordered on.")
      .def_property_readonly(
          "is_device_accessible", [](const T& self) { return self.is_device_accessible(); }, quick,
          "bool: Whether kernels can reach the memory.")
      .def_property_readonly(
          "is_host_accessible", [](const T& self) { return self.is_host_accessible(); }, quick,
          "bool: Whether the host can reach the memory.")
      .def_property_readonly(
          "is_managed", [](const T& self) { return self.is_managed(); }, quick,
          "bool: Whether the memory moves by itself.")
      .def_property_readonly(
          "device_id", [](const T& self) { return self.device_id(); }, quick,
          "int: The device that owns the memory, -1 where none does.")
      .def(
          "__repr__",
          [](const py::object& self) {
            const int device = py::cast<const T&>(self).device_id();
            const std::string name = py::str(py::type::of(self).attr("__name__"));
            return "<" + name + (device < 0 ? ">" : " of device " + std::to_string(device) + ">");
          },
          quick);
}

void bind_base(py::module_& module, const py::metaclass& metaclass) {
  py::class_<MemoryResource, PyMemoryResource, std::shared_ptr<MemoryResource>> made(
      module, "MemoryResource", metaclass,
      "Where buffers come from and go back to.\n\n"
      "Derive from it to bring an allocator of your own: define ``allocate``, which returns\n"
      "``Buffer.from_handle(ptr, size, mr=self, stream=stream)``, ``deallocate``,\n"
      "``is_device_accessible``, ``is_host_accessible`` and ``device_id``.");
  const py::cpp_function create(&new_resource, py::name("__new__"), py::scope(made),
                                "Makes an object of a class; see ``help(type)``.");
  made.attr("__new__") = py::staticmethod(create);
  Policied<decltype(made)> type(made);
  type.def(py::init<>())
      .def("__reduce__", &refuse_pickle, quick)
      .def(
          "allocate",
          [](const py::object& self, py::handle, py::handle) { not_defined(self, "allocate"); },
          quick, py::arg("size"), py::kw_only(), py::arg("stream") = py::none(),
          "Allocates memory; a subclass defines it.")
      .def(
          "deallocate",
          [](const py::object& self, py::handle, py::handle, py::handle) {
            not_defined(self, "deallocate");
          },
          quick, py::arg("ptr"), py::arg("size"), py::kw_only(), py::arg("stream") = py::none(),
          "Takes memory back; a subclass defines it.")
      .def_property_readonly(
          "is_device_accessible",
          [](const py::object& self) { not_defined(self, "is_device_accessible"); }, quick,
          "bool: Whether kernels can reach the memory.")
      .def_property_readonly(
          "is_host_accessible",
          [](const py::object& self) { not_defined(self, "is_host_accessible"); }, quick,
          "bool: Whether the host can reach the memory.")
      .def_property_readonly(
          "is_managed", [](const py::object&) { return false; }, quick,
          "bool: Whether the memory moves by itself.")
      .def_property_readonly(
          "device_id", [](const py::object& self) { not_defined(self, "device_id"); }, quick,
          "int: The device that owns the memory, -1 where none does.");
}

void bind_pool_base(py::module_& module, const py::metaclass& metaclass) {
  ResourceClass<PoolMemoryResource, MemoryResource>(
      module, "_PoolMemoryResource", metaclass,
      "_PoolMemoryResource(*args, **kwargs)\n--\n\nA resource over a stream-ordered memory pool.")
      .def_property_readonly(
          "attributes",
          [](const std::shared_ptr<PoolMemoryResource>& self) { return PoolAttributes{self}; },
          quick, "MemoryPoolAttributes: The pool's counters and settings.")
      .def_property_readonly(
          "handle",
          [](const PoolMemoryResource& self) {
            return reinterpret_cast<std::uintptr_t>(self.handle());
          },
          quick, "int: The CUmemoryPool.")
      .def_property_readonly(
          "is_handle_owned", [](const PoolMemoryResource& self) { return self.is_handle_owned(); },
          quick, "bool: Whether the pool is destroyed with this object.")
      .def_property_readonly(
          "is_ipc_enabled", [](const PoolMemoryResource&) { return false; }, quick,
          "bool: Always False: sharing between processes is not supported yet.")
      .def_property_readonly(
          "is_mapped", [](const PoolMemoryResource&) { return false; }, quick,
          "bool: Always False: see `is_ipc_enabled`.")
      .def(
          "close", [](PoolMemoryResource& self) { self.close(); },
          "Ends allocation: `allocate` raises ValueError from now on. A pool of its own gives "
          "what\n"
          "is free back to the system; buffers stay usable. Closing it again does nothing.")
      .def_property_readonly(
          "is_closed", [](const PoolMemoryResource& self) { return self.is_closed(); }, quick,
          "bool: Whether closed.")
      .def(
          "trim",
          [](const PoolMemoryResource& self, py::handle keep) {
            return [&self, kept = to_byte_count(keep, "MemoryResource.trim")] { self.trim(kept); };
          },
          py::arg("min_bytes_to_keep") = 0,
          "Gives unused memory back to the system (cuMemPoolTrimTo).\n\n"
          "Parameters\n----------\n"
          "min_bytes_to_keep : int\n    Bytes that the pool may go on holding.");
}

py::object preferred_location(const ManagedMemoryResource& self) {
  const ManagedMemoryResourceOptions& options = self.options();
  const char* name = name_of(options.preferred_location_type);
  return name == nullptr ? py::object(py::none())
                         : py::object(py::make_tuple(
                               name, options.preferred_location
                                         ? py::object(py::int_(*options.preferred_location))
                                         : py::object(py::none())));
}

/// Makes a pool of device memory: of the class itself, or of one that derives from it in Python.
template <typename T>
auto make_device_pool(py::handle id, py::handle options) {
  return [of = to_device(id),
          chosen = options.is_none() ? std::nullopt
                                     : std::optional(to_options<DeviceMemoryResourceOptions>(
                                           options))]() -> std::shared_ptr<DeviceMemoryResource> {
    return std::make_shared<T>(of, chosen);
  };
}

void bind_pools(py::module_& module, const py::metaclass& metaclass) {
  using Class = py::class_<DeviceMemoryResource, PyDeviceMemoryResource, PoolMemoryResource,
                           std::shared_ptr<DeviceMemoryResource>>;
  Policied<Class> device(
      module, "DeviceMemoryResource", metaclass,
      "A pool of device memory (cuMemAllocFromPoolAsync).\n\n"
      "Parameters\n----------\n"
      "device_id : Device or int\n"
      "options : DeviceMemoryResourceOptions, dict or None\n"
      "    With options, a pool of its own (cuMemPoolCreate). Without, the device's current\n"
      "    pool, told to keep what is freed.\n\n"
      "Examples\n--------\n"
      ">>> dev = cudacore.Device()\n"
      ">>> pool = cudacore.DeviceMemoryResource(dev, {\"max_size\": 1 << 20})\n"
      ">>> buffer = pool.allocate(4096, stream=dev.create_stream())\n"
      ">>> pool.attributes.used_mem_current >= 4096\n"
      "True");
  device.def_init_of_both(&make_device_pool<DeviceMemoryResource>,
                          &make_device_pool<PyDeviceMemoryResource>, py::arg("device_id"),
                          py::arg("options") = py::none());
  add_members<DeviceMemoryResource>(device);

  ResourceClass<PinnedMemoryResource, PoolMemoryResource> pinned(
      module, "PinnedMemoryResource", py::is_final(), metaclass,
      "A pool of page-locked host memory that every device reaches.\n\n"
      "Parameters\n----------\n"
      "options : PinnedMemoryResourceOptions, dict or None\n\n"
      "Raises\n------\n"
      "NotSupportedError\n"
      "    The driver has no host pools; use `LegacyPinnedMemoryResource`.");
  pinned.def_init(
      [](py::handle options) {
        return [chosen = to_options<PinnedMemoryResourceOptions>(options)] {
          return std::make_shared<PinnedMemoryResource>(chosen);
        };
      },
      py::arg("options") = py::none());
  pinned.def_property_readonly(
      "numa_id", [](const PinnedMemoryResource& self) { return self.numa_id(); }, quick,
      "int: The host NUMA node, -1 where none was asked for.");
  add_members<PinnedMemoryResource>(pinned);

  ResourceClass<ManagedMemoryResource, PoolMemoryResource> managed(
      module, "ManagedMemoryResource", py::is_final(), metaclass,
      "A pool of managed memory, which moves between host and devices by itself.\n\n"
      "Parameters\n----------\n"
      "options : ManagedMemoryResourceOptions, dict or None\n\n"
      "Raises\n------\n"
      "NotSupportedError\n    The driver is older than 13.0.");
  managed.def_init(
      [](py::handle options) {
        return [chosen = to_options<ManagedMemoryResourceOptions>(options)] {
          return std::make_shared<ManagedMemoryResource>(chosen);
        };
      },
      py::arg("options") = py::none());
  managed.def_property_readonly(
      "preferred_location", &preferred_location, quick,
      "tuple or None: Where the memory prefers to live: (kind, device or NUMA node).");
  add_members<ManagedMemoryResource>(managed);
}

void bind_others(py::module_& module, const py::metaclass& metaclass) {
  ResourceClass<LegacyPinnedMemoryResource, MemoryResource> legacy(
      module, "LegacyPinnedMemoryResource", py::is_final(), metaclass,
      "Page-locked host memory straight from cuMemAllocHost; not stream-ordered.");
  legacy.def(py::init<>());
  add_members<LegacyPinnedMemoryResource>(legacy);

  ResourceClass<SynchronousMemoryResource, MemoryResource> synchronous(
      module, "SynchronousMemoryResource", py::is_final(), metaclass,
      "Device memory straight from cuMemAlloc, for devices without pools.\n\n"
      "Parameters\n----------\ndevice_id : Device or int");
  synchronous.def_init(
      [](py::handle id) { return std::make_shared<SynchronousMemoryResource>(to_device(id)); },
      quick, py::arg("device_id"));
  add_members<SynchronousMemoryResource>(synchronous);
}

}  // namespace

std::shared_ptr<MemoryResource> to_memory_resource(py::handle object) {
  if (!py::isinstance<MemoryResource>(object)) {
    throw py::type_error("expected a MemoryResource, not " + type_name(object));
  }
  refuse_uninitialised("MemoryResource", object);
  // The Python object itself is kept: a subclass's methods live there.
  auto* resource = object.cast<MemoryResource*>();
  return {keep_alive(py::reinterpret_borrow<py::object>(object)), resource};
}

PyObject* allocate_on_device(PyDevice& device, py::handle size, py::handle stream) {
  const Request request("Device.allocate", size, stream);
  // A share: the size's __index__ had its chance to set another resource, the stream's protocol and
  // other threads have theirs.
  const std::shared_ptr<MemoryResource> resource = resource_of(device);
  return make_object(allocate_from(
      *resource, request,
      [&](std::size_t bytes, const Stream& chosen) { return resource->allocate(bytes, chosen); }));
}

void bind_memory_resource(py::module_& module) {
  // Types keep their metaclass alive.
  const py::object type_of_classes = instance_metaclass();
  const py::metaclass metaclass(type_of_classes);
  bind_base(module, metaclass);
  bind_pool_base(module, metaclass);
  bind_pool_attributes(module);
  bind_pools(module, metaclass);
  bind_others(module, metaclass);
}

}  // namespace cudacore::bindings
