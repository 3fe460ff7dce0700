// SPDX-License-Identifier: Apache-2.0
#include "bindings/python_resource.hpp"

#include "error/sticky.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::bindings {

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

template <typename T>
T PyMemoryResource::read(const char* name) const {
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

bool PyMemoryResource::is_device_accessible() const { return read<bool>("is_device_accessible"); }
bool PyMemoryResource::is_host_accessible() const { return read<bool>("is_host_accessible"); }
bool PyMemoryResource::is_managed() const { return read<bool>("is_managed"); }
int PyMemoryResource::device_id() const { return read<int>("device_id"); }

}  // namespace cudacore::bindings
