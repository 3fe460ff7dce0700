// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "bindings/conversions.hpp"
#include "bindings/device_object.hpp"
#include "bindings/external_memory.hpp"
#include "bindings/fast_method.hpp"

namespace cudacore::bindings {
namespace {

constexpr char how_memory_is_made[] = "ExternalMemory.from_fd()";
constexpr char how_semaphore_is_made[] = "ExternalSemaphore.from_fd()";

auto memory_from_fd(py::handle fd, py::handle size, py::handle dedicated) {
  const int file = to_int<int>(fd, "ExternalMemory.from_fd: fd", {.least = 0});
  const std::size_t bytes = to_size(size, "ExternalMemory.from_fd: size");
  const bool is_dedicated = to_bool(dedicated, "ExternalMemory.from_fd: dedicated");
  return [=] { return ExternalMemory::from_fd(file, bytes, is_dedicated); };
}

auto map_external_buffer(const ObjectOf<ExternalMemory>& self, py::handle offset, py::handle size) {
  const std::size_t first = to_size(offset, "ExternalMemory.map_buffer: offset");
  const std::optional<std::size_t> given = size.is_none()
                                               ? std::optional<std::size_t>()
                                               : to_size(size, "ExternalMemory.map_buffer: size");
  return [memory = ExternalMemory(self.value()), first, given] {
    const std::size_t all = memory.size();
    return memory.map_buffer(first, given.value_or(all - std::min(first, all)));
  };
}

auto semaphore_from_fd(py::handle fd, py::handle timeline) {
  const int file = to_int<int>(fd, "ExternalSemaphore.from_fd: fd", {.least = 0});
  const bool is_timeline = to_bool(timeline, "ExternalSemaphore.from_fd: timeline");
  return [=] { return ExternalSemaphore::from_fd(file, is_timeline); };
}

/// What Stream.signal and Stream.wait_signal have in common.
template <auto function>
auto on_stream(const ObjectOf<Stream>& self, py::handle semaphore, py::handle value,
               const std::string& what) {
  const auto* chosen = get_if<ExternalSemaphore>(semaphore.ptr());
  if (chosen == nullptr) refuse_type(what + ": semaphore", "an ExternalSemaphore", semaphore);
  const ExternalSemaphore kept = *chosen;
  if (value.is_none() && kept.is_timeline()) {
    throw py::value_error(what + ": give the value that the timeline counts to");
  }
  const std::uint64_t count = value.is_none() ? 0 : to_int<std::uint64_t>(value, what + ": value");
  return [stream = Stream(self.value()), kept, count] { (kept.*function)(stream, count); };
}

}  // namespace

template <>
Py_hash_t hash_of(const ExternalMemory& memory) noexcept {
  return static_cast<Py_hash_t>(std::hash<const void*>{}(memory.box().get()));
}
template <>
Py_hash_t hash_of(const ExternalSemaphore& semaphore) noexcept {
  return static_cast<Py_hash_t>(std::hash<const void*>{}(semaphore.box().get()));
}

void bind_external_memory(py::module_& module) {
  HeapClass<ExternalMemory>(module, "cudacore.ExternalMemory", refuse_new<how_memory_is_made>)
      .def_static("from_fd", py::arg("fd"), py::arg("size"), py::kw_only(),
                  py::arg("dedicated") = false, &memory_from_fd)
      .property("handle", quick, read<&ExternalMemory::handle>)
      .property("size", quick, read<&ExternalMemory::size>)
      .property("device", quick,
                [](const ExternalMemory& self) { return device_object(self.device().id()); })
      .property("is_closed", quick, read<&ExternalMemory::is_closed>)
      .def("map_buffer", py::arg("offset") = 0, py::arg("size") = py::none(), &map_external_buffer)
      .def("close", in_parts,
           [](const ObjectOf<ExternalMemory>& self) { close_object<ExternalMemory>(self.ptr()); })
      .def("__enter__", quick, [](py::object self) { return self; })
      .def("__exit__", in_parts,
           [](const ObjectOf<ExternalMemory>& self, const py::args&) {
             close_object<ExternalMemory>(self.ptr());
           })
      .def_identity(
          [](const ExternalMemory& a, const ExternalMemory& b) { return a.box() == b.box(); })
      .def("__repr__", quick, [](const ExternalMemory& self) {
        return self.is_closed() ? std::string("<ExternalMemory, closed>")
                                : "<ExternalMemory of " + std::to_string(self.size()) + " bytes>";
      });
  HeapClass<ExternalSemaphore>(module, "cudacore.ExternalSemaphore",
                               refuse_new<how_semaphore_is_made>)
      .def_static("from_fd", py::arg("fd"), py::kw_only(), py::arg("timeline") = false,
                  &semaphore_from_fd)
      .property("handle", quick, read<&ExternalSemaphore::handle>)
      .property("is_timeline", quick, read<&ExternalSemaphore::is_timeline>)
      .property("device", quick,
                [](const ExternalSemaphore& self) { return device_object(self.device().id()); })
      .property("is_closed", quick, read<&ExternalSemaphore::is_closed>)
      .def("close", in_parts,
           [](const ObjectOf<ExternalSemaphore>& self) {
             close_object<ExternalSemaphore>(self.ptr());
           })
      .def("__enter__", quick, [](py::object self) { return self; })
      .def("__exit__", in_parts,
           [](const ObjectOf<ExternalSemaphore>& self, const py::args&) {
             close_object<ExternalSemaphore>(self.ptr());
           })
      .def_identity(
          [](const ExternalSemaphore& a, const ExternalSemaphore& b) { return a.box() == b.box(); })
      .def("__repr__", quick, [](const ExternalSemaphore& self) {
        return std::string("<ExternalSemaphore") + (self.is_closed()     ? ", closed>"
                                                    : self.is_timeline() ? ", timeline>"
                                                                         : ">");
      });
}

void add_external_signals(HeapClass<Stream>& type) {
  type.def("signal", py::arg("semaphore"), py::arg("value") = py::none(),
           [](const ObjectOf<Stream>& self, py::handle semaphore, py::handle value) {
             return on_stream<&ExternalSemaphore::signal>(self, semaphore, value, "Stream.signal");
           });
  type.def("wait_signal", py::arg("semaphore"), py::arg("value") = py::none(),
           [](const ObjectOf<Stream>& self, py::handle semaphore, py::handle value) {
             return on_stream<&ExternalSemaphore::wait>(self, semaphore, value,
                                                        "Stream.wait_signal");
           });
}

}  // namespace cudacore::bindings
