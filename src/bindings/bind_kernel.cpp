// SPDX-License-Identifier: Apache-2.0
#include "bindings/code_objects.hpp"
#include "bindings/conversions.hpp"
#include "bindings/later.hpp"
#include "bindings/launcher.hpp"
#include "bindings/traced_launches.hpp"
#include "error/describe.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::bindings {

/// The attributes of a kernel, on the current device or on a chosen one.
struct KernelAttributes {
  Kernel kernel;
  std::optional<Device> device;

  [[nodiscard]] Device target() const { return device ? *device : Device::current(); }
};

/// The occupancy queries of a kernel.
struct KernelOccupancy {
  Kernel kernel;
};

namespace {

constexpr char kernel_made[] = "ObjectCode.get_kernel() or Kernel.from_handle()";
constexpr char attributes_made[] = "Kernel.attributes";
constexpr char occupancy_made[] = "Kernel.occupancy";

NamedTuple block_size_tuple("MaxPotentialBlockSizeOccupancyResult", "min_grid_size max_block_size");

struct AttributeField {
  const char* name;
  KernelAttribute attribute;
  bool is_bool;
  bool settable;
};

constexpr AttributeField attribute_fields[] = {
    {"max_threads_per_block", KernelAttribute::max_threads_per_block, false, false},
    {"shared_size_bytes", KernelAttribute::shared_size_bytes, false, false},
    {"const_size_bytes", KernelAttribute::const_size_bytes, false, false},
    {"local_size_bytes", KernelAttribute::local_size_bytes, false, false},
    {"num_regs", KernelAttribute::num_regs, false, false},
    {"ptx_version", KernelAttribute::ptx_version, false, false},
    {"binary_version", KernelAttribute::binary_version, false, false},
    {"cache_mode_ca", KernelAttribute::cache_mode_ca, true, false},
    {"max_dynamic_shared_size_bytes", KernelAttribute::max_dynamic_shared_size_bytes, false, true},
    {"preferred_shared_memory_carveout", KernelAttribute::preferred_shared_memory_carveout, false,
     true},
    {"cluster_size_must_be_set", KernelAttribute::cluster_size_must_be_set, true, false},
    {"required_cluster_width", KernelAttribute::required_cluster_width, false, true},
    {"required_cluster_height", KernelAttribute::required_cluster_height, false, true},
    {"required_cluster_depth", KernelAttribute::required_cluster_depth, false, true},
    {"non_portable_cluster_size_allowed", KernelAttribute::non_portable_cluster_size_allowed, true,
     true},
    {"cluster_scheduling_policy_preference", KernelAttribute::cluster_scheduling_policy_preference,
     false, true},
};

void bind_attributes(py::module_& module) {
  HeapClass<KernelAttributes> type(module, "cudacore.KernelAttributes",
                                   refuse_new<attributes_made>);
  type.def("__getitem__", quick, py::arg("device"), py::pos_only(),
           [](const KernelAttributes& self, py::handle device) {
             return KernelAttributes{self.kernel, to_device(device)};
           });
  for (const AttributeField& field : attribute_fields) {
    const auto get = [&field](const KernelAttributes& self) -> py::object {
      const int value = without_gil(
          [self, &field] { return self.kernel.attribute(field.attribute, self.target()); });
      return field.is_bool ? py::object(py::bool_(value != 0)) : py::object(py::int_(value));
    };
    type.property(field.name, in_parts, get);
    if (!field.settable) continue;
    type.setter(field.name, in_parts, [&field](const KernelAttributes& self, py::handle value) {
      const bool is_flag = field.is_bool && PyBool_Check(value.ptr()) != 0;
      const int number = is_flag
                             ? static_cast<int>(value.ptr() == Py_True)
                             : to_int<int>(value, std::string("KernelAttributes.") + field.name);
      without_gil([self, &field, number] {
        self.kernel.set_attribute(field.attribute, number, self.target());
      });
    });
  }
  type.def("__repr__", quick, [](const KernelAttributes& self) {
    return "<KernelAttributes of " + self.kernel.name() + ">";
  });
}

/// Warns if a kernel comes from other code than the user says.
void check_module(const Kernel& kernel, const ObjectCode& code) {
  const bool matches = without_gil([kernel, code] {
    const CUlibrary library = kernel.library();
    return library == nullptr || library == code.handle();
  });
  if (matches) return;
  const std::string message =
      "Kernel.from_handle: " + error::with_name(to_string(code.code_type()), code.name()) +
      " does not match the kernel " + kernel.name() + ", which is of another library";
  if (PyErr_WarnEx(PyExc_UserWarning, message.c_str(), 1) != 0) throw py::error_already_set();
}

/// The C function of a CUoccupancyB2DSize of cuda.bindings. One that is made with `_ptr=function`,
/// which is how cuda.core takes it, says the function by getPtr(); one that is made with the
/// function itself has the address within the object, and getPtr() says where.
unsigned long long wrapped_function(const py::object& wrapper) {
  const char* what = "KernelOccupancy.max_potential_block_size";
  const py::object get = attribute_or_none(wrapper, "getPtr");
  if (get.is_none()) return to_address(py::int_(wrapper), what);
  const unsigned long long place = to_address(get(), what);
  const auto start = reinterpret_cast<std::uintptr_t>(wrapper.ptr());
  const auto size = static_cast<std::uintptr_t>(Py_TYPE(wrapper.ptr())->tp_basicsize);
  const bool is_within = place - start < size;
  return is_within ? to_address(py::int_(wrapper), what) : place;
}

py::object potential_block_size(const KernelOccupancy& self, py::handle needed, int limit) {
  PotentialBlockSize result;
  if (std::string_view(type_name(needed)).ends_with("CUoccupancyB2DSize")) {
    const auto address = wrapped_function(py::reinterpret_borrow<py::object>(needed));
    if (address == 0) {
      throw py::value_error("KernelOccupancy.max_potential_block_size: the function is null");
    }
    auto* function = reinterpret_cast<std::size_t (*)(int)>(static_cast<std::uintptr_t>(address));
    result = without_gil(
        [function, self, limit] { return self.kernel.max_potential_block_size(function, limit); });
  } else if (PyCallable_Check(needed.ptr()) != 0) {
    // The driver calls back on this thread. What the function raises must not unwind the driver's
    // frames, so it is kept here until they have returned.
    std::optional<py::error_already_set> raised;
    const auto ask = [&](int block_size) -> std::size_t {
      const AcquireGil acquire;
      if (raised) return 0;
      try {
        return run_python([&] {
          return to_size(needed(block_size), "the size of shared memory for a block size");
        });
      } catch (py::error_already_set& error) {
        raised = std::move(error);
      } catch (...) {
        set_python_error();
        raised.emplace();
      }
      return 0;
    };
    result = without_gil(
        [&ask, self, limit] { return self.kernel.max_potential_block_size(ask, limit); });
    if (raised) throw std::move(*raised);
  } else {
    const std::size_t bytes =
        to_size(needed, "KernelOccupancy.max_potential_block_size: dynamic_shared_memory_needed");
    result = without_gil(
        [self, bytes, limit] { return self.kernel.max_potential_block_size(bytes, limit); });
  }
  return block_size_tuple(result.min_grid_size, result.max_block_size);
}

void bind_occupancy(py::module_& module) {
  block_size_tuple.add();
  HeapClass<KernelOccupancy>(module, "cudacore.KernelOccupancy", refuse_new<occupancy_made>)
      .def("max_active_blocks_per_multiprocessor", py::arg("block_size"),
           py::arg("dynamic_shared_memory_size"),
           [](const KernelOccupancy& self, int block_size, std::size_t shared) {
             return self.kernel.max_active_blocks_per_multiprocessor(block_size, shared);
           })
      .def("max_potential_block_size", in_parts, py::arg("dynamic_shared_memory_needed"),
           py::arg("block_size_limit"), &potential_block_size)
      .def("available_dynamic_shared_memory_per_block", py::arg("num_blocks_per_multiprocessor"),
           py::arg("block_size"),
           [](const KernelOccupancy& self, int blocks, int block_size) {
             return self.kernel.available_dynamic_shared_memory_per_block(blocks, block_size);
           })
      .def("max_potential_cluster_size", py::arg("config"), py::kw_only(),
           py::arg("stream") = py::none(),
           [](const KernelOccupancy& self, py::handle config, py::handle stream) {
             return [self, shape = to_launch_config(config), queue = to_stream(stream)] {
               return self.kernel.max_potential_cluster_size(shape, queue);
             };
           })
      .def("max_active_clusters", py::arg("config"), py::kw_only(), py::arg("stream") = py::none(),
           [](const KernelOccupancy& self, py::handle config, py::handle stream) {
             return [self, shape = to_launch_config(config), queue = to_stream(stream)] {
               return self.kernel.max_active_clusters(shape, queue);
             };
           })
      .def("__repr__", quick, [](const KernelOccupancy& self) {
        return "<KernelOccupancy of " + self.kernel.name() + ">";
      });
}

/// Refuses a config in place of a grid.
void refuse_config(py::handle first) {
  if (PyDict_Check(first.ptr()) != 0) {
    throw py::type_error(
        "kernel[...] takes no dict: give kernel[LaunchConfig(**config)], or "
        "launch(stream, config, kernel, ...)");
  }
  if (get_if<LaunchConfig>(first.ptr()) != nullptr) {
    throw py::type_error(
        "kernel[config] takes a LaunchConfig alone; launch(stream, config, kernel, ...) launches "
        "with one on a stream");
  }
}

/// kernel[config], kernel[grid, block], kernel[grid, block, stream], kernel[grid, block, stream,
/// shmem]
Launcher bind_shape(const Kernel& kernel, py::handle shape) {
  if (get_if<LaunchConfig>(shape.ptr()) != nullptr) {
    return {kernel, to_launch_config(shape), std::nullopt};
  }
  const Py_ssize_t count = PyTuple_Check(shape.ptr()) != 0 ? PyTuple_GET_SIZE(shape.ptr()) : 0;
  refuse_config(count > 0 ? py::handle(PyTuple_GET_ITEM(shape.ptr(), 0)) : shape);
  if (count < 2 || count > 4) {
    const bool is_shape = PyTuple_Check(shape.ptr()) == 0 && PyIndex_Check(shape.ptr()) != 0;
    throw py::type_error(
        std::string("kernel[...] takes a LaunchConfig, or grid, block and perhaps stream and "
                    "shmem_size: kernel[grid, block](...)") +
        (is_shape ? "; a grid alone says nothing of the threads in a block" : ""));
  }
  const auto part = [&](Py_ssize_t i) { return py::handle(PyTuple_GET_ITEM(shape.ptr(), i)); };
  const LaunchConfig config =
      make_launch_config(part(0), part(1), count == 4 ? part(3) : py::handle());
  const std::optional<Stream> stream = count >= 3 ? to_optional_stream(part(2)) : std::nullopt;
  if (stream) {
    static_cast<void>(stream->handle());  // refuses a closed one
  }
  return {kernel, config, stream};
}

PyObject* subscript(PyObject* self, PyObject* shape) {
  if (is_tracing()) [[unlikely]]
    return traced_launcher();
  return guarded([&]() { return make_object(bind_shape(*get_if<Kernel>(self), shape)); });
}

/// Refuses a call without a shape, such as CuPy's kernel(grid, block, args).
PyObject* refuse_call(PyObject* self, PyObject* const* args, std::size_t flags, PyObject* names) {
  return guarded([&]() -> PyObject* {
    const std::string name = get_if<Kernel>(self)->name();
    const auto count = static_cast<std::size_t>(PyVectorcall_NARGS(flags));
    const bool has_names = names != nullptr && PyTuple_GET_SIZE(names) != 0;
    if (!has_names && count >= 3 && PyTuple_Check(args[0]) != 0 && PyTuple_Check(args[1]) != 0 &&
        (PyTuple_Check(args[2]) != 0 || PyList_Check(args[2]) != 0)) {
      throw py::type_error(name +
                           " was called with a grid, a block and a tuple of arguments, as in "
                           "CuPy; here the shape goes into brackets: kernel[" +
                           shown(args[0]) + ", " + shown(args[1]) + "](*args)");
    }
    throw py::type_error(name + " needs a shape to be launched: kernel[grid, block](...), or " +
                         "launch(stream, config, kernel, ...)");
  });
}

PyMethodDef subscript_definition = {"__getitem__", &subscript, METH_O,
                                    "__getitem__($self, shape, /)"};

}  // namespace

void bind_kernel(py::module_& module) {
  bind_attributes(module);
  bind_occupancy(module);
  HeapClass<Kernel>(module, "cudacore.Kernel", refuse_new<kernel_made>, &refuse_call)
      .def_static("from_handle", in_parts, py::arg("handle"), py::arg("mod") = py::none(),
                  [](py::handle handle, py::object mod) {
                    if (!mod.is_none() && get_if<ObjectCode>(mod.ptr()) == nullptr) {
                      refuse_type("Kernel.from_handle: mod", "an ObjectCode or None", mod);
                    }
                    const auto address = to_address(handle, "Kernel.from_handle: handle");
                    auto made =
                        without_gil([address, owner = mod.is_none() ? nullptr : keep_alive(mod)] {
                          return Kernel::from_handle(reinterpret_cast<CUkernel>(address), owner);
                        });
                    if (!mod.is_none()) check_module(made, *get_if<ObjectCode>(mod.ptr()));
                    return made;
                  })
      .property("name", quick, read<&Kernel::name>)
      .property("handle", quick, read<&Kernel::handle>)
      .property("signature", quick, read<&Kernel::signature>)
      .property("attributes", quick,
                [](const Kernel& self) {
                  return KernelAttributes{self, std::nullopt};
                })
      .property("occupancy", quick, [](const Kernel& self) { return KernelOccupancy{self}; })
      .property("num_arguments", quick,
                [](const Kernel& self) { return self.signature().params.size(); })
      .property("arguments_info", quick,
                [](const Kernel& self) {
                  py::list parameters;
                  for (const Param& param : self.signature().params)
                    parameters.append(py::cast(param));
                  return parameters;
                })
      .def("with_signature", py::arg("signature"),
           [](const Kernel& self, py::handle signature) {
             return [self, declared = to_signature(signature)] {
               return self.with_signature(declared);
             };
           })
      .def_fast(subscript_definition)
      .def_equality([](const Kernel& a, const Kernel& b) { return a == b; })
      .def("__hash__", quick,
           [](const Kernel& self) { return std::hash<const void*>{}(self.handle()); })
      .def("__repr__", quick,
           [](const Kernel& self) { return "<Kernel " + self.signature().str() + ">"; });
}

}  // namespace cudacore::bindings
