// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "bindings/collector.hpp"
#include "bindings/heap_type.hpp"
#include "cudacore/context.hpp"
#include "cudacore/device.hpp"
#include "cudacore/event.hpp"
#include "cudacore/kernel.hpp"
#include "cudacore/launch.hpp"
#include "cudacore/memory_resource.hpp"
#include "cudacore/stream.hpp"

// What the Python types hold, and how arguments of several shapes become it.

namespace cudacore::bindings {

/// A Device object: one for each thread and ordinal, with the thread's choice of memory resource.
struct PyDevice {
  Device device;
  std::shared_ptr<MemoryResource> memory_resource;
};

template <>
struct Kept<PyDevice> {
  static constexpr bool any = true;
  static bool may_keep(const PyDevice& /*device*/) noexcept { return true; }
  static int visit(const PyDevice& device, visitproc visit, void* arg) {
    return visit_kept(device.memory_resource, visit, arg);
  }
};

/// A kernel bound to a shape and, perhaps, a stream.
struct Launcher {
  Kernel kernel;
  LaunchConfig config;
  std::optional<Stream> stream;  ///< unset: the current stream at each call
};

template <>
struct Kept<Launcher> {
  static constexpr bool any = true;
  static bool may_keep(const Launcher& launcher) noexcept {
    return launcher.stream && Kept<Stream>::may_keep(*launcher.stream);
  }
  static int visit(const Launcher& launcher, visitproc visit, void* arg) {
    return launcher.stream ? visit_kept(*launcher.stream, visit, arg) : 0;
  }
};

template <>
inline constexpr bool is_subclassable<Stream> = true;
template <>
inline constexpr bool is_subclassable<Buffer> = true;

// By what equality compares: addresses and handles.
template <>
Py_hash_t hash_of(const Stream& stream) noexcept;
template <>
Py_hash_t hash_of(const Event& event) noexcept;
template <>
Py_hash_t hash_of(const Buffer& buffer) noexcept;

/// A path as Python decodes it (os.fsdecode).
[[nodiscard]] py::str to_str(const std::filesystem::path& path);

/// A str or os.PathLike, as os.fsencode() encodes it.
[[nodiscard]] std::filesystem::path to_path(py::handle object);

/// Keeps a Python object alive from C++; lets go of it with the GIL, or not at all once the
/// interpreter is on its way out.
[[nodiscard]] std::shared_ptr<void> keep_alive(py::object object);
/// The object that keep_alive() was given, None for any other owner.
[[nodiscard]] py::object kept_object(const std::shared_ptr<void>& owner);

/// The calling thread's Device object for an ordinal.
[[nodiscard]] py::object device_object(int ordinal);
/// A Device or an int; None is the current device.
[[nodiscard]] Device to_device(py::handle object);
/// A Stream, anything with __cuda_stream__, or None for the current stream.
[[nodiscard]] Stream to_stream(py::handle object);
/// As to_stream(); where no `with stream:` is in force either, the default stream of a device, for
/// work on memory that lives there. -1 is memory of no device.
[[nodiscard]] Stream to_stream(py::handle object, int device);
[[nodiscard]] Stream to_stream(py::handle object, const Buffer& buffer);
/// The Stream, None where it is unset.
[[nodiscard]] py::object to_object(const std::optional<Stream>& stream);
/// As to_stream(), but None stays unset.
[[nodiscard]] std::optional<Stream> to_optional_stream(py::handle object);
/// A MemoryResource, kept alive with the Python object that it is.
[[nodiscard]] std::shared_ptr<MemoryResource> to_memory_resource(py::handle object);
/// Device.allocate(size, *, stream=None); `size` is null if none was given.
[[nodiscard]] PyObject* allocate_on_device(PyDevice& device, py::handle size, py::handle stream);
/// The resource that a Device object allocates from.
[[nodiscard]] const std::shared_ptr<MemoryResource>& resource_of(PyDevice& device);
/// A LaunchConfig or a mapping of its fields.
[[nodiscard]] LaunchConfig to_launch_config(py::handle object);
/// The shape of kernel[grid, block, stream, shmem_size]; the last may be null.
[[nodiscard]] LaunchConfig make_launch_config(py::handle grid, py::handle block,
                                              py::handle shmem_size);
/// An int, or anything whose int() is an address or a handle (cuda.bindings objects).
[[nodiscard]] unsigned long long to_address(py::handle object, const char* what);

/// Whether an object is an int or stands for one; a bool does not.
[[nodiscard]] bool is_index(py::handle object) noexcept;
/// The int that such an object stands for.
struct Index {
  py::object number;
  long long value = 0;
  bool fits = false;  ///< whether `value` holds it

  [[nodiscard]] bool lies_in(long long least, long long most) const noexcept {
    return fits && value >= least && value <= most;
  }
};
[[nodiscard]] Index to_index(py::handle object);

/// An int of 32 bits, or what stands for one; a bool does not. `owner.field` is what messages call
/// it.
/// @throw TypeError, OverflowError
[[nodiscard]] int to_int(py::handle object, const char* owner, const char* field);
/// A number of bytes: an int that is not negative. `what` begins the message.
[[nodiscard]] std::size_t to_byte_count(py::handle object, const char* what);

/// The Stream object of the innermost `with stream:` of the calling thread, borrowed; null where
/// there is none.
[[nodiscard]] PyObject* entered_stream() noexcept;
/// The current stream where no `with stream:` is in force: the legacy default stream.
[[nodiscard]] const Stream& default_stream();
void enter_stream(ObjectOf<Stream> stream);
void leave_stream(const ObjectOf<Stream>& stream);

/// An attribute, None where the object has none. What reading it raises comes through.
[[nodiscard]] py::object attribute_or_none(py::handle object, const char* name);
/// Whether an object has items by key: a dict, or anything with keys().
[[nodiscard]] bool is_mapping(py::handle object);
/// A copy of a dict, which conversions of its values, in Python, cannot change.
[[nodiscard]] py::dict copy_of(py::handle dict);

/// The type's name as a message shows it: "numpy.int64", "int".
[[nodiscard]] std::string type_name(py::handle object);
/// The text of a str, in small letters.
[[nodiscard]] std::string in_small_letters(py::handle text);
/// The repr() of an object as a message shows it; "an int of 16610 bits" for one of many digits.
[[nodiscard]] std::string shown(py::handle object);

/// Adds a named tuple type, of collections, which Python itself has loaded already. Never released.
[[nodiscard]] PyObject* add_named_tuple(py::module_& module, const char* name, const char* fields);

// One function for each file bind_*.cpp.
void bind_options(py::module_& module);
void bind_device(py::module_& module);
void bind_context(py::module_& module);
void bind_stream(py::module_& module);
void bind_event(py::module_& module);
void bind_buffer(py::module_& module);
void bind_memory_resource(py::module_& module);
void bind_signature(py::module_& module);
void bind_object_code(py::module_& module);
void bind_program(py::module_& module);
void bind_linker(py::module_& module);
void bind_kernel(py::module_& module);
void bind_launch_config(py::module_& module);
void bind_launch(py::module_& module);
void bind_simulator(py::module_& module);
void bind_system(py::module_& module);

}  // namespace cudacore::bindings
