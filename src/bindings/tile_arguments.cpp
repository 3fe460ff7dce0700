// SPDX-License-Identifier: Apache-2.0
#include "bindings/tile_arguments.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "bindings/array_argument.hpp"
#include "bindings/conversions.hpp"
#include "bindings/dlpack_import.hpp"
#include "bindings/foreign_view.hpp"
#include "bindings/integers.hpp"
#include "bindings/recorder.hpp"
#include "bindings/strided_view.hpp"

namespace cudacore::bindings {
namespace {

using dlpack::DeviceType;
using dlpack::Tensor;

/// What compiled kernels may take for granted: multiples of so many bytes of addresses and strides,
/// and of so many elements of extents. They are compiled for what cudacore/tile/_launch_argument.py
/// finds, which has the same two numbers.
constexpr std::int64_t alignment = 16;
constexpr int most_dimensions = 64;
constexpr int deepest = 8;
/// The most words of a key, and values, that one argument without items takes.
constexpr std::size_t room = 2 * most_dimensions + 8;

std::uint64_t address_of(const void* pointer) noexcept {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

/// Whether a tensor of PyTorch may be one that is negated only when PyTorch reads it, which DLPack
/// doesn't say: the imaginary part of a conjugated tensor, whose elements are an even number apart
/// along each axis.
bool may_be_negated(const Tensor& tensor) noexcept {
  if (tensor.type.code != dlpack::TypeCode::real) return false;
  if (tensor.strides == nullptr) {
    return std::all_of(tensor.shape, tensor.shape + tensor.dimensions,
                       [](std::int64_t extent) { return extent == 1; });
  }
  for (int i = 0; i < tensor.dimensions; ++i) {
    if (tensor.shape[i] > 1 && tensor.strides[i] % 2 != 0) return false;
  }
  return true;
}

/// Whether its memory is there, and its elements have a type that tells them from others.
bool is_plain(const StridedView& view) noexcept {
  if (!view.is_typed || !view.element.dlpack) return false;
  const Buffer* buffer = get_if<Buffer>(view.exporter.ptr());
  return buffer == nullptr || (!buffer->is_closed() && !buffer->box()->is_stale());
}

/// Writes an array's extents, and its strides. Those that say no more than the order are replaced
/// by those of the order: what an axis of one element has is arbitrary.
/// @return false if the elements are too many for 64 bits.
bool lay_out(const Tensor& tensor, std::span<std::int64_t> extents,
             std::span<std::int64_t> strides) noexcept {
  std::int64_t count = 1;
  bool is_in_order = true;
  for (std::size_t i = extents.size(); i-- > 0;) {
    const std::int64_t extent = tensor.shape[i];
    extents[i] = extent;
    strides[i] = count;
    is_in_order &= tensor.strides == nullptr || extent == 1 || tensor.strides[i] == count;
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count)) return false;
  }
  if (!is_in_order && count != 0) std::copy_n(tensor.strides, strides.size(), strides.begin());
  return true;
}

/// Clears an error of Python, except for those that nothing may catch.
void clear(py::error_already_set& raised) {
  if (!raised.matches(PyExc_Exception)) throw raised;
}

}  // namespace

bool TileArguments::read(std::span<const TileParameter> parameters, PyObject* tuple) {
  Found found = read_all(parameters, tuple);
  if (found == Found::others && read_others()) found = read_all(parameters, tuple);
  return found == Found::all;
}

/// All that can be read without running Python code.
TileArguments::Found TileArguments::read_all(std::span<const TileParameter> parameters,
                                             PyObject* tuple) {
  words_ = 1;
  values_used_ = 0;
  arrays_used_ = 0;
  device_ = no_device;
  numbers_.clear();
  if (static_cast<std::size_t>(PyTuple_GET_SIZE(tuple)) != parameters.size()) return Found::wrong;
  Found all = Found::all;
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    PyObject* object = PyTuple_GET_ITEM(tuple, static_cast<Py_ssize_t>(i));
    const Found found = read_one(parameters[i], object, 0);
    if (found == Found::wrong) return found;
    if (found == Found::others) all = found;
  }
  return all;
}

TileArguments::Found TileArguments::read_one(const TileParameter& parameter, PyObject* object,
                                             int depth) {
  if (std::max(words_, values_used_) > most - room) return Found::wrong;
  const PyTypeObject* type = Py_TYPE(object);
  add_word(address_of(type));
  if (type == &PyTuple_Type) return read_items(parameter, object, depth);
  const auto found = [](bool is_known) { return is_known ? Found::all : Found::wrong; };
  if (parameter.is_constant) return found(read_constant(object));
  if (type == &PyLong_Type || type == &PyFloat_Type || type == &PyBool_Type) {
    return found(read_number(parameter, object));
  }
  if (PyObject* number = number_behind(object)) {
    numbers_.push_back({values_used_, object});
    return found(read_number(parameter, number));
  }
  return read_array(parameter, object);
}

TileArguments::Found TileArguments::read_items(const TileParameter& parameter, PyObject* tuple,
                                               int depth) {
  const Py_ssize_t count = PyTuple_GET_SIZE(tuple);
  if (depth == deepest) return Found::wrong;
  add_word(static_cast<std::uint64_t>(count));
  Found all = Found::all;
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Found found = read_one(parameter, PyTuple_GET_ITEM(tuple, i), depth + 1);
    if (found == Found::wrong) return found;
    if (found == Found::others) all = found;
  }
  return all;
}

bool TileArguments::read_constant(PyObject* object) {
  const PyTypeObject* type = Py_TYPE(object);
  std::uint64_t word = address_of(object);  // of what has no equals, or few
  if (type == &PyLong_Type) {
    int overflowed = 0;
    word = static_cast<std::uint64_t>(as_long_long(object, overflowed));
    if (overflowed != 0) return false;
  } else if (type == &PyFloat_Type) {
    word = std::bit_cast<std::uint64_t>(PyFloat_AS_DOUBLE(object));  // tells 0.0 from -0.0
  } else if (number_behind(object) != nullptr) {
    return false;
  }
  add_word(word);
  return true;
}

bool TileArguments::read_number(const TileParameter& parameter, PyObject* object) {
  const PyTypeObject* type = Py_TYPE(object);
  if (type == &PyFloat_Type) {
    const double value = PyFloat_AS_DOUBLE(object);
    if (std::isfinite(value) && std::abs(value) > std::numeric_limits<float>::max()) return false;
    add_value(std::bit_cast<std::int32_t>(static_cast<float>(value)));
    return true;
  }
  if (type == &PyBool_Type) {
    add_value(object == Py_True ? 1 : 0);
    return true;
  }
  int overflowed = 0;
  const long long value = as_long_long(object, overflowed);
  using Narrow = std::numeric_limits<std::int32_t>;
  const bool fits = overflowed == 0 &&
                    (parameter.has_wide_int || (value >= Narrow::min() && value <= Narrow::max()));
  add_value(value);
  return fits;
}

TileArguments::Found TileArguments::read_array(const TileParameter& parameter, PyObject* object) {
  arrays_[arrays_used_++] = object;
  if (const auto* view = get_if<StridedView>(object)) {
    return is_plain(*view) && add_array(parameter, tensor_of(*view)) ? Found::all : Found::wrong;
  }
  const BorrowingApi known = known_borrowing_api(Py_TYPE(object));
  return known.api != nullptr && !known.has_own_dtype ? borrow(parameter, object, *known.api)
                                                      : read_other(parameter, object);
}

TileArguments::Found TileArguments::borrow(const TileParameter& parameter, PyObject* object,
                                           const dlpack::ExchangeApi& api) {
  Tensor tensor;  // NOLINT: filled by the library
  if (api.borrow_from_object(object, &tensor) != 0) [[unlikely]] {
    PyErr_Clear();
    return Found::wrong;
  }
  if (may_be_negated(tensor) && find_other(object) == nullptr) [[unlikely]] {
    others_.push_back({.object = object, .is_borrowed = true});
    return Found::others;
  }
  return add_array(parameter, tensor) ? Found::all : Found::wrong;
}

TileArguments::Found TileArguments::read_other(const TileParameter& parameter, PyObject* object) {
  const Other* other = find_other(object);
  if (other == nullptr) {
    if (get_if<Buffer>(object) != nullptr || !has_array_type(object)) return Found::wrong;
    others_.push_back({.object = object});
    return Found::others;
  }
  if (other->array == nullptr) return Found::others;
  if (has_own_dtype(Py_TYPE(object))) add_word(address_of(other->dtype.ptr()));
  const ForeignArray& array = *other->array;
  if (array.api != nullptr && can_borrow(*array.api)) return borrow(parameter, object, *array.api);
  return add_array(parameter, array.tensor) ? Found::all : Found::wrong;
}

void TileArguments::hold_dtypes(std::vector<py::object>& held) const {
  for (const Other& other : others_) {
    if (other.dtype) held.push_back(other.dtype);
  }
}

TileArguments::Other* TileArguments::find_other(PyObject* object) noexcept {
  const auto found = std::find_if(others_.begin(), others_.end(),
                                  [object](const Other& one) { return one.object == object; });
  return found == others_.end() ? nullptr : &*found;
}

bool TileArguments::read_others() {
  static PyObject* const name_of_dtype = interned("dtype");
  try {
    for (Other& other : others_) {
      if (other.is_borrowed) {
        refuse_lazy(other.object);
        continue;
      }
      other.array = std::make_unique<ForeignArray>();
      // In the order in which StridedMemoryView looks for protocols, by which kernels are compiled.
      const bool is_read = read_exchange_api(other.object, Sharing::borrow, *other.array) ||
                           read_dlpack(other.object, nullptr, *other.array) ||
                           read_cuda_interface(other.object, nullptr, *other.array);
      if (!is_read) return false;
      if (has_own_dtype(Py_TYPE(other.object))) {
        other.dtype = optional_attribute(other.object, name_of_dtype);
      }
    }
    return true;
  } catch (const ForeignArrayError&) {
    return false;
  } catch (py::error_already_set& raised) {
    clear(raised);
    return false;
  }
}

bool TileArguments::add_device(dlpack::Device device) noexcept {
  if (device.type == DeviceType::cuda_managed || device.type == DeviceType::cuda_host) return true;
  if (device.type != DeviceType::cuda || device.ordinal < 0) return false;
  if (device_ == no_device) device_ = device.ordinal;
  return device_ == device.ordinal;
}

bool TileArguments::add_array(const TileParameter& parameter, const Tensor& tensor) {
  const unsigned bits = unsigned{tensor.type.bits} * tensor.type.lanes;
  if (!add_device(tensor.device) || bits == 0 || bits % 8 != 0) return false;
  const auto address = static_cast<std::int64_t>(address_of(tensor.data) + tensor.byte_offset);
  if (address % (bits / 8) != 0) return false;
  if (tensor.type.code == dlpack::TypeCode::opaque_handle) return false;  // of more than one type
  if (tensor.dimensions < 0 || tensor.dimensions > most_dimensions) return false;
  const auto rank = static_cast<std::size_t>(tensor.dimensions);
  const std::span<std::int64_t> values = add_values(1 + 2 * rank);
  values[0] = address;
  const std::span<std::int64_t> extents = values.subspan(1, rank);
  const std::span<std::int64_t> strides = values.last(rank);
  if (!lay_out(tensor, extents, strides)) return false;

  add_word(static_cast<std::uint64_t>(tensor.type.code) | std::uint64_t{tensor.type.bits} << 8U |
           std::uint64_t{tensor.type.lanes} << 16U | std::uint64_t{rank} << 32U |
           static_cast<std::uint64_t>(address % alignment == 0) << 40U);
  const std::int64_t highest = parameter.has_wide_axes ? std::numeric_limits<std::int64_t>::max()
                                                       : std::numeric_limits<std::int32_t>::max();
  const std::int64_t factor = std::max<std::int64_t>(alignment / (bits / 8), 1);
  std::uint64_t facts = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    if (extents[i] > highest || strides[i] > highest || strides[i] < 0) return false;
    facts = facts * 2 + static_cast<std::uint64_t>(extents[i] % alignment == 0);
    facts = facts * 2 + static_cast<std::uint64_t>(strides[i] == 1);
    facts = facts * 2 + static_cast<std::uint64_t>(strides[i] % factor == 0);
    if (i % 16 == 15) add_word(std::exchange(facts, 0));
  }
  add_word(facts);
  if (parameter.is_exact) {
    for (const std::int64_t value : values.subspan(1)) add_word(static_cast<std::uint64_t>(value));
  }
  return true;
}

}  // namespace cudacore::bindings
