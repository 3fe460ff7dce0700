// SPDX-License-Identifier: Apache-2.0
#include "bindings/element_type.hpp"

#include <algorithm>
#include <charconv>
#include <vector>

#include "bindings/conversions.hpp"
#include "bindings/suggestion.hpp"

namespace cudacore::bindings {
namespace {

using dlpack::TypeCode;

/// A type that DLPack and NumPy or ml_dtypes have.
struct KnownType {
  std::string_view name;
  std::string_view type_string;
  dlpack::DataType dlpack;
  std::string_view aliases;  ///< NumPy's letters and C's names, between spaces
};

constexpr KnownType known_types[] = {
    {"bool", "|b1", {TypeCode::boolean, 8, 1}, " ? bool_ bool8 "},
    {"int8", "|i1", {TypeCode::sint, 8, 1}, " b byte "},
    {"int16", "<i2", {TypeCode::sint, 16, 1}, " h short "},
    {"int32", "<i4", {TypeCode::sint, 32, 1}, " i intc "},
    {"int64", "<i8", {TypeCode::sint, 64, 1}, " l q n int long longlong intp int_ "},
    {"uint8", "|u1", {TypeCode::uint, 8, 1}, " B ubyte "},
    {"uint16", "<u2", {TypeCode::uint, 16, 1}, " H ushort "},
    {"uint32", "<u4", {TypeCode::uint, 32, 1}, " I uintc "},
    {"uint64", "<u8", {TypeCode::uint, 64, 1}, " L Q N uint ulong ulonglong uintp "},
    {"float16", "<f2", {TypeCode::real, 16, 1}, " e half "},
    {"float32", "<f4", {TypeCode::real, 32, 1}, " f single "},
    {"float64", "<f8", {TypeCode::real, 64, 1}, " d float double "},
    {"complex64", "<c8", {TypeCode::complex, 64, 1}, " F csingle cfloat "},
    {"complex128", "<c16", {TypeCode::complex, 128, 1}, " D complex cdouble "},
    {"bfloat16", "", {TypeCode::bfloat, 16, 1}, " "},
    {"float8_e3m4", "", {TypeCode::float8_e3m4, 8, 1}, " "},
    {"float8_e4m3", "", {TypeCode::float8_e4m3, 8, 1}, " "},
    {"float8_e4m3b11fnuz", "", {TypeCode::float8_e4m3b11fnuz, 8, 1}, " "},
    {"float8_e4m3fn", "", {TypeCode::float8_e4m3fn, 8, 1}, " "},
    {"float8_e4m3fnuz", "", {TypeCode::float8_e4m3fnuz, 8, 1}, " "},
    {"float8_e5m2", "", {TypeCode::float8_e5m2, 8, 1}, " "},
    {"float8_e5m2fnuz", "", {TypeCode::float8_e5m2fnuz, 8, 1}, " "},
    {"float8_e8m0fnu", "", {TypeCode::float8_e8m0fnu, 8, 1}, " "},
};

ElementType element(const KnownType& known) {
  const std::size_t size = known.dlpack.bits / 8;
  const std::size_t parts = known.dlpack.code == TypeCode::complex ? 2 : 1;
  return {std::string(known.name), std::string(known.type_string), size, size / parts,
          known.dlpack};
}

/// By NumPy's name of a type, or another name of it.
const KnownType* find_name(std::string_view name) {
  const std::string spaced = " " + std::string(name) + " ";
  const auto* found =
      std::find_if(std::begin(known_types), std::end(known_types), [&](const KnownType& known) {
        return known.name == name || known.aliases.find(spaced) != std::string_view::npos;
      });
  return name.empty() || found == std::end(known_types) ? nullptr : found;
}

/// "<f4", "f4", ">i2", "V8": an order of bytes, which may be left out, a letter, and a size.
std::optional<ElementType> parse_type_string(std::string_view text) {
  const bool has_order = !text.empty() && std::string_view("<>=|").find(text[0]) != text.npos;
  const std::string_view kind = text.substr(has_order ? 1 : 0);
  if (kind.empty()) return std::nullopt;
  std::size_t size = 0;
  const char* end = kind.data() + kind.size();
  const auto [parsed, error] = std::from_chars(kind.data() + 1, end, size);
  if (error != std::errc() || parsed != end) return std::nullopt;
  for (const KnownType& known : known_types) {
    if (!known.type_string.empty() && known.type_string.substr(1) == kind) {
      ElementType made = element(known);
      if (has_order && text[0] == '>' && size > 1) {
        made.name = made.type_string = text;
        made.dlpack.reset();
      }
      return made;
    }
  }
  if (kind[0] != 'V' || size == 0) return std::nullopt;
  return opaque_elements(size);
}

std::optional<ElementType> parse_name(std::string_view name) {
  if (const KnownType* known = find_name(name)) return element(*known);
  return parse_type_string(name);
}

bool is_str(py::handle object) { return PyUnicode_Check(object.ptr()) != 0; }

/// A numpy.dtype.
ElementType from_numpy(const py::object& dtype, const char* what) {
  const auto name = dtype.attr("name").cast<std::string>();
  const auto type_string = dtype.attr("str").cast<std::string>();
  if (dtype.attr("hasobject").cast<bool>()) {
    throw py::type_error(std::string(what) + " " + name +
                         " holds Python objects, whose addresses mean nothing on a device");
  }
  const auto size = dtype.attr("itemsize").cast<std::size_t>();
  if (size == 0) throw py::type_error(std::string(what) + " " + name + " has no bytes");
  const bool is_swapped = type_string.starts_with('>');
  const KnownType* known = is_swapped ? nullptr : find_name(name);
  ElementType made = known != nullptr ? element(*known)
                                      : ElementType{is_swapped ? type_string : name, type_string,
                                                    size, 1, std::nullopt};
  made.dtype = dtype;
  return made;
}

/// The name that a class or a dtype of another library stands for; empty if it has none.
std::string name_of(py::handle object) {
  if (PyType_Check(object.ptr()) == 0) {
    const bool is_torch = std::string_view(Py_TYPE(object.ptr())->tp_name) == "torch.dtype";
    const auto text = is_torch ? py::str(object).cast<std::string>() : std::string();
    return text.substr(text.find('.') + 1);
  }
  static_assert(sizeof(long) == 8);
  const py::object code = attribute_or_none(object, "_type_");  // of ctypes's simple types
  if (is_str(code)) {
    const auto letter = code.cast<std::string>();
    return letter == "c" || letter == "P" ? (letter == "c" ? "int8" : "uint64") : letter;
  }
  return attribute_or_none(object, "__name__").cast<std::string>();
}

[[noreturn]] void refuse(py::handle object, const char* what) {
  std::string hint;
  if (is_str(object)) {
    std::vector<Candidate> names;
    for (const KnownType& known : known_types) names.push_back({known.name});
    hint = did_you_mean(object.cast<std::string>(), names);
  }
  throw py::type_error(std::string(what) + " " + shown(object) +
                       " is not an element type: give a NumPy dtype, or a name such as 'float32', "
                       "'<f4' or 'bfloat16'" +
                       hint);
}

}  // namespace

ElementType to_element_type(py::handle object, const char* what) {
  std::optional<ElementType> made;
  if (is_str(object)) {
    made = parse_name(object.cast<std::string>());
  } else if (!object.is_none()) {
    const py::object type_string = attribute_or_none(object, "str");
    const bool is_class = PyType_Check(object.ptr()) != 0;
    if (!is_class && is_str(type_string)) {
      return from_numpy(py::reinterpret_borrow<py::object>(object), what);
    }
    made = parse_name(name_of(object));
    if (!made) {  // such as jax.numpy.float32
      const py::object dtype = attribute_or_none(object, "dtype");
      if (is_str(attribute_or_none(dtype, "str"))) return from_numpy(dtype, what);
    }
  }
  if (!made) refuse(object, what);
  return *std::move(made);
}

ElementType element_type_of(dlpack::DataType type) {
  for (const KnownType& known : known_types) {
    if (known.dlpack == type) return element(known);
  }
  const unsigned bits = unsigned{type.bits} * type.lanes;
  if (bits == 0 || bits % 8 != 0) {
    throw py::buffer_error("elements of " + std::to_string(bits) +
                           " bits are not a whole number of bytes");
  }
  ElementType made = opaque_elements(bits / 8);
  if (type.code != TypeCode::opaque_handle) made.dlpack = type;
  return made;
}

ElementType opaque_elements(std::size_t size) {
  const std::string name = "|V" + std::to_string(size);
  return {name, name, size, 1, std::nullopt};
}

py::object numpy_dtype(const ElementType& type) {
  if (type.dtype) return type.dtype;
  return py::module_::import("cudacore._host").attr("element_type")(type.name);
}

}  // namespace cudacore::bindings
