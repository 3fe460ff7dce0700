// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "bindings/collector.hpp"
#include "bindings/integers.hpp"

// Arguments that may have several forms, and how messages show them.

namespace cudacore::bindings {

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

/// Keeps a Python object alive from C++; releases it with the GIL, or not at all once the
/// interpreter is shutting down.
[[nodiscard]] std::shared_ptr<void> keep_alive(py::object object);
/// The object that keep_alive() was given, None for any other owner.
[[nodiscard]] py::object kept_object(const std::shared_ptr<void>& owner);

/// A Device or an int; None is the current device.
[[nodiscard]] Device to_device(py::handle object);
/// A Stream, anything with __cuda_stream__, or None for the current stream.
[[nodiscard]] Stream to_stream(py::handle object);
/// As to_stream(), but without a `with stream:`, None is the default stream of a device, for work
/// on memory that lives there. -1 is memory of no device.
[[nodiscard]] Stream to_stream(py::handle object, int device);
[[nodiscard]] Stream to_stream(py::handle object, const Buffer& buffer);
/// The Stream; None if it is unset.
[[nodiscard]] py::object to_object(const std::optional<Stream>& stream);
/// As to_stream(), but None stays unset.
[[nodiscard]] std::optional<Stream> to_optional_stream(py::handle object);
/// A MemoryResource, kept alive with the Python object that it is.
[[nodiscard]] std::shared_ptr<MemoryResource> to_memory_resource(py::handle object);
/// An int, or anything whose int() is an address or a handle (cuda.bindings objects).
[[nodiscard]] unsigned long long to_address(py::handle object, const char* what);

/// True or False, and nothing else that is true or false. `what` begins the message.
/// @throw TypeError
[[nodiscard]] bool to_bool(py::handle object, const std::string& what);

/// An attribute; None if the object does not have it. What reading it raises is passed on.
[[nodiscard]] py::object attribute_or_none(py::handle object, const char* name);
/// Whether an object has items by key: a dict, or anything with keys().
[[nodiscard]] bool is_mapping(py::handle object);
/// A copy of a dict, which Python code cannot change while its values are converted.
[[nodiscard]] py::dict copy_of(py::handle dict);

/// The type's name as a message shows it: "numpy.int64", "int".
[[nodiscard]] std::string type_name(py::handle object);
/// "an int", "a cudacore.Buffer"
[[nodiscard]] std::string type_with_article(py::handle object);
/// "StreamAttributes(priority=0, ...)", with the attributes that can be read. Runs Python code.
[[nodiscard]] std::string shown_attributes(py::handle object, const std::string& name,
                                           std::initializer_list<const char*> attributes);
/// "stream must be a Stream, not int", and what to do instead.
/// @throw TypeError
[[noreturn]] void refuse_type(const std::string& what, const std::string& expected,
                              py::handle object, const char* advice = "");
/// The text of a str, in lowercase.
[[nodiscard]] std::string in_small_letters(py::handle text);
/// What a compiler or a driver says as a str: it may quote bytes that are not valid UTF-8, of a
/// path or of the source, which show as \xe9.
[[nodiscard]] py::str foreign_text(std::string_view text);
/// The repr() of an object as a message shows it; "an int of 16610 bits" for one of many digits.
[[nodiscard]] std::string shown(py::handle object);

}  // namespace cudacore::bindings
