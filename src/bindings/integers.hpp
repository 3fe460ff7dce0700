// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <concepts>
#include <limits>
#include <string>
#include <string_view>

// How Python's integers are read.

namespace cudacore::bindings {

namespace py = pybind11;

/// The value of an int; `overflowed` says in which direction if it does not fit.
inline long long as_long_long(PyObject* object, int& overflowed) noexcept {
#if PY_VERSION_HEX >= 0x030C0000
  const auto* number = reinterpret_cast<const PyLongObject*>(object);
  if (PyUnstable_Long_IsCompact(number) != 0) return PyUnstable_Long_CompactValue(number);
#endif
  return PyLong_AsLongLongAndOverflow(object, &overflowed);
}

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

/// For an object that may be something else too, or where a wrong one is not an argument.
[[nodiscard]] Index to_index(py::handle object);

/// What an argument may be, if that is less than its type can hold.
template <std::integral T>
struct Range {
  T least = std::numeric_limits<T>::min();
  T most = std::numeric_limits<T>::max();
};

/// The least and the most of any range. A bound of the type's own is exceeded by an OverflowError,
/// a narrower one by a ValueError.
struct Bounds {
  long long least = 0;
  unsigned long long most = 0;
  bool least_of_type = false;
  bool most_of_type = false;
};

/// The bits of an int within bounds.
[[nodiscard]] unsigned long long checked_int(py::handle object, std::string_view what,
                                             const Bounds& bounds);

/// An argument that is an int or stands for one. `what` begins the messages: "Buffer.fill: width".
/// @throw TypeError, OverflowError if the type cannot hold it, ValueError if it is out of range
template <std::integral T>
[[nodiscard]] T to_int(py::handle object, std::string_view what, Range<T> range = {}) {
  using Limits = std::numeric_limits<T>;
  const Bounds bounds{static_cast<long long>(range.least),
                      static_cast<unsigned long long>(range.most), range.least == Limits::min(),
                      range.most == Limits::max()};
  return static_cast<T>(checked_int(object, what, bounds));
}

/// A number of bytes: no more than any memory has, and not negative.
/// @throw TypeError, OverflowError, ValueError
[[nodiscard]] std::size_t to_size(py::handle object, std::string_view what);

}  // namespace cudacore::bindings
