// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <string>

#include "bindings/code_objects.hpp"
#include "bindings/errors.hpp"
#include "bindings/gil.hpp"
#include "bindings/values.hpp"
#include "cudacore/object_code.hpp"
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

PyObject* block_size_type = nullptr;

struct AttributeField {
  const char* name;
  KernelAttribute attribute;
  bool is_bool;
  bool settable;
  const char* doc;
};

constexpr AttributeField attribute_fields[] = {
    {"max_threads_per_block", KernelAttribute::max_threads_per_block, false, false,
     "int: The most threads a block of this kernel can have, by its registers."},
    {"shared_size_bytes", KernelAttribute::shared_size_bytes, false, false,
     "int: Static shared memory of a block, in bytes."},
    {"const_size_bytes", KernelAttribute::const_size_bytes, false, false,
     "int: Constant memory of the user's, in bytes."},
    {"local_size_bytes", KernelAttribute::local_size_bytes, false, false,
     "int: Local memory of a thread, in bytes; more than 0 hints at spilled registers."},
    {"num_regs", KernelAttribute::num_regs, false, false, "int: Registers of a thread."},
    {"ptx_version", KernelAttribute::ptx_version, false, false,
     "int: The virtual architecture it was compiled for, 10 * major + minor."},
    {"binary_version", KernelAttribute::binary_version, false, false,
     "int: The real architecture it was compiled for, 10 * major + minor."},
    {"cache_mode_ca", KernelAttribute::cache_mode_ca, true, false,
     "bool: Whether it was compiled to cache global loads in L1."},
    {"max_dynamic_shared_size_bytes", KernelAttribute::max_dynamic_shared_size_bytes, false, true,
     "int: The most dynamic shared memory a launch may ask for, in bytes. Settable; a launch that\n"
     "needs more than 48 KiB raises it by itself."},
    {"preferred_shared_memory_carveout", KernelAttribute::preferred_shared_memory_carveout, false,
     true,
     "int: Preferred share of L1 for shared memory, in percent; -1 for the default. Settable."},
    {"cluster_size_must_be_set", KernelAttribute::cluster_size_must_be_set, true, false,
     "bool: Whether a launch must give a cluster size."},
    {"required_cluster_width", KernelAttribute::required_cluster_width, false, true,
     "int: Blocks of a cluster in x; 0 where any. Settable."},
    {"required_cluster_height", KernelAttribute::required_cluster_height, false, true,
     "int: Blocks of a cluster in y; 0 where any. Settable."},
    {"required_cluster_depth", KernelAttribute::required_cluster_depth, false, true,
     "int: Blocks of a cluster in z; 0 where any. Settable."},
    {"non_portable_cluster_size_allowed", KernelAttribute::non_portable_cluster_size_allowed, true,
     true, "bool: Whether clusters of more than 8 blocks are allowed. Settable."},
    {"cluster_scheduling_policy_preference", KernelAttribute::cluster_scheduling_policy_preference,
     false, true, "int: 0 default, 1 spread, 2 load balancing. Settable."},
};

void bind_attributes(py::module_& module) {
  HeapClass<KernelAttributes> type(
      module, "cudacore.KernelAttributes",
      "What can be read, and in part set, of a kernel on the current device\n"
      "(cuKernelGetAttribute, cuKernelSetAttribute). ``kernel.attributes[device]`` is for another.",
      refuse_new<attributes_made>);
  type.def(
      "__getitem__",
      [](const KernelAttributes& self, py::handle device) {
        return KernelAttributes{self.kernel, to_device(device)};
      },
      quick, py::arg("device"), py::pos_only(), "The attributes on a device, by its ordinal.");
  for (const AttributeField& field : attribute_fields) {
    const auto get = [&field](const KernelAttributes& self) -> py::object {
      const int value = without_gil(
          [self, &field] { return self.kernel.attribute(field.attribute, self.target()); });
      return field.is_bool ? py::object(py::bool_(value != 0)) : py::object(py::int_(value));
    };
    if (field.settable) {
      type.def_property(
          field.name, get,
          [&field](const KernelAttributes& self, py::handle value) {
            const bool is_flag = field.is_bool && PyBool_Check(value.ptr()) != 0;
            const int number = is_flag ? static_cast<int>(value.ptr() == Py_True)
                                       : to_int(value, "KernelAttributes", field.name);
            without_gil([self, &field, number] {
              self.kernel.set_attribute(field.attribute, number, self.target());
            });
          },
          in_parts, field.doc);
    } else {
      type.def_property_readonly(field.name, get, in_parts, field.doc);
    }
  }
  type.def(
      "__repr__",
      [](const KernelAttributes& self) {
        return "<KernelAttributes of " + self.kernel.name() + ">";
      },
      quick);
}

/// Warns where a kernel is of other code than the user says.
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

py::object potential_block_size(const KernelOccupancy& self, py::handle needed, int limit) {
  PotentialBlockSize result;
  // What cuda.bindings wraps a C function in; its int() is the function's address.
  if (std::string_view(type_name(needed)).ends_with("CUoccupancyB2DSize")) {
    const auto address = to_address(py::int_(py::reinterpret_borrow<py::object>(needed)),
                                    "KernelOccupancy.max_potential_block_size");
    if (address == 0) {
      throw py::value_error("KernelOccupancy.max_potential_block_size: the function is null");
    }
    auto* function = reinterpret_cast<std::size_t (*)(int)>(static_cast<std::uintptr_t>(address));
    result = without_gil(
        [function, self, limit] { return self.kernel.max_potential_block_size(function, limit); });
  } else if (PyCallable_Check(needed.ptr()) != 0) {
    // The driver calls back on this thread. What the function raises cannot pass the driver's
    // frames: it waits here until they are gone.
    std::optional<py::error_already_set> raised;
    const auto ask = [&](int block_size) -> std::size_t {
      const AcquireGil acquire;
      if (raised) return 0;
      try {
        return run_python(
            [&] { return to_byte_count(needed(block_size), "the function for shared memory"); });
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
    const std::size_t bytes = to_byte_count(needed, "KernelOccupancy.max_potential_block_size");
    result = without_gil(
        [self, bytes, limit] { return self.kernel.max_potential_block_size(bytes, limit); });
  }
  return py::handle(block_size_type)(result.min_grid_size, result.max_block_size);
}

void bind_occupancy(py::module_& module) {
  block_size_type = add_named_tuple(module, "MaxPotentialBlockSizeOccupancyResult",
                                    "min_grid_size max_block_size");

  HeapClass<KernelOccupancy>(module, "cudacore.KernelOccupancy",
                             "How many blocks of a kernel the current device runs at once.",
                             refuse_new<occupancy_made>)
      .def(
          "max_active_blocks_per_multiprocessor",
          [](const KernelOccupancy& self, int block_size, std::size_t shared) {
            return self.kernel.max_active_blocks_per_multiprocessor(block_size, shared);
          },
          py::arg("block_size"), py::arg("dynamic_shared_memory_size"),
          "Blocks that one multiprocessor runs at once\n"
          "(cuOccupancyMaxActiveBlocksPerMultiprocessor).\n\n"
          "Parameters\n----------\n"
          "block_size : int\n    Threads in a block.\n"
          "dynamic_shared_memory_size : int\n    Bytes for each block.\n\n"
          "Returns\n-------\nint")
      .def("max_potential_block_size", &potential_block_size,
           py::arg("dynamic_shared_memory_needed"), py::arg("block_size_limit"), in_parts,
           "The block size of best occupancy (cuOccupancyMaxPotentialBlockSize).\n\n"
           "Parameters\n----------\n"
           "dynamic_shared_memory_needed : int, callable or cuda.bindings' CUoccupancyB2DSize\n"
           "    Bytes for each block, or a function from the block size to them.\n"
           "block_size_limit : int\n    0 for the most that the kernel allows.\n\n"
           "Returns\n-------\nMaxPotentialBlockSizeOccupancyResult\n"
           "    (min_grid_size, max_block_size)")
      .def(
          "available_dynamic_shared_memory_per_block",
          [](const KernelOccupancy& self, int blocks, int block_size) {
            return self.kernel.available_dynamic_shared_memory_per_block(blocks, block_size);
          },
          py::arg("num_blocks_per_multiprocessor"), py::arg("block_size"),
          "Bytes of dynamic shared memory that each of so many blocks could have\n"
          "(cuOccupancyAvailableDynamicSMemPerBlock).\n\n"
          "Returns\n-------\nint")
      .def(
          "max_potential_cluster_size",
          [](const KernelOccupancy& self, py::handle config, py::handle stream) {
            return [self, shape = to_launch_config(config), queue = to_stream(stream)] {
              return self.kernel.max_potential_cluster_size(shape, queue);
            };
          },
          py::arg("config"), py::kw_only(), py::arg("stream") = py::none(),
          "The most blocks a cluster can have (cuOccupancyMaxPotentialClusterSize).\n\n"
          "Returns\n-------\nint")
      .def(
          "max_active_clusters",
          [](const KernelOccupancy& self, py::handle config, py::handle stream) {
            return [self, shape = to_launch_config(config), queue = to_stream(stream)] {
              return self.kernel.max_active_clusters(shape, queue);
            };
          },
          py::arg("config"), py::kw_only(), py::arg("stream") = py::none(),
          "The most clusters the device runs at once (cuOccupancyMaxActiveClusters).\n\n"
          "Returns\n-------\nint")
      .def(
          "__repr__",
          [](const KernelOccupancy& self) {
            return "<KernelOccupancy of " + self.kernel.name() + ">";
          },
          quick);
}

/// A config where a grid goes.
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
  return guarded([&]() { return make_object(bind_shape(*get_if<Kernel>(self), shape)); });
}

/// What a call without a shape was meant to be: CuPy's kernel(grid, block, args), or Numba's call
/// before its brackets.
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

PyMethodDef subscript_definition = {
    "__getitem__", &subscript, METH_O,
    "__getitem__($self, shape, /)\n--\n\n"
    "A launcher: ``kernel[grid, block, stream, shmem_size]`` or ``kernel[config]``."};

}  // namespace

void bind_kernel(py::module_& module) {
  bind_attributes(module);
  bind_occupancy(module);
  HeapClass<Kernel>(
      module, "cudacore.Kernel",
      "A function of a loaded library that a launch can start.\n\n"
      "``kernel[grid, block](*args)`` queues it on the current stream,\n"
      "``kernel[grid, block, stream, shmem_size](*args)`` on another.\n\n"
      "Examples\n--------\n"
      ">>> dev = cudacore.Device()\n"
      ">>> code = \"__global__ void scale(float* x, float a) { x[threadIdx.x] *= a; }\"\n"
      ">>> kernel = cudacore.Program(code, \"c++\").compile().get_kernel(\"scale\")\n"
      ">>> str(kernel.signature)\n"
      "'scale(float* x, float a)'\n"
      ">>> x = dev.allocate(128)\n"
      ">>> kernel[1, 32](x, 2)",
      refuse_new<kernel_made>, &refuse_call)
      .def_static(
          "from_handle",
          [](py::handle handle, py::object mod) {
            if (!mod.is_none() && get_if<ObjectCode>(mod.ptr()) == nullptr) {
              throw py::type_error("Kernel.from_handle: mod must be an ObjectCode or None, not " +
                                   type_name(mod));
            }
            const auto address = to_address(handle, "Kernel.from_handle: handle");
            auto made = without_gil([address, owner = mod.is_none() ? nullptr : keep_alive(mod)] {
              return Kernel::from_handle(reinterpret_cast<CUkernel>(address), owner);
            });
            if (!mod.is_none()) check_module(made, *get_if<ObjectCode>(mod.ptr()));
            return made;
          },
          py::arg("handle"), py::arg("mod") = py::none(), in_parts,
          "Wraps a CUkernel that somebody else loaded.\n\n"
          "Parameters\n----------\n"
          "handle : int\n    The CUkernel.\n"
          "mod : ObjectCode or None\n    The code that it is of, kept loaded as long as the "
          "kernel.\n"
          "    Other code than the kernel's own is warned of.\n\n"
          "Returns\n-------\nKernel")
      .def_property_readonly("name", read<&Kernel::name>, quick,
                             "str: The readable name, such as ``axpy<float>``.")
      .def_property_readonly("handle", read<&Kernel::handle>, quick, "int: The CUkernel.")
      .def_property_readonly("signature", read<&Kernel::signature>, quick,
                             "Signature: The parameters, from the best source there was.")
      .def_property_readonly(
          "attributes",
          [](const Kernel& self) {
            return KernelAttributes{self, std::nullopt};
          },
          quick, "KernelAttributes: Registers, shared memory and the like.")
      .def_property_readonly(
          "occupancy", [](const Kernel& self) { return KernelOccupancy{self}; }, quick,
          "KernelOccupancy: How many blocks the device runs at once.")
      .def_property_readonly(
          "num_arguments", [](const Kernel& self) { return self.signature().params.size(); }, quick,
          "int: How many parameters it has.")
      .def_property_readonly(
          "arguments_info",
          [](const Kernel& self) {
            py::list parameters;
            for (const Param& param : self.signature().params) parameters.append(py::cast(param));
            return parameters;
          },
          quick, "list of ParamInfo: Each parameter's type, offset and size.")
      .def(
          "with_signature",
          [](const Kernel& self, py::handle signature) {
            return [self, declared = to_signature(signature)] {
              return self.with_signature(declared);
            };
          },
          py::arg("signature"),
          "The same kernel with a declared signature, for code that tells too little.\n\n"
          "Parameters\n----------\n"
          "signature : str or Signature\n    Such as ``(float* x, int n)``.\n\n"
          "Returns\n-------\nKernel\n\n"
          "Raises\n------\nValueError\n    It contradicts the sizes that the code tells.")
      .def_fast(subscript_definition)
      .def_equality([](const Kernel& a, const Kernel& b) { return a == b; })
      .def(
          "__hash__", [](const Kernel& self) { return std::hash<const void*>{}(self.handle()); },
          quick)
      .def(
          "__repr__", [](const Kernel& self) { return "<Kernel " + self.signature().str() + ">"; },
          quick);
}

}  // namespace cudacore::bindings
