// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "bindings/errors.hpp"
#include "bindings/keywords.hpp"
#include "bindings/suggestion.hpp"
#include "bindings/values.hpp"

namespace cudacore::bindings {

namespace {

constexpr char axes[] = "xyz";

constexpr const char* field_names[] = {"grid",           "cluster",
                                       "block",          "shmem_size",
                                       "is_cooperative", "programmatic_stream_serialization",
                                       "priority"};
constexpr std::size_t block_field = 2;
constexpr std::size_t field_count = std::size(field_names);

std::string in_config(const char* field) { return std::string("LaunchConfig: ") + field; }

/// How many items an array has, which has __index__ too, whatever its size; -1 for all else.
Py_ssize_t array_size(py::handle value) {
  if (PyLong_Check(value.ptr()) != 0 || PyIndex_Check(value.ptr()) == 0 ||
      PySequence_Check(value.ptr()) == 0) {
    return -1;
  }
  const Py_ssize_t size = PySequence_Size(value.ptr());
  if (size < 0) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) {
      throw py::error_already_set();
    }
    PyErr_Clear();  // zero-dimensional: a number
  }
  return size;
}

unsigned to_extent(py::handle value, const char* field, std::size_t axis) {
  const auto name = [&]() { return in_config(field) + "." + axes[axis]; };
  // A float that is a whole number comes of a division, n / 16, in programs written for cuda.core.
  const bool is_whole =
      PyFloat_CheckExact(value.ptr()) != 0 && std::isfinite(PyFloat_AS_DOUBLE(value.ptr())) &&
      std::floor(PyFloat_AS_DOUBLE(value.ptr())) == PyFloat_AS_DOUBLE(value.ptr());
  if (PyBool_Check(value.ptr()) != 0 || (PyIndex_Check(value.ptr()) == 0 && !is_whole) ||
      array_size(value) >= 0) {
    throw py::type_error(name() + " must be an int, not " + type_name(value) +
                         (PyFloat_Check(value.ptr()) != 0 ? "; pass int(...) of it" : ""));
  }
  const auto number = py::reinterpret_steal<py::object>(is_whole ? PyNumber_Long(value.ptr())
                                                                 : PyNumber_Index(value.ptr()));
  if (!number) {
    throw py::error_already_set();
  }
  int overflow = 0;
  const long long extent = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0 || extent < 1 || extent > std::numeric_limits<unsigned>::max()) {
    throw py::value_error(name() + " must lie in 1 .. 2**32 - 1, not " + shown(number));
  }
  return static_cast<unsigned>(extent);
}

[[noreturn]] void refuse_size(const char* field, std::size_t size) {
  throw py::value_error(in_config(field) + " has 1 to 3 extents, not " + std::to_string(size));
}

Dim3 to_dim3(py::handle value, const char* field) {
  const Py_ssize_t items = array_size(value);
  if (items > 3) {
    refuse_size(field, static_cast<std::size_t>(items));
  }
  if (PyList_Check(value.ptr()) != 0 || items >= 0) {  // a copy, which no __index__ can change
    const auto copy = py::reinterpret_steal<py::object>(PySequence_Tuple(value.ptr()));
    if (!copy) {
      throw py::error_already_set();
    }
    return to_dim3(copy, field);
  }
  Dim3 extents{1, 1, 1};
  if (PyTuple_Check(value.ptr()) == 0) {
    if (PyIndex_Check(value.ptr()) == 0 && PyFloat_Check(value.ptr()) == 0) {
      throw py::type_error(in_config(field) + " must be an int or a sequence of 1 to 3 ints, not " +
                           type_name(value));
    }
    extents[0] = to_extent(value, field, 0);
    return extents;
  }
  const auto size = static_cast<std::size_t>(PyTuple_GET_SIZE(value.ptr()));
  if (size < 1 || size > extents.size()) {
    refuse_size(field, size);
  }
  for (std::size_t axis = 0; axis < size; ++axis) {
    extents[axis] =
        to_extent(PyTuple_GET_ITEM(value.ptr(), static_cast<Py_ssize_t>(axis)), field, axis);
  }
  return extents;
}

bool to_flag(py::handle value, const char* field) {
  if (PyBool_Check(value.ptr()) == 0) {
    throw py::type_error(in_config(field) + " must be a bool, not " + type_name(value));
  }
  return value.ptr() == Py_True;
}

std::size_t to_shared_memory(py::handle value) {
  if (PyBool_Check(value.ptr()) != 0 || PyIndex_Check(value.ptr()) == 0) {
    throw py::type_error("LaunchConfig: shmem_size must be an int, not " + type_name(value));
  }
  const auto number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  if (!number) {
    throw py::error_already_set();
  }
  int overflow = 0;
  const long long size = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
  if (overflow != 0 || size < 0 || size > std::numeric_limits<unsigned>::max()) {
    throw py::value_error("LaunchConfig: shmem_size must lie in 0 .. 2**32 - 1 bytes, not " +
                          shown(value));
  }
  return static_cast<std::size_t>(size);
}

std::optional<int> to_priority(py::handle value) {
  if (value.is_none()) {
    return std::nullopt;
  }
  if (PyBool_Check(value.ptr()) != 0 || PyLong_Check(value.ptr()) == 0) {
    throw py::type_error("LaunchConfig: priority must be an int or None, not " + type_name(value));
  }
  int overflow = 0;
  const long priority = PyLong_AsLongAndOverflow(value.ptr(), &overflow);
  if (overflow != 0 || priority != static_cast<int>(priority)) {
    throw py::value_error("LaunchConfig: priority does not fit an int");
  }
  return static_cast<int>(priority);
}

void set_field(LaunchConfig& config, std::size_t field, py::handle value) {
  switch (field) {
    case 0:
      config.grid = value.is_none() ? Dim3{1, 1, 1} : to_dim3(value, "grid");
      break;
    case 1:
      config.cluster =
          value.is_none() ? std::nullopt : std::optional<Dim3>(to_dim3(value, "cluster"));
      break;
    case 2:
      config.block = value.is_none() ? Dim3{1, 1, 1} : to_dim3(value, "block");
      break;
    case 3:
      config.shmem_size = value.is_none() ? 0 : to_shared_memory(value);
      break;
    case 4:
      config.is_cooperative = to_flag(value, "is_cooperative");
      break;
    case 5:
      config.programmatic_stream_serialization =
          to_flag(value, "programmatic_stream_serialization");
      break;
    default:
      config.priority = to_priority(value);
      break;
  }
}

/// `values` must be nobody else's: their conversion runs Python code.
void set_fields(LaunchConfig& config, const py::dict& values) {
  for (const auto& [key, value] : values) {
    std::size_t field = 0;
    while (field < field_count && !key.equal(py::str(field_names[field]))) {
      ++field;
    }
    if (field == field_count) {
      throw py::type_error("LaunchConfig has no field " + shown(key) +
                           did_you_mean(py::str(key).cast<std::string>(), field_names));
    }
    set_field(config, field, value);
  }
}

[[noreturn]] void refuse_change(const std::string& field) {
  throw py::attribute_error("LaunchConfig." + field +
                            " cannot be set: launches share a config, and it can be a key, so it "
                            "never changes. copy.replace(config, " +
                            field + "=...) makes another; before Python 3.13, config.__replace__");
}

py::tuple from_dim3(const Dim3& extents) {
  return py::make_tuple(extents[0], extents[1], extents[2]);
}

py::object get_field(const LaunchConfig& config, std::size_t field) {
  switch (field) {
    case 0:
      return from_dim3(config.grid);
    case 1:
      return config.cluster ? py::object(from_dim3(*config.cluster)) : py::object(py::none());
    case 2:
      return from_dim3(config.block);
    case 3:
      return py::int_(config.shmem_size);
    case 4:
      return py::bool_(config.is_cooperative);
    case 5:
      return py::bool_(config.programmatic_stream_serialization);
    default:
      return config.priority ? py::object(py::int_(*config.priority)) : py::object(py::none());
  }
}

py::tuple all_fields(const LaunchConfig& config) {
  py::tuple fields(field_count);
  for (std::size_t i = 0; i < field_count; ++i) {
    fields[i] = get_field(config, i);
  }
  return fields;
}

/// LaunchConfig(grid=None, cluster=None, block=None, ...), without a tuple or a dict in between.
PyObject* construct(PyObject* /*type*/, PyObject* const* args, std::size_t flags, PyObject* names) {
  return guarded([&]() -> PyObject* {
    std::array<py::handle, field_count> given;
    parse_keywords("LaunchConfig", field_names, given, field_count, args, PyVectorcall_NARGS(flags),
                   names);
    if (PyVectorcall_NARGS(flags) == 2 && !given[block_field] && !given[1].is_none()) {
      throw py::type_error(
          "LaunchConfig(" + shown(given[0]) + ", " + shown(given[1]) +
          ") would make the second a cluster, as the order is grid, cluster, block; "
          "name them: LaunchConfig(grid=" +
          shown(given[0]) + ", block=" + shown(given[1]) + ")");
    }
    LaunchConfig config;
    for (std::size_t i = 0; i < field_count; ++i) {
      if (given[i]) {
        set_field(config, i, given[i]);
      }
    }
    return make_object(std::move(config));
  });
}

PyObject* construct_from_tuple(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    if (kwargs != nullptr && PyDict_GET_SIZE(kwargs) != 0) {
      throw py::type_error("LaunchConfig.__new__ takes no keyword arguments; call LaunchConfig");
    }
    return construct(reinterpret_cast<PyObject*>(type),
                     reinterpret_cast<PyTupleObject*>(args)->ob_item,
                     static_cast<std::size_t>(PyTuple_GET_SIZE(args)), nullptr);
  });
}

std::string repr(const LaunchConfig& config) {
  std::string text = "LaunchConfig(";
  for (std::size_t i = 0; i < field_count; ++i) {
    text += (i == 0 ? "" : ", ") + std::string(field_names[i]) + "=" +
            py::repr(get_field(config, i)).cast<std::string>();
  }
  return text + ")";
}

constexpr const char* field_docs[] = {
    "tuple of int: Blocks (clusters, where `cluster` is given) in x, y and z.",
    "tuple of int or None: Blocks in a cluster; needs compute capability 9.0.",
    "tuple of int: Threads in a block, in x, y and z.",
    "int: Bytes of dynamic shared memory for each block. Over 48 KiB is opted into by itself.",
    "bool: Whether all blocks run at once and can synchronise the grid.",
    "bool: Whether the kernel may start before its predecessor on the stream ends.",
    "int or None: Overrides the stream's priority for this launch.",
};

}  // namespace

LaunchConfig make_launch_config(py::handle grid, py::handle block, py::handle shmem_size) {
  LaunchConfig config;
  config.grid = to_dim3(grid, "grid");
  config.block = to_dim3(block, "block");
  config.shmem_size = shmem_size ? to_shared_memory(shmem_size) : 0;
  return config;
}

LaunchConfig to_launch_config(py::handle object) {
  if (const auto* config = get_if<LaunchConfig>(object.ptr())) {
    return *config;
  }
  if (!py::isinstance<py::dict>(object)) {
    throw py::type_error("launch: config must be a LaunchConfig or a dict, not " +
                         type_name(object));
  }
  LaunchConfig config;
  set_fields(config, copy_of(object));
  return config;
}

void bind_launch_config(py::module_& module) {
  HeapClass<LaunchConfig> type(
      module, "cudacore.LaunchConfig",
      "LaunchConfig(grid=None, cluster=None, block=None, shmem_size=None, is_cooperative=False, "
      "programmatic_stream_serialization=False, priority=None)\n--\n\n"
      "The shape of a launch; it never changes.\n\n"
      "Extents are an int for x alone, or a sequence of one to three ints; what is not given is "
      "1.\n"
      "A float that is a whole number counts as an int.\n"
      "With `cluster`, the grid counts clusters.\n\n"
      "Parameters\n----------\n"
      "grid, cluster, block : int or sequence of int\n"
      "    At least 1. The device's limits are checked at the launch.\n"
      "shmem_size : int\n    Bytes of dynamic shared memory for each block, 0 by default.\n"
      "is_cooperative : bool\n"
      "programmatic_stream_serialization : bool\n"
      "priority : int or None\n\n"
      "Raises\n------\n"
      "ValueError\n    An extent of zero, negative or past 2**32 - 1.\n\n"
      "Examples\n--------\n"
      ">>> cudacore.LaunchConfig(grid=(4, 2), block=256).grid\n"
      "(4, 2, 1)",
      &construct_from_tuple);
  heap_type<LaunchConfig>->tp_vectorcall = &construct;
  for (std::size_t i = 0; i < field_count; ++i) {
    type.def_property(
        field_names[i], [i](const LaunchConfig& self) { return get_field(self, i); },
        [i](const LaunchConfig& /*self*/, py::handle /*value*/) { refuse_change(field_names[i]); },
        quick, field_docs[i]);
  }
  type.def_equality([](const LaunchConfig& a, const LaunchConfig& b) {
        return all_fields(a).equal(all_fields(b));
      })
      .def(
          "__hash__", [](const LaunchConfig& self) { return py::hash(all_fields(self)); }, quick)
      .def(
          "__replace__",
          [](LaunchConfig self, const py::kwargs& changes) {
            set_fields(self, changes);
            return self;
          },
          quick, "A copy with some fields changed; what copy.replace() calls.")
      .def(
          "__reduce__",
          [](const LaunchConfig& self) {
            return py::make_tuple(py::handle(reinterpret_cast<PyObject*>(heap_type<LaunchConfig>)),
                                  all_fields(self));
          },
          quick)
      .def("__repr__", &repr, quick);
}

}  // namespace cudacore::bindings
