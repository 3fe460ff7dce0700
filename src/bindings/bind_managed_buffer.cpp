// SPDX-License-Identifier: Apache-2.0
#include <map>

#include "bindings/conversions.hpp"
#include "bindings/device_object.hpp"
#include "bindings/keywords.hpp"
#include "bindings/managed_buffer.hpp"
#include "bindings/recorder.hpp"
#include "runtime/captured_work.hpp"

// Managed memory: ManagedBuffer, Host and the batches of cudacore.utils.

namespace cudacore::bindings {
namespace {

using Kind = MemoryLocation::Kind;
using BufferObject = ObjectOf<Buffer>;

/// The one Host object for a location.
py::object host_object(const MemoryLocation& location) {
  static auto& made = *std::make_unique<std::map<std::pair<Kind, int>, py::object>>().release();
  py::object& known = made[{location.kind, location.id}];
  if (!known) known = checked(make_object(location));
  return known;
}

int to_numa_node(py::handle object) {
  if (!is_index(object)) {
    raise_as_both(PyExc_TypeError, PyExc_ValueError,
                  "Host: numa_id must be an int or None, not " + type_name(object));
  }
  // Linux has 1024 nodes at most. What is made for one is kept.
  return to_int<int>(object, "Host: numa_id", {0, 1023});
}

/// Host(numa_id=None, *, is_numa_current=False)
PyObject* new_host(PyTypeObject* /*type*/, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static constexpr const char* keywords[] = {"numa_id", "is_numa_current"};
    std::array<py::handle, 2> given{Py_None, Py_False};
    parse_keywords("Host", keywords, given, args, kwargs);
    const int is_current = PyObject_IsTrue(given[1].ptr());
    if (is_current < 0) throw py::error_already_set();
    if (is_current != 0 && !given[0].is_none()) {
      throw py::value_error("Host: give numa_id or is_numa_current, not both");
    }
    const MemoryLocation location = is_current != 0 ? MemoryLocation::host_numa_current()
                                    : given[0].is_none()
                                        ? MemoryLocation::host()
                                        : MemoryLocation::host_numa(to_numa_node(given[0]));
    return host_object(location).release().ptr();
  });
}

py::object numa_id(const MemoryLocation& self) {
  return self.kind == Kind::host_numa ? py::object(py::int_(self.id)) : py::object(py::none());
}

void bind_host(py::module_& module) {
  HeapClass<MemoryLocation> type(module, "cudacore.Host", &new_host);
  type.def_class(
          "numa_current", quick,
          [](py::handle /*type*/) { return host_object(MemoryLocation::host_numa_current()); })
      .property("numa_id", quick, &numa_id)
      .property("is_numa_current", quick,
                [](const MemoryLocation& self) { return self.kind == Kind::host_numa_current; })
      .def("__reduce__", quick,
           [](const MemoryLocation& self) {
             const py::handle host = type_of<MemoryLocation>();
             const bool is_current = self.kind == Kind::host_numa_current;
             return is_current ? py::tuple(py::make_tuple(host.attr("numa_current"), py::tuple()))
                               : py::tuple(py::make_tuple(host, py::make_tuple(numa_id(self))));
           })
      .def("__repr__", quick, [](const MemoryLocation& self) -> std::string {
        switch (self.kind) {
          case Kind::host_numa:
            return "Host(numa_id=" + std::to_string(self.id) + ")";
          case Kind::host_numa_current:
            return "Host.numa_current()";
          default:
            return "Host()";
        }
      });
}

ManagedBuffer managed(const BufferObject& self) { return ManagedBuffer(self.value()); }

/// A location for all buffers, or a sequence of one for each.
std::vector<MemoryLocation> to_locations(py::handle object, const char* function,
                                         std::size_t buffers) {
  const std::string what = std::string(function) + ": locations";
  const bool is_one =
      get_if<PyDevice>(object.ptr()) != nullptr || get_if<MemoryLocation>(object.ptr()) != nullptr;
  if (is_one) return {to_location(object, what)};
  if (PySequence_Check(object.ptr()) == 0 || PyUnicode_Check(object.ptr()) != 0) {
    refuse_type(what, "a Device, a Host or a sequence of them", object);
  }
  std::vector<MemoryLocation> locations;
  for (const py::handle item : py::tuple(py::reinterpret_borrow<py::object>(object))) {
    locations.push_back(to_location(item, what));
  }
  if (locations.size() != buffers) {
    throw std::invalid_argument(std::string(function) + ": " + std::to_string(locations.size()) +
                                " locations are given for " + std::to_string(buffers) +
                                " buffers: give one for each, or a single one, not in a sequence");
  }
  return locations;
}

/// The buffers of a batch, and the stream.
struct BatchArguments {
  std::vector<ManagedBuffer> buffers;
  Stream stream;

  BatchArguments(const char* function, py::handle given_stream, const py::tuple& given)
      : stream(to_stream(given_stream)) {
    for (Buffer& buffer : shares_of(given)) buffers.emplace_back(std::move(buffer));
    require_recorded(stream);
    refuse_stream(without_gil([function, on = stream] { return batch_refusal(function, on); }));
  }
};

template <auto run, const char* function, const char* for_one>
auto moving_batch(py::handle stream, py::handle buffers, py::handle locations) {
  const py::tuple given = to_buffers(buffers, std::string(function) + ": buffers", for_one);
  std::vector<MemoryLocation> places = to_locations(locations, function, given.size());
  BatchArguments arguments(function, stream, given);
  return [all = std::move(arguments), places = std::move(places)] {
    run(all.buffers, places, all.stream);
  };
}

constexpr char prefetch_name[] = "prefetch_batch";
constexpr char prefetch_one[] = "buffer.prefetch()";
constexpr char discard_name[] = "discard_batch";
constexpr char discard_one[] = "buffer.discard()";
constexpr char discard_prefetch_name[] = "discard_prefetch_batch";
constexpr char discard_prefetch_one[] = "buffer.discard_prefetch()";

void bind_batches(py::module_& module) {
  MethodsWithPolicy<py::module_> functions(module);
  functions.def(prefetch_name, py::arg("stream"), py::arg("buffers"), py::arg("locations"),
                &moving_batch<&prefetch_batch, prefetch_name, prefetch_one>);
  functions.def(
      discard_prefetch_name, py::arg("stream"), py::arg("buffers"), py::arg("locations"),
      &moving_batch<&discard_prefetch_batch, discard_prefetch_name, discard_prefetch_one>);
  functions.def(discard_name, py::arg("stream"), py::arg("buffers"),
                [](py::handle stream, py::handle buffers) {
                  const py::tuple given =
                      to_buffers(buffers, std::string(discard_name) + ": buffers", discard_one);
                  BatchArguments arguments(discard_name, stream, given);
                  return [all = std::move(arguments)] { discard_batch(all.buffers, all.stream); };
                });
}

/// What is written in Python: the set of who accesses a buffer.
py::module_ sets() { return py::module_::import("cudacore._accessed_by"); }

py::object place(const BufferObject& self,
                 std::optional<MemoryLocation> (ManagedBuffer::*read)() const) {
  return to_object(without_gil([buffer = managed(self), read] { return (buffer.*read)(); }));
}

py::list accessed_by(const BufferObject& self) {
  py::list locations;
  for (const MemoryLocation& location :
       without_gil([buffer = managed(self)] { return buffer.accessed_by(); })) {
    locations.append(to_object(location));
  }
  return locations;
}

void bind_class(py::module_& module) {
  auto type = HeapClass<Buffer>::derived(module, "cudacore.ManagedBuffer");
  managed_buffer_type = type.type();
  type.property("read_mostly",
                [](const Buffer& self) { return ManagedBuffer(self).read_mostly(); });
  type.setter("read_mostly", [](const BufferObject& self, py::handle on) {
    return [buffer = managed(self), is_on = to_bool(on, "ManagedBuffer.read_mostly")] {
      buffer.set_read_mostly(is_on);
    };
  });
  type.property("preferred_location", in_parts, [](const BufferObject& self) {
    return place(self, &ManagedBuffer::preferred_location);
  });
  type.setter("preferred_location", [](const BufferObject& self, py::handle location) {
    std::optional<MemoryLocation> chosen;
    if (!location.is_none()) chosen = to_location(location, "ManagedBuffer.preferred_location");
    return [buffer = managed(self), chosen] { buffer.set_preferred_location(chosen); };
  });
  type.property("last_prefetch_location", in_parts, [](const BufferObject& self) {
    return place(self, &ManagedBuffer::last_prefetch_location);
  });
  type.property("accessed_by", in_parts,
                [](const py::object& self) { return sets().attr("AccessedBySetProxy")(self); });
  type.setter("accessed_by", in_parts, [](const py::object& self, const py::object& locations) {
    sets().attr("assign")(self, locations);
  });
  type.def("_accessed_by", in_parts, &accessed_by);
  type.def("_set_accessed_by", py::arg("location"), py::arg("on"),
           [](const BufferObject& self, py::handle location, bool on) {
             const MemoryLocation chosen = to_location(location, "ManagedBuffer.accessed_by");
             return [buffer = managed(self), chosen, on] { buffer.set_accessed_by(chosen, on); };
           });
  const auto stream = py::arg("stream") = py::none();
  type.def("prefetch", py::arg("location"), py::kw_only(), stream,
           [](const BufferObject& self, py::handle location, py::handle given) {
             const MemoryLocation chosen =
                 to_location(location, "ManagedBuffer.prefetch: location");
             const Stream on = to_stream(given, Buffer(self.value()));
             require_recorded(on);
             return [buffer = managed(self), chosen, on] { buffer.prefetch(chosen, on); };
           });
  type.def("discard", py::kw_only(), stream, [](const BufferObject& self, py::handle given) {
    const Stream on = to_stream(given, Buffer(self.value()));
    require_recorded(on);
    refuse_stream(without_gil([on] { return batch_refusal("ManagedBuffer.discard", on); }));
    return [buffer = managed(self), on] { buffer.discard(on); };
  });
  type.def("discard_prefetch", py::arg("location"), py::kw_only(), stream,
           [](const BufferObject& self, py::handle location, py::handle given) {
             static constexpr char what[] = "ManagedBuffer.discard_prefetch";
             const MemoryLocation chosen = to_location(location, std::string(what) + ": location");
             const Stream on = to_stream(given, Buffer(self.value()));
             require_recorded(on);
             refuse_stream(without_gil([on] { return batch_refusal(what, on); }));
             return [buffer = managed(self), chosen, on] { buffer.discard_prefetch(chosen, on); };
           });
}

}  // namespace

MemoryLocation to_location(py::handle object, const std::string& what) {
  if (const auto* device = get_if<PyDevice>(object.ptr())) {
    return MemoryLocation::device(device->device.id());
  }
  if (const auto* host = get_if<MemoryLocation>(object.ptr())) return *host;
  if (object.is_none()) {
    raise_as_both(PyExc_TypeError, PyExc_ValueError,
                  what + " must be a Device or a Host, not None");
  }
  refuse_type(what, "a Device or a Host", object);
}

py::object to_object(const std::optional<MemoryLocation>& location) {
  if (!location) return py::none();
  return location->kind == Kind::device ? device_object(location->id) : host_object(*location);
}

py::tuple to_buffers(py::handle object, const std::string& what, const char* for_one) {
  if (get_if<Buffer>(object.ptr()) != nullptr) {
    refuse_type(what, "a sequence of Buffers", object,
                (std::string("; ") + for_one + " takes a single one").c_str());
  }
  if (PySequence_Check(object.ptr()) == 0 || PyUnicode_Check(object.ptr()) != 0) {
    refuse_type(what, "a sequence of Buffers", object);
  }
  py::tuple items(py::reinterpret_borrow<py::object>(object));
  for (const py::handle item : items) {
    if (get_if<Buffer>(item.ptr()) == nullptr) refuse_type(what, "a sequence of Buffers", item);
  }
  return items;
}

std::vector<Buffer> shares_of(const py::tuple& buffers) {
  std::vector<Buffer> shares;
  for (const py::handle item : buffers) shares.push_back(*get_if<Buffer>(item.ptr()));
  return shares;
}

void refuse_stream(const std::string& why) {
  if (!why.empty()) raise_as_both(PyExc_TypeError, PyExc_ValueError, why);
}

void bind_managed_buffer(py::module_& module) {
  bind_host(module);
  bind_class(module);
  bind_batches(module);
}

}  // namespace cudacore::bindings
