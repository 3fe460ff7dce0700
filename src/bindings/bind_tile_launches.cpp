// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <string>

#include "bindings/borrowed_buffers.hpp"
#include "bindings/conversions.hpp"
#include "bindings/foreign_stream.hpp"
#include "bindings/integers.hpp"
#include "bindings/queue_launch.hpp"
#include "bindings/strided_view.hpp"
#include "bindings/tile_launches.hpp"
#include "bindings/traced_launches.hpp"
#include "driver/leaked.hpp"
#include "launch/kernel_box.hpp"
#include "owner/captures.hpp"

// Launches of tile kernels, from the outside in: fast_launch() is cudacore.tile.launch, and
// try_launch() queues what is like an earlier launch. All others go to the function in Python
// behind it (cudacore/tile/_launch.py), which finds out what is wrong, compiles, and calls add()
// and try_launch(), or launch_once() for arguments that no key tells apart.

namespace cudacore::bindings {
namespace {

constexpr char how_made[] = "cudacore.tile.kernel(function)";
constexpr std::size_t most_known = 1024;

void require_count(const char* what, Py_ssize_t given, Py_ssize_t wanted) {
  if (given == wanted) return;
  throw py::type_error(std::string(what) + " takes " + std::to_string(wanted) + " arguments");
}

template <typename T>
const T& require(PyObject* object, const char* what) {
  if (const T* value = get_if<T>(object)) return *value;
  refuse_type("_TileLaunches: the argument", what, object);
}

std::string_view bytes_of(std::span<const std::uint64_t> key) noexcept {
  return {reinterpret_cast<const char*>(key.data()), key.size_bytes()};  // NOLINT
}

/// A grid as most launches have it: a tuple of one to three ints.
std::optional<Dim3> to_plain_grid(PyObject* object) noexcept {
  constexpr long long most = (1 << 24) - 1;
  if (PyTuple_CheckExact(object) == 0) return std::nullopt;
  const Py_ssize_t rank = PyTuple_GET_SIZE(object);
  Dim3 grid{1, 1, 1};
  if (rank < 1 || rank > 3) return std::nullopt;
  for (Py_ssize_t i = 0; i < rank; ++i) {
    PyObject* extent = PyTuple_GET_ITEM(object, i);
    if (PyLong_CheckExact(extent) == 0) return std::nullopt;
    int overflowed = 0;
    const long long value = as_long_long(extent, overflowed);
    if (overflowed != 0 || value < 0 || value > most) return std::nullopt;
    grid.at(static_cast<std::size_t>(i)) = static_cast<unsigned>(value);
  }
  return grid;
}

/// The arguments as most launches have them: a tuple or a list. Null for others.
py::object to_plain_tuple(PyObject* object) {
  if (PyTuple_CheckExact(object) != 0) return py::reinterpret_borrow<py::object>(object);
  return PyList_CheckExact(object) != 0 ? checked(PyList_AsTuple(object)) : py::object();
}

/// The handle of a stream of other code; unset for what is none.
std::optional<CUstream> to_plain_handle(PyObject* object) {
  if (PyLong_CheckExact(object) != 0) {
    int overflowed = 0;
    const long long handle = as_long_long(object, overflowed);
    if (overflowed != 0 || handle < 0) return std::nullopt;
    return reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(handle));  // NOLINT
  }
  static PyObject* const name = interned("__cuda_stream__");
  if (_PyType_Lookup(Py_TYPE(object), name) == nullptr) return std::nullopt;
  return foreign_stream(object);
}

/// Whether what a kernel was compiled from stands for the same.
bool is_current(const KnownTileLaunch& launch) {
  return std::all_of(launch.watched.begin(), launch.watched.end(), [](const WatchedName& one) {
    PyObject* now = PyDict_GetItemWithError(one.names, one.name);
    if (now == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
    return now == one.thing;
  });
}

/// Launches what is like an earlier launch; returns whether it is.
bool queue_known(const TileLaunches::Box& box, const owner::StreamBox& queue, const Dim3& grid,
                 TileArguments& arguments, bool is_dependent) {
  const std::shared_ptr<error::ContextBox>& context = queue.work_context();
  const int device = context->device;
  if (arguments.device() != TileArguments::no_device && arguments.device() != device) return false;
  arguments.set_place(device, is_dependent);
  const auto found = box.known.find(bytes_of(arguments.key()));
  if (found == box.known.end()) return false;
  const std::shared_ptr<const KnownTileLaunch> launch = found->second;
  if (!is_current(*launch)) return false;
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0) return true;
  LaunchConfig config = launch->config;
  config.grid = grid;
  LaunchArrays arrays(queue, context);
  for (const LaunchArrays::Number& number : arguments.numbers()) arrays.add_number(number);
  queue_launch(queue, *context, config, launch->kernel, arguments.places(), arrays,
               arguments.arrays());
  return true;
}

/// Calls `use` with the stream that a handle of other code means. Its default stream is that of the
/// device whose arrays it passes.
template <typename Use>
bool with_stream(CUstream handle, int device, const Use& use) {
  const bool is_default = handle == nullptr || handle == CU_STREAM_LEGACY;
  if (!is_default || device == TileArguments::no_device) {
    return use(*Stream::from_handle(handle).box());
  }
  owner::captures_possible.store(true, std::memory_order_relaxed);
  owner::StreamBox box;
  box.stream = CU_STREAM_LEGACY;
  box.context = error::primary_context(device);
  return use(box);
}

/// try_launch(stream, grid, args, is_dependent)
PyObject* try_launch(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    require_count("_TileLaunches.try_launch", count, 4);
    if (is_tracing()) [[unlikely]]
      Py_RETURN_TRUE;
    const TileLaunches::Box& box = *get_if<TileLaunches>(self)->box;
    PyObject* queue = args[0];
    const bool is_own = get_if<Stream>(queue) != nullptr;
    const bool is_builder = !is_own && get_if<GraphBuilder>(queue) != nullptr;
    const std::optional<Dim3> grid = to_plain_grid(args[1]);
    const py::object tuple = to_plain_tuple(args[2]);
    if (!grid || !tuple || PyBool_Check(args[3]) == 0) Py_RETURN_FALSE;
    // Before the arguments are read, since it may run Python code.
    std::optional<CUstream> handle;
    if (!is_own && !is_builder) {
      handle = to_plain_handle(queue);
      if (!handle) Py_RETURN_FALSE;
    }
    TileArguments arguments;
    if (!arguments.read(box.parameters, tuple.ptr())) Py_RETURN_FALSE;
    // To find out the stream's context may let other threads run, which may close a Buffer.
    const BorrowedBuffers borrowed(arguments.arrays().data(), arguments.arrays().size());
    const auto launch_on = [&](const owner::StreamBox& stream) {
      return queue_known(box, stream, *grid, arguments, args[3] == Py_True);
    };
    bool is_known = false;
    if (is_own) {
      const Borrowed<Stream> stream(queue);
      is_known = !stream.get().is_closed() && launch_on(*stream.get().box());
    } else if (is_builder) {
      is_known = launch_on(*to_stream(queue).box());
    } else {
      is_known = with_stream(*handle, arguments.device(), launch_on);
    }
    return Py_NewRef(is_known ? Py_True : Py_False);
  });
}

/// cudacore.tile.launch, in front of the function in Python that makes all launches.
struct FastLaunch {
  PyObject* function = nullptr;
  PyTypeObject* kernel = nullptr;
  std::string documentation;
  PyMethodDef definition{};
};

PyObject* fast_launch(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count,
                      PyObject* names) {
  static PyObject* const attribute = interned("_launches");
  const auto& fast = driver::leaked<FastLaunch>();
  PyObject* is_dependent = Py_False;
  bool is_plain = count == 4 && Py_TYPE(args[2]) == fast.kernel;
  if (names != nullptr && is_plain) {
    is_plain = PyTuple_GET_SIZE(names) == 1 &&
               PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0),
                                                "programmatic_dependent_launch") == 0;
    is_dependent = args[count];
  }
  if (is_plain) [[likely]] {
    if (is_tracing()) [[unlikely]]
      Py_RETURN_NONE;
    const auto launches = py::reinterpret_steal<py::object>(PyObject_GetAttr(args[2], attribute));
    if (!launches) return nullptr;
    if (get_if<TileLaunches>(launches.ptr()) != nullptr) {
      const std::array<PyObject*, 4> given{args[0], args[1], args[3], is_dependent};
      PyObject* is_known = try_launch(launches.ptr(), given.data(), 4);
      if (is_known == nullptr) return nullptr;
      Py_DECREF(is_known);
      if (is_known == Py_True) Py_RETURN_NONE;
    }
  }
  return PyObject_Vectorcall(fast.function, args, static_cast<std::size_t>(count), names);
}

/// Makes cudacore.tile.launch. The classes and functions of a module last as long as the process.
py::object make_fast_launch(const py::function& function, const py::type& kernel) {
  auto& fast = driver::leaked<FastLaunch>();
  Py_XSETREF(fast.function, Py_NewRef(function.ptr()));
  fast.kernel = reinterpret_cast<PyTypeObject*>(Py_NewRef(kernel.ptr()));
  fast.documentation =
      "launch(stream, grid, kernel, kernel_args, /, *, "
      "programmatic_dependent_launch=False)\n--\n\n" +
      function.attr("__doc__").cast<std::string>();
  fast.definition = {"launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&fast_launch)),
                     METH_FASTCALL | METH_KEYWORDS, fast.documentation.c_str()};
  const py::object module = function.attr("__module__");
  return checked(PyCFunction_NewEx(&fast.definition, nullptr, module.ptr()));
}

/// Drops the launches that a weak reference to a class, which ends, watches.
PyObject* drop_watched(PyObject* self, PyObject* reference) {
  const auto watcher = py::reinterpret_borrow<py::object>(reference);
  auto* const weak =
      static_cast<std::weak_ptr<TileLaunches::Box>*>(PyCapsule_GetPointer(self, nullptr));
  if (weak == nullptr) return nullptr;
  const std::shared_ptr<TileLaunches::Box> box = weak->lock();
  if (box == nullptr) Py_RETURN_NONE;
  const auto is_watched = [&watcher](const TileLaunches::ByKey::value_type& known) {
    const std::vector<py::object>& watchers = known.second->watchers;
    return std::any_of(watchers.begin(), watchers.end(),
                       [&watcher](const py::object& one) { return one.is(watcher); });
  };
  for (;;) {
    const auto found = std::find_if(box->known.begin(), box->known.end(), is_watched);
    if (found == box->known.end()) Py_RETURN_NONE;
    // What is dropped may run Python code, which must find the table whole, and may change it.
    const auto dropped = box->known.extract(found);
  }
}

/// What the weak references to classes of a launch call.
py::object make_watch(const std::shared_ptr<TileLaunches::Box>& box) {
  using Weak = std::weak_ptr<TileLaunches::Box>;
  static PyMethodDef definition = {"drop_watched", &drop_watched, METH_O, nullptr};
  auto weak = std::make_unique<Weak>(box);
  const py::capsule self(weak.get(), [](void* pointer) { delete static_cast<Weak*>(pointer); });
  static_cast<void>(weak.release());
  return checked(PyCFunction_New(&definition, self.ptr()));
}

/// Holds what the key of an argument has the addresses of, and watches its class: a class that the
/// key alone would keep alive may hold a lot.
void hold(const TileParameter& parameter, PyObject* object, const py::object& watch,
          KnownTileLaunch& launch) {
  if (PyTuple_CheckExact(object) != 0) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i) {
      hold(parameter, PyTuple_GET_ITEM(object, i), watch, launch);
    }
  } else if (parameter.is_constant) {
    launch.held.push_back(py::reinterpret_borrow<py::object>(object));
  } else if (PyType_HasFeature(Py_TYPE(object), Py_TPFLAGS_HEAPTYPE) != 0) {
    auto* const type = reinterpret_cast<PyObject*>(Py_TYPE(object));
    launch.watchers.push_back(checked(PyWeakref_NewRef(type, watch.ptr())));
  }
}

/// Holds names of modules, and what they stand for: tuples of a dict, a str and an object.
void watch_names(PyObject* watched, KnownTileLaunch& launch) {
  if (PyTuple_CheckExact(watched) == 0)
    refuse_type("_TileLaunches.add: watched", "a tuple", watched);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(watched); ++i) {
    PyObject* names = nullptr;
    PyObject* name = nullptr;
    PyObject* thing = nullptr;
    if (PyArg_ParseTuple(PyTuple_GET_ITEM(watched, i), "O!UO", &PyDict_Type, &names, &name,
                         &thing) == 0) {
      throw py::error_already_set();
    }
    for (PyObject* each : {names, name, thing}) {
      launch.held.push_back(py::reinterpret_borrow<py::object>(each));
    }
    launch.watched.push_back({names, name, thing});
  }
}

/// add(stream, args, is_dependent, config, kernel, watched)
PyObject* add(PyObject* self, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    require_count("_TileLaunches.add", count, 6);
    const std::shared_ptr<TileLaunches::Box>& shared = get_if<TileLaunches>(self)->box;
    TileLaunches::Box& box = *shared;
    const Stream stream = to_stream(args[0]);
    const auto& config = require<LaunchConfig>(args[3], "a LaunchConfig");
    const auto& kernel = require<Kernel>(args[4], "a Kernel");
    TileArguments arguments;
    const bool is_known = PyTuple_CheckExact(args[1]) != 0 &&
                          arguments.read(box.parameters, args[1]) && kernel.box()->has_signature &&
                          kernel.box()->plan.slots.size() == arguments.count();
    if (!is_known || stream.box() == nullptr) Py_RETURN_NONE;
    arguments.set_place(stream.box()->work_context()->device, args[2] == Py_True);
    auto launch = std::make_shared<KnownTileLaunch>(config, kernel);
    const py::object watch = make_watch(shared);
    for (std::size_t i = 0; i < box.parameters.size(); ++i) {
      hold(box.parameters[i], PyTuple_GET_ITEM(args[1], static_cast<Py_ssize_t>(i)), watch,
           *launch);
    }
    arguments.hold_dtypes(launch->held);
    watch_names(args[5], *launch);
    // What is dropped may run Python code, which must find the table whole.
    TileLaunches::ByKey dropped;
    if (box.known.size() == most_known) dropped.swap(box.known);
    std::shared_ptr<const KnownTileLaunch> replaced = std::move(launch);
    box.known[std::string(bytes_of(arguments.key()))].swap(replaced);
    Py_RETURN_NONE;
  });
}

/// Whether work queued on a stream would become part of a graph.
bool is_captured(const Stream& stream) {
  return stream.box() != nullptr && owner::is_captured(*stream.box());
}

/// launch_once(stream, config, kernel, passed, used)
PyObject* launch_once(PyObject* /*self*/, PyObject* const* args, Py_ssize_t count) {
  return guarded([&]() -> PyObject* {
    require_count("_TileLaunches.launch_once", count, 5);
    const auto items = [](PyObject* tuple) {
      if (PyTuple_CheckExact(tuple) == 0)
        refuse_type("_TileLaunches: the argument", "a tuple", tuple);
      return std::span<PyObject* const>(PySequence_Fast_ITEMS(tuple),
                                        static_cast<std::size_t>(PyTuple_GET_SIZE(tuple)));
    };
    const auto& config = require<LaunchConfig>(args[1], "a LaunchConfig");
    const auto& kernel = require<Kernel>(args[2], "a Kernel");
    const Stream stream = to_stream(args[0]);
    // Whoever found out where the arrays are has run Python code since then, which may close them.
    for (PyObject* used : items(args[4])) {
      if (const auto* view = get_if<StridedView>(used)) require_open(*view);
    }
    launch_from_python(stream, config, kernel, items(args[3]), items(args[4]));
    Py_RETURN_NONE;
  });
}

/// Each parameter is described by a byte of these bits, those of cudacore/tile/_annotation.py.
enum ParameterBit : unsigned char { constant = 1, exact = 2, wide_int = 4, wide_axes = 8 };

py::object create(const py::bytes& parameters) {
  auto box = std::make_shared<TileLaunches::Box>();
  for (const char one : std::string_view(parameters)) {
    const auto bits = static_cast<unsigned char>(one);
    box->parameters.push_back({.is_constant = (bits & constant) != 0,
                               .is_exact = (bits & exact) != 0,
                               .has_wide_int = (bits & wide_int) != 0,
                               .has_wide_axes = (bits & wide_axes) != 0});
  }
  return checked(make_object(TileLaunches{std::move(box)}));
}

PyMethodDef try_launch_definition = {
    "try_launch", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&try_launch)),
    METH_FASTCALL, "try_launch($self, stream, grid, args, is_dependent, /)"};
PyMethodDef add_definition = {"add", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&add)),
                              METH_FASTCALL,
                              "add($self, stream, args, is_dependent, config, kernel, watched, /)"};
PyMethodDef launch_once_definition = {
    "launch_once", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&launch_once)),
    METH_FASTCALL, "launch_once(stream, config, kernel, passed, used, /)"};

}  // namespace

int CollectorTraits<TileLaunches>::visit(const TileLaunches& launches, visitproc visit, void* arg) {
  if (launches.box.use_count() != 1) return 0;
  for (const auto& [key, launch] : launches.box->known) {
    if (launch.use_count() != 1) continue;
    for (const py::object& held : launch->held) Py_VISIT(held.ptr());
  }
  return 0;
}

void bind_tile_launches(py::module_& module) {
  HeapClass<TileLaunches>(module, "cudacore._TileLaunches", refuse_new<how_made>)
      .def_static("create", quick, py::arg("parameters"), &create)
      .def_static("is_captured", py::arg("stream"), &is_captured)
      .def_static("fast_launch", quick, py::arg("function"), py::arg("kernel"), &make_fast_launch)
      .def_fast(try_launch_definition)
      .def_fast(add_definition)
      .def_fast_static(launch_once_definition);
}

}  // namespace cudacore::bindings
