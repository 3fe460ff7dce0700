// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "bindings/conversions.hpp"
#include "bindings/keywords.hpp"
#include "bindings/later.hpp"
#include "bindings/launcher.hpp"
#include "bindings/options.hpp"
#include "bindings/suggestion.hpp"

namespace cudacore::bindings {
namespace {

constexpr char axes[] = "xyz";

std::string in_config(const char* field) { return std::string("LaunchConfig: ") + field; }

/// How many items an array has; -1 for anything else. (Arrays have __index__ too, whatever their
/// size.)
Py_ssize_t array_size(py::handle value) {
  if (PyLong_Check(value.ptr()) != 0 || PyIndex_Check(value.ptr()) == 0 ||
      PySequence_Check(value.ptr()) == 0) {
    return -1;
  }
  const Py_ssize_t size = PySequence_Size(value.ptr());
  if (size < 0) {
    if (PyErr_ExceptionMatches(PyExc_TypeError) == 0) throw py::error_already_set();
    PyErr_Clear();  // zero-dimensional: a number
  }
  return size;
}

unsigned to_extent(py::handle value, const char* field, std::size_t axis) {
  constexpr long long largest = std::numeric_limits<unsigned>::max();
  if (PyLong_CheckExact(value.ptr()) != 0) {
    int overflow = 0;
    const long long extent = as_long_long(value.ptr(), overflow);
    if (overflow == 0 && extent >= 1 && extent <= largest) return static_cast<unsigned>(extent);
  }
  const auto name = [&]() { return in_config(field) + "." + axes[axis]; };
  // A float that is a whole number comes from a division, n / 16, in programs written for
  // cuda.core.
  const bool is_whole =
      PyFloat_CheckExact(value.ptr()) != 0 && std::isfinite(PyFloat_AS_DOUBLE(value.ptr())) &&
      std::floor(PyFloat_AS_DOUBLE(value.ptr())) == PyFloat_AS_DOUBLE(value.ptr());
  if (PyBool_Check(value.ptr()) != 0 || (PyIndex_Check(value.ptr()) == 0 && !is_whole) ||
      array_size(value) >= 0) {
    refuse_type(name(), "an int", value,
                PyFloat_Check(value.ptr()) != 0 ? "; pass int(...) of it" : "");
  }
  const py::object number = is_whole ? py::int_(py::reinterpret_borrow<py::object>(value))
                                     : py::reinterpret_borrow<py::object>(value);
  return static_cast<unsigned>(to_int<long long>(number, name(), {1, largest}));
}

[[noreturn]] void refuse_size(const char* field, std::size_t size) {
  throw py::value_error(in_config(field) + " has 1 to 3 extents, not " + std::to_string(size));
}

Dim3 to_dim3(py::handle value, const char* field) {
  const Py_ssize_t items = array_size(value);
  if (items > 3) refuse_size(field, static_cast<std::size_t>(items));
  if (PyList_Check(value.ptr()) != 0 || items >= 0) {  // a copy, which no __index__ can change
    return to_dim3(checked(PySequence_Tuple(value.ptr())), field);
  }
  Dim3 extents{1, 1, 1};
  if (PyTuple_Check(value.ptr()) == 0) {
    if (PyIndex_Check(value.ptr()) == 0 && PyFloat_Check(value.ptr()) == 0) {
      refuse_type(in_config(field), "an int or a sequence of 1 to 3 ints", value);
    }
    extents[0] = to_extent(value, field, 0);
    return extents;
  }
  const auto size = static_cast<std::size_t>(PyTuple_GET_SIZE(value.ptr()));
  if (size < 1 || size > extents.size()) refuse_size(field, size);
  for (std::size_t axis = 0; axis < size; ++axis) {
    extents[axis] =
        to_extent(PyTuple_GET_ITEM(value.ptr(), static_cast<Py_ssize_t>(axis)), field, axis);
  }
  return extents;
}

void set_value(Dim3& extents, py::handle value, const char* field) {
  extents = value.is_none() ? Dim3{1, 1, 1} : to_dim3(value, field);
}

void set_value(std::optional<Dim3>& extents, py::handle value, const char* field) {
  extents = value.is_none() ? std::nullopt : std::optional(to_dim3(value, field));
}

void set_value(bool& flag, py::handle value, const char* field) {
  flag = to_bool(value, in_config(field));
}

std::size_t to_shared_memory(py::handle value) {
  constexpr long long most = std::numeric_limits<unsigned>::max();
  return static_cast<std::size_t>(to_int<long long>(value, in_config("shmem_size"), {0, most}));
}

void set_value(std::size_t& bytes, py::handle value, const char* /*field*/) {
  bytes = value.is_none() ? 0 : to_shared_memory(value);
}

void set_value(std::optional<int>& number, py::handle value, const char* field) {
  number = value.is_none() ? std::nullopt : std::optional(to_int<int>(value, in_config(field)));
}

template <typename E>
requires std::is_enum_v<E>
void set_value(std::optional<E>& chosen, py::handle value, const char* field) {
  chosen = value.is_none() ? std::nullopt : std::optional(to_enum<E>(value, in_config(field)));
}

void set_value(std::optional<AccessPolicyWindow>& window, py::handle value, const char* field) {
  const bool is_window = get_if<AccessPolicyWindow>(value.ptr()) != nullptr || is_mapping(value);
  if (!value.is_none() && !is_window) {
    refuse_type(in_config(field), "an AccessPolicyWindow, a mapping of its fields, or None", value);
  }
  window = value.is_none() ? std::nullopt : std::optional(to_options<AccessPolicyWindow>(value));
}

void set_value(std::optional<Event>& event, py::handle value, const char* field) {
  const auto* given = get_if<Event>(value.ptr());
  if (given == nullptr && !value.is_none()) {
    refuse_type(in_config(field), "an Event or None", value);
  }
  event = given != nullptr ? std::optional(*given) : std::nullopt;
}

void set_value(std::optional<MemSyncDomainMap>& map, py::handle value, const char* field) {
  map = value.is_none() ? std::nullopt
                        : std::optional(to_mem_sync_domain_map(value, in_config(field).c_str()));
}

template <typename V>
py::object show_value(const V& value) {
  if constexpr (std::is_same_v<V, Dim3>) {
    return py::make_tuple(value[0], value[1], value[2]);
  } else if constexpr (std::is_same_v<V, MemSyncDomainMap>) {
    return py::make_tuple(value.normal, value.remote);
  } else if constexpr (std::is_enum_v<V>) {
    return py::str(name_of(value));
  } else if constexpr (std::is_same_v<V, AccessPolicyWindow>) {
    make_class("AccessPolicyWindow");
    return py::cast(value);
  } else if constexpr (requires { value.has_value(); }) {
    return value ? show_value(*value) : py::none();
  } else {
    return py::cast(value);
  }
}

/// What the fields are read into: the attributes are prepared for the driver at the end.
struct Values {
  LaunchConfig config;
  LaunchAttributes attributes;
  bool has_attributes = false;

  explicit Values(LaunchConfig given = {})
      : config(std::move(given)), attributes(attributes_of(config.attributes)) {}

  [[nodiscard]] LaunchConfig take() {
    if (!has_attributes) return std::move(config);
    try {
      config.attributes = prepare(std::move(attributes));
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(in_config(error.what()));
    }
    return std::move(config);
  }
};

struct Field {
  const char* name;
  void (*set)(Values&, py::handle, const char*);
  py::object (*get)(const LaunchConfig&);
};

template <auto member, typename V>
constexpr Field make_field(const char* name, V LaunchConfig::* /*member*/) {
  return {name,
          [](Values& values, py::handle value, const char* field) {
            set_value(values.config.*member, value, field);
          },
          [](const LaunchConfig& config) { return show_value(config.*member); }};
}

template <auto member, typename V>
constexpr Field make_field(const char* name, V LaunchAttributes::* /*member*/) {
  return {name,
          [](Values& values, py::handle value, const char* field) {
            values.has_attributes = true;
            set_value(values.attributes.*member, value, field);
          },
          [](const LaunchConfig& config) {
            return show_value(attributes_of(config.attributes).*member);
          }};
}

template <auto member>
constexpr Field field(const char* name) {
  return make_field<member>(name, member);
}

constexpr std::array fields = {
    field<&LaunchConfig::grid>("grid"),
    field<&LaunchConfig::cluster>("cluster"),
    field<&LaunchConfig::block>("block"),
    field<&LaunchConfig::shmem_size>("shmem_size"),
    field<&LaunchConfig::is_cooperative>("is_cooperative"),
    field<&LaunchConfig::programmatic_stream_serialization>("programmatic_stream_serialization"),
    field<&LaunchConfig::priority>("priority"),
    field<&LaunchAttributes::cluster_scheduling_policy_preference>(
        "cluster_scheduling_policy_preference"),
    field<&LaunchAttributes::preferred_cluster>("preferred_cluster"),
    field<&LaunchAttributes::access_policy_window>("access_policy_window"),
    field<&LaunchAttributes::programmatic_event>("programmatic_event"),
    field<&LaunchAttributes::trigger_at_block_start>("trigger_at_block_start"),
    field<&LaunchAttributes::launch_completion_event>("launch_completion_event"),
    field<&LaunchAttributes::mem_sync_domain>("mem_sync_domain"),
    field<&LaunchAttributes::mem_sync_domain_map>("mem_sync_domain_map"),
    field<&LaunchAttributes::shared_memory_carveout>("shared_memory_carveout"),
    field<&LaunchAttributes::shared_memory_mode>("shared_memory_mode"),
    field<&LaunchAttributes::portable_cluster_size_mode>("portable_cluster_size_mode"),
    field<&LaunchAttributes::nvlink_util_centric_scheduling>("nvlink_util_centric_scheduling"),
    field<&LaunchAttributes::device_updatable_kernel_node>("device_updatable_kernel_node"),
};
constexpr std::size_t shape_fields = 7;  ///< the others are attributes, which few launches have

constexpr auto field_names = [] {
  std::array<const char*, fields.size()> names{};
  for (std::size_t i = 0; i < names.size(); ++i) names[i] = fields[i].name;
  return names;
}();

/// No one else may hold `values`: their conversion runs Python code.
void set_fields(LaunchConfig& config, const py::dict& given) {
  Values values(config);
  for (const auto& [key, value] : given) {
    const auto* field = std::find_if(fields.begin(), fields.end(), [&key = key](const Field& each) {
      return key.equal(py::str(each.name));
    });
    if (field == fields.end()) {
      throw py::type_error("LaunchConfig has no field " + shown(key) +
                           did_you_mean(py::str(key).cast<std::string>(), field_names));
    }
    field->set(values, value, field->name);
  }
  config = values.take();
}

[[noreturn]] void refuse_change(const std::string& field) {
  throw py::attribute_error("LaunchConfig." + field +
                            " cannot be set: launches share a config, and it can be a key, so it "
                            "never changes. copy.replace(config, " +
                            field + "=...) makes another; before Python 3.13, config.__replace__");
}

py::tuple all_fields(const LaunchConfig& config) {
  py::tuple values(config.attributes != nullptr ? fields.size() : shape_fields);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = fields[i].get(config);
  return values;
}

/// What equal configs have in common, and can be hashed: a window cannot.
py::tuple shape_of(const LaunchConfig& config) {
  py::tuple values(shape_fields);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = fields[i].get(config);
  return values;
}

/// LaunchConfig(grid=None, cluster=None, block=None, ...), without making a tuple or a dict.
PyObject* construct(PyObject* /*type*/, PyObject* const* args, std::size_t flags, PyObject* names) {
  return guarded([&]() -> PyObject* {
    std::array<py::handle, fields.size()> given;
    parse_keywords("LaunchConfig", field_names, given, fields.size(), args,
                   PyVectorcall_NARGS(flags), names);
    constexpr std::size_t block = 2;
    if (PyVectorcall_NARGS(flags) == 2 && !given[block] && !given[1].is_none()) {
      throw py::type_error(
          "LaunchConfig(" + shown(given[0]) + ", " + shown(given[1]) +
          ") would make the second a cluster, as the order is grid, cluster, block; "
          "name them: LaunchConfig(grid=" +
          shown(given[0]) + ", block=" + shown(given[1]) + ")");
    }
    Values values;
    for (std::size_t i = 0; i < fields.size(); ++i) {
      if (given[i]) fields[i].set(values, given[i], fields[i].name);
    }
    return make_object(values.take());
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

PyObject* get_field(PyObject* self, void* closure) {
  return guarded([&] {
    const auto& field = *static_cast<const Field*>(closure);
    return field.get(*get_if<LaunchConfig>(self)).release().ptr();
  });
}

int refuse_field(PyObject* /*self*/, PyObject* /*value*/, void* closure) {
  return status_of([&] { refuse_change(static_cast<const Field*>(closure)->name); });
}

std::string repr(const LaunchConfig& config) {
  std::string text = "LaunchConfig(";
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const py::object value = fields[i].get(config);
    // Of the attributes, only those that are set.
    if (i >= shape_fields && (value.is_none() || value.ptr() == Py_False)) continue;
    text += (i == 0 ? "" : ", ") + std::string(fields[i].name) + "=" +
            py::repr(value).cast<std::string>();
  }
  return text + ")";
}

}  // namespace

LaunchConfig make_launch_config(py::handle grid, py::handle block, py::handle shmem_size) {
  LaunchConfig config;
  config.grid = to_dim3(grid, "grid");
  config.block = to_dim3(block, "block");
  config.shmem_size = shmem_size ? to_shared_memory(shmem_size) : 0;
  return config;
}

LaunchConfig to_launch_config(py::handle object) {
  if (const auto* config = get_if<LaunchConfig>(object.ptr())) return *config;
  if (!py::isinstance<py::dict>(object)) {
    refuse_type("launch: config", "a LaunchConfig or a dict", object);
  }
  LaunchConfig config;
  set_fields(config, copy_of(object));
  return config;
}

void bind_launch_config(py::module_& module) {
  HeapClass<LaunchConfig> type(module, "cudacore.LaunchConfig", &construct_from_tuple);
  heap_type<LaunchConfig>->tp_vectorcall = &construct;
  static std::array<PyGetSetDef, fields.size()> definitions;
  for (std::size_t i = 0; i < definitions.size(); ++i) {
    definitions[i] = {fields[i].name, &get_field, &refuse_field,
                      documentation(type, fields[i].name), const_cast<Field*>(&fields[i])};
    type.attr(fields[i].name) =
        checked(PyDescr_NewGetSet(heap_type<LaunchConfig>, &definitions[i]));
  }
  type.def_equality([](const LaunchConfig& a, const LaunchConfig& b) {
        return all_fields(a).equal(all_fields(b));
      })
      .def("__hash__", quick, [](const LaunchConfig& self) { return py::hash(shape_of(self)); })
      .def_replace(&set_fields)
      .def("__reduce__", quick,
           [](const LaunchConfig& self) {
             return py::make_tuple(type_of<LaunchConfig>(), all_fields(self));
           })
      .def("__repr__", quick, &repr);
}

}  // namespace cudacore::bindings
