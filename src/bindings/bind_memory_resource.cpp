// SPDX-License-Identifier: Apache-2.0
#include <map>
#include <memory>
#include <typeinfo>

#include "bindings/caching_report.hpp"
#include "bindings/device_object.hpp"
#include "bindings/entered_streams.hpp"
#include "bindings/fast_method.hpp"
#include "bindings/graph_memory_attributes.hpp"
#include "bindings/instance.hpp"
#include "bindings/options.hpp"
#include "bindings/pool_attributes.hpp"
#include "cudacore/virtual_memory_resource.hpp"
#include "error/sticky.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::bindings {

void bind_graph_memory_attributes(py::module_& module);

namespace {

Buffer allocate_in_python(const py::object& self, std::size_t size,
                          const std::optional<Stream>& stream) {
  const auto call = [&] {
    return py::object(self.attr("allocate")(size, py::arg("stream") = to_object(stream)));
  };
  const py::object made = run_python([&] {
    try {
      return call();
    } catch (const py::error_already_set& raised) {
      if (!raised.matches(PyExc_MemoryError)) throw;
      throw PythonOutOfMemory(raised);
    }
  });
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
      throw;  // will be reported
    }
    throw PythonInterrupt(raised);
  }
}

/// A resource of a class that derives from Base in Python, which may define allocate() and
/// deallocate().
template <typename Base>
class InPython : public Base {
 public:
  using Base::Base;

  Buffer allocate(std::size_t size, const std::optional<Stream>& stream) override {
    const AcquireGil acquire;
    return allocate_in_python(self(), size, stream);
  }
  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override {
    const AcquireGil acquire;
    const py::error_scope kept_error;  // an object may end while an error is being raised
    deallocate_in_python(self(), pointer, size, stream, this->device_id());
  }

 protected:
  [[nodiscard]] py::object self() const { return py::cast(static_cast<const Base*>(this)); }
};

class PyMemoryResource final : public InPython<MemoryResource> {
 public:
  bool is_device_accessible() const override { return read<bool>("is_device_accessible"); }
  bool is_host_accessible() const override { return read<bool>("is_host_accessible"); }
  bool is_managed() const override { return read<bool>("is_managed"); }
  int device_id() const override { return read<int>("device_id"); }

 private:
  template <typename T>
  [[nodiscard]] T read(const char* name) const {
    const AcquireGil acquire;
    const py::object resource = self();
    const py::object value = resource.attr(name);
    try {
      return value.cast<T>();
    } catch (const py::cast_error&) {
      refuse_type(type_name(resource) + "." + name,
                  std::is_same_v<T, bool> ? "a bool" : "an int of 32 bits", value);
    }
  }
};

class PyDeviceMemoryResource final : public InPython<DeviceMemoryResource> {
 public:
  using InPython::InPython;

  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override {
    if (may_take_gil()) {
      InPython::deallocate(pointer, size, stream);
    } else {
      DeviceMemoryResource::deallocate(pointer, size, stream);
    }
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
  py::object made = checked(py::detail::make_new_instance(wanted));
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
using ResourceClass = MethodsWithPolicy<py::class_<T, Base, std::shared_ptr<T>>>;

void refuse_uninitialized(const char* function, py::handle resource) {
  if (!is_initialized(resource)) {
    throw py::value_error(std::string(function) + ": __init__ of this " + type_name(resource) +
                          " was never called");
  }
}

/// The arguments of allocate().
struct Request {
  std::size_t size = 0;
  py::handle stream;

  Request(const char* function, py::handle bytes, py::handle given_stream) : stream(given_stream) {
    if (!bytes) throw py::type_error(std::string(function) + " needs a size");
    size = to_byte_count(bytes, function);
  }
};

/// The value of a Stream object that was given or entered; null for everything else.
const Stream* stream_at_hand(py::handle given) {
  PyObject* object = given.is_none() ? entered_stream() : given.ptr();
  return object != nullptr ? get_if<Stream>(object) : nullptr;
}

/// `resource` must be held by the caller: a foreign stream's protocol runs Python code.
template <typename Allocate>
Buffer allocate_from(MemoryResource& resource, const Request& request, const Allocate& allocate) {
  if (const Stream* at_hand = stream_at_hand(request.stream)) {
    if (auto cached = resource.try_allocate(request.size, *at_hand)) return *std::move(cached);
  }
  const Stream stream = to_stream(request.stream, resource.device_id());
  if (auto cached = resource.try_allocate(request.size, stream)) return *std::move(cached);
  const ReleaseGil release;  // a pool that grows may wait for the device
  return allocate(request.size, stream);
}

/// allocate(size, *, stream=None) of a class T: the instance is known to hold a T.
template <typename T>
PyObject* allocate(PyObject* self, const std::array<py::handle, 2>& arguments) {
  refuse_uninitialized("MemoryResource.allocate", self);
  auto* instance = reinterpret_cast<py::detail::instance*>(self);
  // A class in Python may have several bases, each with a part of its own.
  const auto* type = instance->simple_layout ? nullptr : py::detail::get_type_info(typeid(T), true);
  auto* resource = static_cast<T*>(instance->get_value_and_holder(type).value_ptr());
  const Request request("MemoryResource.allocate", arguments[0], arguments[1]);
  Buffer made = allocate_from(*resource, request, [&](std::size_t size, const Stream& stream) {
    return resource->T::allocate(size, stream);  // not what a subclass makes of it
  });
  // The memory returns to the Python object, whose class may define deallocate().
  if constexpr (std::is_same_v<T, DeviceMemoryResource>) {
    if (typeid(*resource) == typeid(PyDeviceMemoryResource)) {
      made.box()->resource = to_memory_resource(self);
    }
  }
  return make_object(std::move(made));
}

/// Binds what every class written in C++ has.
template <typename T, typename Class>
void add_members(Class& type) {
  PyMethodDef& definition =
      fast_method<"MemoryResource.allocate($self, size, *, stream=None)", &allocate<T>>;
  document(definition, type);
  type.attr("allocate") =
      checked(PyDescr_NewMethod(reinterpret_cast<PyTypeObject*>(type.ptr()), &definition));
  type.def("deallocate", py::arg("ptr"), py::arg("size"), py::kw_only(),
           py::arg("stream") = py::none(),
           [](T& self, py::handle pointer, std::size_t size, py::handle stream) {
             const auto address = to_address(pointer, "MemoryResource.deallocate: ptr");
             return [&self, address, size, given = to_optional_stream(stream)] {
               self.T::deallocate(address, size, given);  // not a subclass's own
             };
           })
      .property("is_device_accessible", quick,
                [](const T& self) { return self.is_device_accessible(); })
      .property("is_host_accessible", quick,
                [](const T& self) { return self.is_host_accessible(); })
      .property("is_managed", quick, [](const T& self) { return self.is_managed(); })
      .property("device_id", quick, [](const T& self) { return self.device_id(); })
      .def("__repr__", quick, [](const py::object& self) {
        const int device = py::cast<const T&>(self).device_id();
        const std::string name = py::str(py::type::of(self).attr("__name__"));
        return "<" + name + (device < 0 ? ">" : " of device " + std::to_string(device) + ">");
      });
}

void bind_base(py::module_& module, const py::metaclass& metaclass) {
  MethodsWithPolicy<py::class_<MemoryResource, PyMemoryResource, std::shared_ptr<MemoryResource>>>
      type(module, "MemoryResource", metaclass);
  const py::cpp_function create(&new_resource, py::name("__new__"), py::scope(type),
                                "Makes an object of a class; see ``help(type)``.");
  type.attr("__new__") = py::staticmethod(create);
  type.def(py::init<>())
      .def("__reduce__", quick, &refuse_pickle)
      .def("allocate", quick, py::arg("size"), py::kw_only(), py::arg("stream") = py::none(),
           [](const py::object& self, py::handle, py::handle) { not_defined(self, "allocate"); })
      .def("deallocate", quick, py::arg("ptr"), py::arg("size"), py::kw_only(),
           py::arg("stream") = py::none(),
           [](const py::object& self, py::handle, py::handle, py::handle) {
             not_defined(self, "deallocate");
           })
      .property("is_device_accessible", quick,
                [](const py::object& self) { not_defined(self, "is_device_accessible"); })
      .property("is_host_accessible", quick,
                [](const py::object& self) { not_defined(self, "is_host_accessible"); })
      .property("is_managed", quick, [](const py::object&) { return false; })
      .property("device_id", quick, [](const py::object& self) { not_defined(self, "device_id"); });
}

void bind_pool_base(py::module_& module, const py::metaclass& metaclass) {
  ResourceClass<PoolMemoryResource, MemoryResource>(
      module, "_PoolMemoryResource", metaclass, class_documentation("_PoolMemoryResource").c_str())
      .property(
          "attributes", quick,
          [](const std::shared_ptr<PoolMemoryResource>& self) { return PoolAttributes{self}; })
      .property("handle", quick, read<&PoolMemoryResource::handle>)
      .property("is_handle_owned", quick, read<&PoolMemoryResource::is_handle_owned>)
      .property("is_ipc_enabled", quick, [](const PoolMemoryResource&) { return false; })
      .property("is_mapped", quick, [](const PoolMemoryResource&) { return false; })
      .def("close", [](PoolMemoryResource& self) { self.close(); })
      .property("is_closed", quick, read<&PoolMemoryResource::is_closed>)
      .def("trim", py::arg("min_bytes_to_keep") = 0,
           [](const PoolMemoryResource& self, py::handle keep) {
             return [&self, kept = to_byte_count(keep, "MemoryResource.trim")] { self.trim(kept); };
           });
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
  MethodsWithPolicy<Class> device(module, "DeviceMemoryResource", metaclass);
  device.def_init_of_both(py::arg("device_id"), py::arg("options") = py::none(),
                          &make_device_pool<DeviceMemoryResource>,
                          &make_device_pool<PyDeviceMemoryResource>);
  add_members<DeviceMemoryResource>(device);

  ResourceClass<PinnedMemoryResource, PoolMemoryResource> pinned(module, "PinnedMemoryResource",
                                                                 py::is_final(), metaclass);
  pinned.def_init(py::arg("options") = py::none(), [](py::handle options) {
    return [chosen = to_options<PinnedMemoryResourceOptions>(options)] {
      return std::make_shared<PinnedMemoryResource>(chosen);
    };
  });
  pinned.property("numa_id", quick, read<&PinnedMemoryResource::numa_id>);
  add_members<PinnedMemoryResource>(pinned);

  ResourceClass<ManagedMemoryResource, PoolMemoryResource> managed(module, "ManagedMemoryResource",
                                                                   py::is_final(), metaclass);
  managed.def_init(py::arg("options") = py::none(), [](py::handle options) {
    return [chosen = to_options<ManagedMemoryResourceOptions>(options)] {
      return std::make_shared<ManagedMemoryResource>(chosen);
    };
  });
  managed.property("preferred_location", quick, &preferred_location);
  add_members<ManagedMemoryResource>(managed);
}

/// Calls modify_allocation(buf, new_size, config=None).
auto modify_allocation(VirtualMemoryResource& self, py::handle buffer, py::handle new_size,
                       py::handle config) {
  constexpr const char* function = "VirtualMemoryResource.modify_allocation";
  const std::size_t size = to_byte_count(new_size, function);
  std::optional<VirtualMemoryResourceOptions> options;
  if (!config.is_none()) options = to_options<VirtualMemoryResourceOptions>(config);
  const auto* given = get_if<Buffer>(buffer.ptr());
  if (given == nullptr) refuse_type(std::string(function) + ": buf", "a Buffer", buffer);
  return [&self, share = *given, size, options = std::move(options)] {
    return self.modify_allocation(share, size, options);
  };
}

/// Descriptors for the caller to close, with the sizes of the memory behind them.
py::list share(const VirtualMemoryResource& self, py::handle buffer) {
  const auto* given = get_if<Buffer>(buffer.ptr());
  if (given == nullptr) refuse_type("VirtualMemoryResource._share: buf", "a Buffer", buffer);
  const auto parts = without_gil([&self, kept = *given] { return self.share(kept); });
  py::list list;
  for (const MemoryShare& part : parts) {
    list.append(py::make_tuple(part.descriptor, part.size));
  }
  return list;
}

auto map_shared(VirtualMemoryResource& self, py::handle parts, py::handle stream) {
  std::vector<MemoryShare> given;
  for (const py::handle part : py::tuple(py::reinterpret_borrow<py::object>(parts))) {
    given.push_back({part[py::int_(0)].cast<int>(), part[py::int_(1)].cast<std::size_t>()});
  }
  return [&self, given = std::move(given), chosen = to_stream(stream, self.device().id())] {
    return self.map_shared(given, chosen);
  };
}

void bind_virtual_memory(py::module_& module, const py::metaclass& metaclass) {
  ResourceClass<VirtualMemoryResource, MemoryResource> type(module, "VirtualMemoryResource",
                                                            py::is_final(), metaclass);
  type.def_init(
      py::arg("device_id"), py::arg("config") = py::none(), [](py::handle id, py::handle config) {
        return
            [device = to_device(id), options = to_options<VirtualMemoryResourceOptions>(config)] {
              return std::make_shared<VirtualMemoryResource>(device, options);
            };
      });
  type.def("modify_allocation", py::arg("buf"), py::arg("new_size"), py::arg("config") = py::none(),
           &modify_allocation)
      .def("_share", in_parts, py::arg("buf"), &share)
      .def("_map_shared", py::arg("parts"), py::arg("stream") = py::none(), &map_shared)
      .def("__reduce__", quick,
           [](const py::object& self) {
             const auto& resource = self.cast<const VirtualMemoryResource&>();
             return py::make_tuple(py::type::of(self),
                                   py::make_tuple(resource.device().id(), self.attr("config")));
           })
      .property("is_ipc_enabled", quick,
                [](const VirtualMemoryResource& self) {
                  return self.options().handle_type == VirtualHandle::posix_fd;
                })
      .property("config", quick, [](const VirtualMemoryResource& self) {
        return py::reinterpret_steal<py::object>(make_object(self.options()));
      });
  add_members<VirtualMemoryResource>(type);
}

void bind_others(py::module_& module, const py::metaclass& metaclass) {
  ResourceClass<LegacyPinnedMemoryResource, MemoryResource> legacy(
      module, "LegacyPinnedMemoryResource", py::is_final(), metaclass);
  legacy.def(py::init<>());
  add_members<LegacyPinnedMemoryResource>(legacy);

  ResourceClass<SynchronousMemoryResource, MemoryResource> synchronous(
      module, "SynchronousMemoryResource", py::is_final(), metaclass);
  synchronous.def_init(quick, py::arg("device_id"), [](py::handle id) {
    return std::make_shared<SynchronousMemoryResource>(to_device(id));
  });
  add_members<SynchronousMemoryResource>(synchronous);
}

std::size_t to_max_size(py::handle object) {
  if (object.is_none()) return 0;
  const std::size_t size = to_byte_count(object, "CachingMemoryResource: max_size");
  if (size == 0) {
    throw py::value_error("CachingMemoryResource: max_size must be positive, or None for no limit");
  }
  return size;
}

void bind_caching(py::module_& module, const py::metaclass& metaclass) {
  add_caching_statistics(module);
  ResourceClass<CachingMemoryResource, MemoryResource> caching(module, "CachingMemoryResource",
                                                               py::is_final(), metaclass);
  caching.def_init(py::arg("upstream"), py::kw_only(), py::arg("max_size") = py::none(),
                   [](py::handle upstream, py::handle max_size) {
                     return [from = to_memory_resource(upstream), most = to_max_size(max_size)] {
                       return std::make_shared<CachingMemoryResource>(from, most);
                     };
                   });
  add_members<CachingMemoryResource>(caching);
  caching
      .property("upstream", quick,
                [](const CachingMemoryResource& self) { return kept_object(self.upstream()); })
      .property("max_size", quick,
                [](const CachingMemoryResource& self) {
                  return self.max_size() != 0 ? py::object(py::int_(self.max_size()))
                                              : py::object(py::none());
                })
      .property("statistics", quick,
                [](const CachingMemoryResource& self) { return to_object(self.statistics()); })
      .def("reset_peak_statistics", quick, [](CachingMemoryResource& self) { self.reset_peaks(); })
      .def("snapshot", quick,
           [](const CachingMemoryResource& self) {
             return to_object(self.snapshot(), self.device_id());
           })
      .def("close", [](CachingMemoryResource& self) { self.close(); })
      .property("is_closed", quick, read<&CachingMemoryResource::is_closed>)
      .def("trim", py::arg("min_bytes_to_keep") = 0,
           [](CachingMemoryResource& self, py::handle keep) {
             return [&self, kept = to_byte_count(keep, "MemoryResource.trim")] { self.trim(kept); };
           });
}

/// GraphMemoryResource.__new__: there is one object for each device.
py::object graph_resource_of(py::handle /*type*/, py::handle id) {
  static auto& made = *std::make_unique<std::map<int, py::object>>().release();
  const Device device = to_device(id);
  py::object& known = made[device.id()];
  if (!known) known = py::cast(std::make_shared<GraphMemoryResource>(device));
  return known;
}

void bind_graph_memory(py::module_& module, const py::metaclass& metaclass) {
  bind_graph_memory_attributes(module);
  ResourceClass<GraphMemoryResource, MemoryResource> type(module, "GraphMemoryResource",
                                                          py::is_final(), metaclass);
  type.attr("__new__") = py::staticmethod(
      py::cpp_function(&graph_resource_of, py::name("__new__"), py::scope(type), py::arg("cls"),
                       py::arg("device_id"), "The object of a device; see ``help(type)``."));
  type.def("__init__", quick, py::arg("device_id"), [](py::handle, py::handle) {});
  type.property("attributes", quick, [](const std::shared_ptr<GraphMemoryResource>& self) {
    return GraphMemoryAttributes{self};
  });
  type.def("trim", [](const GraphMemoryResource& self) { self.trim(); });
  type.def("close", quick, [](const GraphMemoryResource&) {});
  add_members<GraphMemoryResource>(type);
}

}  // namespace

std::shared_ptr<MemoryResource> to_memory_resource(py::handle object) {
  if (!py::isinstance<MemoryResource>(object)) {
    throw py::type_error("expected a MemoryResource, not " + type_name(object));
  }
  refuse_uninitialized("MemoryResource", object);
  // The Python object itself is kept: a subclass's methods live there.
  auto* resource = object.cast<MemoryResource*>();
  return {keep_alive(py::reinterpret_borrow<py::object>(object)), resource};
}

PyObject* allocate_on_device(PyDevice& device, py::handle size, py::handle stream) {
  const Request request("Device.allocate", size, stream);
  // A share: the stream's protocol and other threads may set another resource.
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
  bind_virtual_memory(module, metaclass);
  bind_others(module, metaclass);
  bind_caching(module, metaclass);
  bind_graph_memory(module, metaclass);
}

}  // namespace cudacore::bindings
