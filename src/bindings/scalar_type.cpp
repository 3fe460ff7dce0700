// SPDX-License-Identifier: Apache-2.0
#include "bindings/scalar_type.hpp"

#include <cstring>

#include "bindings/heap_type.hpp"
#include "bindings/type_cache.hpp"

namespace cudacore::bindings {
namespace {

using Access = ScalarType::Access;

struct NamedScalar {
  std::string_view name;
  ParamKind kind;
  std::uint8_t size;
};

// By the names that types carry; the same C type has several on one platform or another.
constexpr NamedScalar numpy_scalars[] = {
    {"bool", ParamKind::boolean, 1},
    {"bool_", ParamKind::boolean, 1},
    {"int8", ParamKind::sint, 1},
    {"int16", ParamKind::sint, 2},
    {"int32", ParamKind::sint, 4},
    {"int64", ParamKind::sint, 8},
    {"longlong", ParamKind::sint, 8},
    {"uint8", ParamKind::uint, 1},
    {"uint16", ParamKind::uint, 2},
    {"uint32", ParamKind::uint, 4},
    {"uint64", ParamKind::uint, 8},
    {"ulonglong", ParamKind::uint, 8},
    {"float16", ParamKind::float16, 2},
    {"float32", ParamKind::float32, 4},
    {"float64", ParamKind::float64, 8},
    {"complex64", ParamKind::complex64, 8},
    {"complex128", ParamKind::complex128, 16},
};

constexpr struct {
  char code;
  ParamKind kind;
  std::uint8_t size;
} ctypes_scalars[] = {
    {'?', ParamKind::boolean, 1}, {'b', ParamKind::sint, 1},    {'c', ParamKind::sint, 1},
    {'B', ParamKind::uint, 1},    {'h', ParamKind::sint, 2},    {'H', ParamKind::uint, 2},
    {'i', ParamKind::sint, 4},    {'I', ParamKind::uint, 4},    {'l', ParamKind::sint, 8},
    {'L', ParamKind::uint, 8},    {'q', ParamKind::sint, 8},    {'Q', ParamKind::uint, 8},
    {'f', ParamKind::float32, 4}, {'d', ParamKind::float64, 8}, {'P', ParamKind::pointer, 8},
};

/// Whether the object's bytes really lie where at_offset expects them.
bool lies_at_offset(PyObject* object, std::size_t size) {
  Py_buffer view;
  if (static_cast<std::size_t>(Py_TYPE(object)->tp_basicsize) < sizeof(PyObject) + size ||
      PyObject_GetBuffer(object, &view, PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    return false;
  }
  const bool equal = static_cast<std::size_t>(view.len) == size &&
                     std::memcmp(view.buf, scalar_bytes(object), size) == 0;
  PyBuffer_Release(&view);
  return equal;
}

/// `name` is that of the object's class, or of the base of it that is NumPy's.
ScalarType classify_numpy(PyObject* object, std::string_view name) {
  PyTypeObject* type = Py_TYPE(object);
  if (name == "void") return {type, Access::buffer, ParamKind::structure, 0};
  for (const NamedScalar& scalar : numpy_scalars) {
    if (name == scalar.name) {
      const bool direct = lies_at_offset(object, scalar.size);
      return {type, direct ? Access::at_offset : Access::buffer, scalar.kind, scalar.size};
    }
  }
  return {type, Access::none, ParamKind::opaque, 0};
}

ScalarType classify_ctypes(PyTypeObject* type) {
  PyObject* bases = type->tp_mro;
  for (Py_ssize_t i = 0; bases != nullptr && i < PyTuple_GET_SIZE(bases); ++i) {
    const auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(bases, i));
    const std::string_view name = base->tp_name;
    if (name == "_ctypes.Structure" || name == "_ctypes.Union" || name == "_ctypes.Array") {
      return {type, Access::buffer, ParamKind::structure, 0};
    }
    if (name == "_ctypes._SimpleCData") {
      const py::object code =
          py::getattr(py::handle(reinterpret_cast<PyObject*>(type)), "_type_", py::none());
      const Py_UCS4 letter =
          PyUnicode_Check(code.ptr()) != 0 && PyUnicode_GET_LENGTH(code.ptr()) == 1
              ? PyUnicode_READ_CHAR(code.ptr(), 0)
              : 0;
      for (const auto& scalar : ctypes_scalars) {
        if (letter == static_cast<Py_UCS4>(static_cast<unsigned char>(scalar.code))) {
          return {type, Access::buffer, scalar.kind, scalar.size};
        }
      }
    }
  }
  return {type, Access::none, ParamKind::opaque, 0};
}

ScalarType classify(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  PyObject* bases = type->tp_mro;
  for (Py_ssize_t i = 0; bases != nullptr && i < PyTuple_GET_SIZE(bases); ++i) {
    const std::string_view base =
        reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(bases, i))->tp_name;
    if (base.starts_with("numpy.")) return classify_numpy(object, base.substr(6));
  }
  const std::string_view name = type->tp_name;
  if (name == "ml_dtypes.bfloat16" || name == "bfloat16") {
    return {type, Access::as_float, ParamKind::bfloat16, 2};
  }
  return classify_ctypes(type);
}

constinit TypeCache<ScalarType> known_types;

}  // namespace

ScalarType scalar_type(PyObject* object) {
  return known_types.find(Py_TYPE(object), [&] { return classify(object); });
}

}  // namespace cudacore::bindings
