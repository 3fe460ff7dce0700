// SPDX-License-Identifier: Apache-2.0
#include "bindings/array_interface.hpp"

#include <algorithm>
#include <limits>

#include "bindings/conversions.hpp"
#include "error/describe.hpp"

namespace cudacore::bindings {
namespace {

using dlpack::DataType;
using dlpack::DeviceType;
using dlpack::TypeCode;

/// The keys that mean something here.
enum class Key : std::uint8_t { version, typestr, shape, strides, data, stream, mask };
constexpr std::array<const char*, 7> key_names = {"version", "typestr", "shape", "strides",
                                                  "data",    "stream",  "mask"};

/// The names of the attributes and of their keys, made once.
struct Names {
  PyObject* cuda_array_interface = interned("__cuda_array_interface__");
  PyObject* array_interface = interned("__array_interface__");
  std::array<PyObject*, key_names.size()> keys{};

  Names() { std::transform(key_names.begin(), key_names.end(), keys.begin(), &interned); }
};

const Names& names() {
  static const Names made;
  return made;
}

/// One protocol's dict. Holds its values: code that runs later may change the dict.
class Description {
 public:
  Description(const char* protocol, const py::object& dict) : protocol_(protocol) {
    if (PyDict_Check(dict.ptr()) == 0) refuse("must be a dict, not " + shown(dict));
    if (!read_interned(dict.ptr())) read_any(dict.ptr());
  }

  [[noreturn]] void refuse(const std::string& what) const {
    throw ForeignArrayError(std::string(protocol_) + " " + what);
  }
  [[noreturn]] void refuse(const char* key, const char* expected, py::handle value) const {
    refuse(std::string("has '") + key + "', which must be " + expected + ", not " + shown(value));
  }

  /// Null if there is none, or if it is None.
  [[nodiscard]] py::handle find(Key key) const noexcept {
    const py::object& value = values_[static_cast<std::size_t>(key)];
    return value.is_none() ? py::handle() : py::handle(value);
  }
  [[nodiscard]] py::handle get(Key key) const {
    const py::handle value = find(key);
    if (!value) {
      refuse("lacks '" + std::string(key_names.at(static_cast<std::size_t>(key))) + "'");
    }
    return value;
  }

  [[nodiscard]] const char* protocol() const noexcept { return protocol_; }

 private:
  /// Compares the addresses of keys alone, which is faster than looking each up and runs no Python
  /// code.
  /// @return false if some key is not an interned string.
  bool read_interned(PyObject* dict) {
    const auto& keys = names().keys;
    Py_ssize_t position = 0;
    PyObject* key = nullptr;
    PyObject* value = nullptr;
    while (PyDict_Next(dict, &position, &key, &value) != 0) {
      if (PyUnicode_CheckExact(key) == 0 || PyUnicode_CHECK_INTERNED(key) == 0) return false;
      const auto* const found = std::find(keys.begin(), keys.end(), key);
      if (found != keys.end()) {
        values_[static_cast<std::size_t>(found - keys.begin())] =
            py::reinterpret_borrow<py::object>(value);
      }
    }
    return true;
  }

  void read_any(PyObject* dict) {
    for (std::size_t i = 0; i < values_.size(); ++i) {
      PyObject* value = PyDict_GetItemWithError(dict, names().keys[i]);
      if (value == nullptr && PyErr_Occurred() != nullptr) throw py::error_already_set();
      values_[i] = py::reinterpret_borrow<py::object>(value);
    }
  }

  const char* protocol_;
  std::array<py::object, key_names.size()> values_;
};

long long to_integer(const Description& from, const char* key, const char* expected,
                     py::handle value) {
  if (!is_index(value)) from.refuse(key, expected, value);
  const Index index = to_index(value);
  if (!index.fits) from.refuse(key, expected, value);
  return index.value;
}

int read_version(const Description& from, int lowest) {
  constexpr int highest = 3;
  const long long version = to_integer(from, "version", "an int", from.get(Key::version));
  if (version < lowest || version > highest) {
    from.refuse("has version " + std::to_string(version) + "; cudacore knows " +
                (lowest == highest ? "" : std::to_string(lowest) + " and ") +
                std::to_string(highest));
  }
  return static_cast<int>(version);
}

/// The type for a typestr such as "<f4".
DataType read_type(const Description& from) {
  const py::handle given = from.get(Key::typestr);
  Py_ssize_t length = 0;
  const char* text =
      PyUnicode_Check(given.ptr()) != 0 ? PyUnicode_AsUTF8AndSize(given.ptr(), &length) : nullptr;
  PyErr_Clear();
  const std::string_view letters(text == nullptr ? "" : text, static_cast<std::size_t>(length));
  constexpr unsigned most = std::numeric_limits<std::uint16_t>::max();
  unsigned size = 0;
  bool is_known = letters.size() >= 3 && letters.size() <= 7;
  for (std::size_t i = 2; is_known && i < letters.size(); ++i) {
    const auto digit = static_cast<unsigned>(letters[i]) - unsigned{'0'};
    is_known = digit <= 9;
    size = size * 10 + digit;
  }
  if (!is_known || size == 0 || size > most) from.refuse("typestr", "such as '<f4'", given);
  if (letters[0] == '>' && size > 1) {
    from.refuse("has big-endian elements, '" + std::string(letters) +
                "'; devices are little-endian");
  }
  if (letters[0] != '<' && letters[0] != '|' && letters[0] != '>' && letters[0] != '=') {
    from.refuse("typestr", "such as '<f4'", given);
  }
  const auto is_one_of = [&](std::initializer_list<unsigned> sizes) {
    return std::find(sizes.begin(), sizes.end(), size) != sizes.end();
  };
  const auto number = [&](TypeCode code) {
    return DataType{code, static_cast<std::uint8_t>(8 * size), 1};
  };
  const char kind = letters[1];
  if (kind == 'f' && is_one_of({2, 4, 8, 16})) return number(TypeCode::real);
  if (kind == 'i' && is_one_of({1, 2, 4, 8})) return number(TypeCode::sint);
  if (kind == 'u' && is_one_of({1, 2, 4, 8})) return number(TypeCode::uint);
  if (kind == 'b' && size == 1) return number(TypeCode::boolean);
  if (kind == 'c' && is_one_of({4, 8, 16})) return number(TypeCode::complex);
  // 'f1' has no one meaning: ml_dtypes has it for several types of one byte.
  if (kind == 'V' || (kind == 'f' && size == 1)) {
    return {TypeCode::opaque_handle, 8, static_cast<std::uint16_t>(size)};
  }
  from.refuse("has elements of type '" + std::string(letters) +
              "', which no device has; view them as integers or bytes");
}

/// Fills in the shape and the strides, both in the array's own room.
void read_layout(const Description& from, std::size_t item_size, ForeignArray& array) {
  const auto read = [&](const char* key, py::handle given, std::int64_t* filled) {
    if (PyTuple_Check(given.ptr()) == 0) from.refuse(key, "a tuple", given);
    const Py_ssize_t count = PyTuple_GET_SIZE(given.ptr());
    if (count > ForeignArray::most_dimensions) {
      from.refuse("has " + std::to_string(count) + " dimensions; an array has 0 to " +
                  std::to_string(ForeignArray::most_dimensions));
    }
    for (Py_ssize_t i = 0; i < count; ++i) {
      filled[i] = to_integer(from, key, "a tuple of ints", PyTuple_GET_ITEM(given.ptr(), i));
    }
    return static_cast<int>(count);
  };
  dlpack::Tensor& tensor = array.tensor;
  tensor.shape = array.extents.data();
  tensor.dimensions = read("shape", from.get(Key::shape), tensor.shape);
  const py::handle strides = from.find(Key::strides);
  if (!strides) return;
  tensor.strides = array.extents.data() + ForeignArray::most_dimensions;
  if (read("strides", strides, tensor.strides) != tensor.dimensions) {
    from.refuse("strides", "one for each dimension", strides);
  }
  const auto size = static_cast<std::int64_t>(item_size);
  for (int i = 0; i < tensor.dimensions; ++i) {
    if (tensor.strides[i] % size != 0 && tensor.shape[i] > 1) {
      throw ForeignStrideError(
          std::string(from.protocol()) + " has a stride of " + std::to_string(tensor.strides[i]) +
          " bytes, which is not a multiple of its elements' " + std::to_string(size));
    }
    tensor.strides[i] /= size;
  }
}

void read_data(const Description& from, ForeignArray& array) {
  const py::handle data = from.get(Key::data);
  if (PyTuple_Check(data.ptr()) == 0 || PyTuple_GET_SIZE(data.ptr()) != 2) {
    from.refuse("data", "(address, read_only)", data);
  }
  PyObject* address = PyTuple_GET_ITEM(data.ptr(), 0);
  if (address != Py_None) {
    if (!is_index(address)) from.refuse("data", "(address, read_only)", data);
    const auto number = checked(PyNumber_Index(address));
    const unsigned long long value = PyLong_AsUnsignedLongLong(number.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      from.refuse("data", "(address, read_only)", data);
    }
    array.tensor.data = reinterpret_cast<void*>(static_cast<std::uintptr_t>(value));
  }
  const int read_only = PyObject_IsTrue(PyTuple_GET_ITEM(data.ptr(), 1));
  if (read_only < 0) throw py::error_already_set();
  array.read_only = read_only != 0;
}

CUstream read_stream(const Description& from, int version) {
  if (version < 3) return CU_STREAM_LEGACY;
  const py::handle stream = from.find(Key::stream);
  if (!stream) return nullptr;
  const long long number = to_integer(from, "stream", "None, 1, 2 or a CUstream", stream);
  if (number <= 0) from.refuse("stream", "None, 1, 2 or a CUstream", stream);
  return reinterpret_cast<CUstream>(static_cast<std::uintptr_t>(number));
}

int read_description(const Description& from, int lowest_version, ForeignArray& array) {
  const int version = read_version(from, lowest_version);
  array.tensor.type = read_type(from);
  read_layout(from, std::size_t{array.tensor.type.bits} * array.tensor.type.lanes / 8, array);
  read_data(from, array);
  if (from.find(Key::mask)) {
    from.refuse("has a mask, which no kernel can apply; fill the masked elements first");
  }
  array.check(from.protocol());
  return version;
}

}  // namespace

bool read_cuda_array_interface(PyObject* object, ForeignArray& array) {
  const py::object dict = optional_attribute(object, names().cuda_array_interface);
  if (!dict || dict.is_none()) return false;
  const Description from("its __cuda_array_interface__", dict);
  const int version = read_description(from, 2, array);
  array.stream = read_stream(from, version);
  array.can_name_stream = version >= 3;
  const auto address = reinterpret_cast<std::uint64_t>(array.tensor.data);
  // An array without memory is on no device.
  array.tensor.device =
      array.count == 0 ? dlpack::Device{DeviceType::cuda_managed, 0} : locate(address);
  if (array.tensor.device.type == DeviceType::cpu) {
    from.refuse("has the address " + error::format_address(address) +
                ", which CUDA does not know: was the memory freed?");
  }
  return true;
}

bool read_array_interface(PyObject* object, ForeignArray& array) {
  const py::object dict = optional_attribute(object, names().array_interface);
  if (!dict || dict.is_none()) return false;
  read_description(Description("its __array_interface__", dict), 3, array);
  array.tensor.device = {DeviceType::cpu, 0};
  return true;
}

}  // namespace cudacore::bindings
