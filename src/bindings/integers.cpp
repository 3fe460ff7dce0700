// SPDX-License-Identifier: Apache-2.0
#include "bindings/integers.hpp"

#include <bit>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include "bindings/conversions.hpp"

namespace cudacore::bindings {
namespace {

/// The value of an int that is too large for a long long, if it fits.
std::optional<unsigned long long> as_unsigned(const py::object& number) {
  const unsigned long long value = PyLong_AsUnsignedLongLong(number.ptr());
  if (PyErr_Occurred() == nullptr) return value;
  PyErr_Clear();
  return std::nullopt;
}

/// "2**32 - 1", "1023"
std::string shown_most(unsigned long long most) {
  constexpr unsigned long long largest_in_digits = 0xFFFF;
  if (most <= largest_in_digits || !std::has_single_bit(most + 1)) {
    const bool is_all = most == std::numeric_limits<unsigned long long>::max();
    return is_all ? "2**64 - 1" : std::to_string(most);
  }
  return "2**" + std::to_string(std::bit_width(most)) + " - 1";
}

/// "-2**31", "0"
std::string shown_least(long long least) {
  if (least >= 0) return std::to_string(least);
  const auto size = ~static_cast<unsigned long long>(least);  // one less than its absolute value
  return std::has_single_bit(size + 1) ? "-2**" + std::to_string(std::bit_width(size))
                                       : std::to_string(least);
}

}  // namespace

bool is_index(py::handle object) noexcept {
  return PyBool_Check(object.ptr()) == 0 && PyIndex_Check(object.ptr()) != 0;
}

Index to_index(py::handle object) {
  py::object number = checked(PyNumber_Index(object.ptr()));
  int overflowed = 0;
  const long long value = as_long_long(number.ptr(), overflowed);
  return {std::move(number), value, overflowed == 0};
}

unsigned long long checked_int(py::handle object, std::string_view what, const Bounds& bounds) {
  if (!is_index(object)) refuse_type(std::string(what), "an int", object);
  const Index index = to_index(object);
  const std::optional<unsigned long long> magnitude =
      index.fits && index.value >= 0 ? static_cast<unsigned long long>(index.value)
      : index.fits                   ? std::nullopt
                                     : as_unsigned(index.number);
  const bool is_low = index.fits ? index.value < bounds.least : index.number < py::int_(0);
  const bool is_high = !is_low && (magnitude ? *magnitude > bounds.most : !index.fits);
  if (!is_low && !is_high) return magnitude.value_or(static_cast<unsigned long long>(index.value));
  const std::string message = std::string(what) + " must lie in " + shown_least(bounds.least) +
                              " .. " + shown_most(bounds.most) + ", not " + shown(index.number);
  if (is_low ? bounds.least_of_type : bounds.most_of_type) throw std::overflow_error(message);
  throw py::value_error(message);
}

std::size_t to_size(py::handle object, std::string_view what) {
  return static_cast<std::size_t>(to_int<std::int64_t>(object, what, {.least = 0}));
}

}  // namespace cudacore::bindings
