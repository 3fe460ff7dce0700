// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"
#include "bindings/foreign_view.hpp"
#include "bindings/host_buffer.hpp"
#include "cudacore/host_registration.hpp"

// Host memory that was allocated elsewhere, as a Buffer.

namespace cudacore::bindings {
namespace {

constexpr char function_name[] = "register_host";

/// The memory of an object, and what keeps it.
struct HostMemory {
  std::span<std::byte> bytes{};
  bool is_read_only = false;
  py::object owner{};
};

HostMemory shown_by_buffer(py::handle array) {
  py::object view = checked(PyMemoryView_FromObject(array.ptr()));
  const Py_buffer& memory = *PyMemoryView_GET_BUFFER(view.ptr());
  if (PyBuffer_IsContiguous(&memory, 'A') == 0) {
    throw py::value_error("register_host: the array has gaps between its elements");
  }
  if (memory.format != nullptr && names_object(memory.format)) {
    throw py::type_error("register_host: the array holds Python objects, not bytes");
  }
  return {{static_cast<std::byte*>(memory.buf), static_cast<std::size_t>(memory.len)},
          memory.readonly != 0,
          std::move(view)};
}

HostMemory shown_by_array(const py::object& array) {
  if (attribute_or_none(array, "__dlpack__").is_none() &&
      attribute_or_none(array, "__array_interface__").is_none()) {
    refuse_type("register_host: array", "an object with the buffer protocol, or an array", array);
  }
  StridedView view = view_array(array, py::int_(-1), {&read_any_dlpack, &read_host_interface});
  if (view.device.type != dlpack::DeviceType::cpu) {
    throw py::value_error("register_host: the array's memory is on device " +
                          std::to_string(view.device_id) + ", or page-locked already");
  }
  if (!view.layout.is_dense()) {
    throw py::value_error("register_host: the array has gaps between its elements");
  }
  const auto item = static_cast<std::int64_t>(view.element.size);
  const auto first = view.address + static_cast<CUdeviceptr>(view.layout.range().first * item);
  HostMemory memory;
  memory.bytes = {reinterpret_cast<std::byte*>(static_cast<std::uintptr_t>(first)),
                  static_cast<std::size_t>(view.layout.count() * item)};
  memory.is_read_only = view.is_read_only;
  memory.owner = py::cast(std::move(view));
  return memory;
}

bool to_flag(py::handle object, const char* name) {
  return to_bool(object, std::string("register_host: ") + name);
}

auto register_array(const py::object& array, py::handle portable, py::handle mapped,
                    py::handle io_memory, py::handle read_only) {
  HostRegistrationOptions options;
  options.portable = to_flag(portable, "portable");
  options.mapped = to_flag(mapped, "mapped");
  options.io_memory = to_flag(io_memory, "io_memory");
  if (get_if<Buffer>(array.ptr()) != nullptr) {
    refuse_type("register_host: array", "memory that the driver doesn't know", array,
                "; page-locked buffers come from PinnedMemoryResource");
  }
  HostMemory memory =
      PyObject_CheckBuffer(array.ptr()) != 0 ? shown_by_buffer(array) : shown_by_array(array);
  options.read_only = read_only.is_none() ? memory.is_read_only : to_flag(read_only, "read_only");
  if (memory.is_read_only && !options.read_only) {
    throw py::value_error(
        "register_host: the array is read-only, but read_only is False: devices could write it");
  }
  return [bytes = memory.bytes, options, owner = keep_alive(std::move(memory.owner))] {
    return register_host(bytes, options, owner);
  };
}

}  // namespace

void bind_host_registration(py::module_& module) {
  MethodsWithPolicy<py::module_>(module).def(function_name, py::arg("array"), py::kw_only(),
                                             py::arg("portable") = true, py::arg("mapped") = true,
                                             py::arg("io_memory") = false,
                                             py::arg("read_only") = py::none(), &register_array);
}

}  // namespace cudacore::bindings
