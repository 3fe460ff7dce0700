// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <tuple>
#include <utility>

#include "bindings/code_objects.hpp"
#include "bindings/errors.hpp"
#include "bindings/keywords.hpp"
#include "bindings/values.hpp"

namespace cudacore::bindings {

namespace {

constexpr char how_made[] = "Signature(...)[i] or Kernel.arguments_info";

/// In the order of ParamKind.
constexpr std::array<std::string_view, 14> kind_names = {
    "opaque",  "boolean", "integer",   "sint",       "uint",    "float16",   "bfloat16",
    "float32", "float64", "complex64", "complex128", "pointer", "structure", "void"};

auto all_fields(const Param& param) {
  return std::tie(param.kind, param.size, param.align, param.offset, param.type, param.name,
                  param.pointee, param.pointee_size, param.pointee_const);
}

bool same(const Param& a, const Param& b) { return all_fields(a) == all_fields(b); }

bool same(const Signature& a, const Signature& b) {
  return a.kernel == b.kernel &&
         std::equal(a.params.begin(), a.params.end(), b.params.begin(), b.params.end(),
                    [](const Param& x, const Param& y) { return same(x, y); });
}

std::size_t hash_text(const std::string& text) { return std::hash<std::string>{}(text); }

PyObject* create_signature(PyTypeObject* /*type*/, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static constexpr const char* keywords[] = {"declaration"};
    py::handle declaration;
    parse_keywords("Signature", keywords, {&declaration, 1}, args, kwargs);
    if (!declaration) throw py::type_error("Signature needs the argument 'declaration'");
    if (PyUnicode_Check(declaration.ptr()) == 0) {
      throw py::type_error("Signature: declaration must be a str such as \"(float*, int)\", not " +
                           type_name(declaration));
    }
    return make_object<Signature>(to_signature(declaration));
  });
}

const Param& item(const Signature& self, py::handle key) {
  Py_ssize_t index = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
  if (index == -1 && PyErr_Occurred() != nullptr) throw py::error_already_set();
  const auto count = static_cast<Py_ssize_t>(self.params.size());
  if (index < -count || index >= count) {
    throw py::index_error("parameter " + std::to_string(index) + " of a signature with " +
                          std::to_string(count) + ": " + self.str());
  }
  return self.params[static_cast<std::size_t>(index < 0 ? index + count : index)];
}

py::tuple items(const Signature& self) {
  py::tuple all(self.params.size());
  for (std::size_t i = 0; i < self.params.size(); ++i) all[i] = py::cast(Param(self.params[i]));
  return all;
}

std::string quoted(const std::string& text) { return std::string(py::repr(py::str(text))); }

ParamKind to_kind(const py::handle& object) {
  const auto kind = object.cast<std::size_t>();
  if (kind >= kind_names.size()) {
    throw py::value_error("no kind of parameter has the number " + std::to_string(kind));
  }
  return static_cast<ParamKind>(kind);
}

/// The functions that pickles call; pickle finds only functions that belong to their module.
PyObject* rebuild_param(PyObject* /*module*/, PyObject* args) {
  return guarded([&] {
    const auto values = py::reinterpret_borrow<py::tuple>(args);
    if (values.size() != 9) {
      throw py::value_error("a pickled ParamInfo has 9 values, not " +
                            std::to_string(values.size()));
    }
    Param param;
    param.kind = to_kind(values[0]);
    param.size = values[1].cast<std::size_t>();
    param.align = values[2].cast<std::size_t>();
    param.offset = values[3].cast<std::size_t>();
    param.type = values[4].cast<std::string>();
    param.name = values[5].cast<std::string>();
    param.pointee = to_kind(values[6]);
    param.pointee_size = values[7].cast<std::size_t>();
    param.pointee_const = values[8].cast<bool>();
    return make_object<Param>(std::move(param));
  });
}

PyObject* rebuild_signature(PyObject* /*module*/, PyObject* args) {
  return guarded([&] {
    const auto values = py::reinterpret_borrow<py::tuple>(args);
    Signature signature;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (i == 0) {
        signature.kernel = values[i].cast<std::string>();
      } else {
        signature.params.push_back(values[i].cast<Param>());
      }
    }
    return make_object<Signature>(std::move(signature));
  });
}

PyMethodDef rebuild_functions[] = {
    {"_rebuild_param_info", &rebuild_param, METH_VARARGS, nullptr},
    {"_rebuild_signature", &rebuild_signature, METH_VARARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

void bind_param_info(py::module_& module) {
  HeapClass<Param>(module, "cudacore.ParamInfo", "One parameter of a kernel.", refuse_new<how_made>)
      .def_property_readonly("name", read<&Param::name>, quick,
                             "str: As the source names it; empty where unknown.")
      .def_property_readonly(
          "type", read<&Param::type>, quick,
          "str: As C++ spells it, ``float const*``; as PTX does, ``.u32``, where only that is "
          "known;\n"
          "empty where nothing is.")
      .def_property_readonly(
          "kind", [](const Param& self) { return to_string(self.kind); }, quick,
          "str: ``boolean``, ``integer`` (of unknown sign), ``sint``, ``uint``, ``float16``,\n"
          "``bfloat16``, ``float32``, ``float64``, ``complex64``, ``complex128``, ``pointer``,\n"
          "``structure``, or ``opaque`` where only the size is known.")
      .def_property_readonly(
          "offset", read<&Param::offset>, quick,
          "int: Bytes from the start of the parameter buffer; right only where the size of every\n"
          "parameter before it is known.")
      .def_property_readonly("size", read<&Param::size>, quick, "int: Bytes; 0 where unknown.")
      .def_equality([](const Param& a, const Param& b) { return same(a, b); })
      .def(
          "__hash__",
          [](const Param& self) {
            return hash_text(self.type) ^ (hash_text(self.name) << 1U) ^ (self.offset << 2U);
          },
          quick)
      .def(
          "__repr__",
          [](const Param& self) {
            return "ParamInfo(name=" + quoted(self.name) + ", type=" + quoted(self.type) +
                   ", kind='" + std::string(to_string(self.kind)) +
                   "', offset=" + std::to_string(self.offset) +
                   ", size=" + std::to_string(self.size) + ")";
          },
          quick)
      .def(
          "__reduce__",
          [module](const Param& self) {
            return py::make_tuple(
                module.attr("_rebuild_param_info"),
                py::make_tuple(static_cast<int>(self.kind), self.size, self.align, self.offset,
                               self.type, self.name, static_cast<int>(self.pointee),
                               self.pointee_size, self.pointee_const));
          },
          quick);
}

constexpr char signature_doc[] =
    "Signature(declaration)\n--\n\n"
    "The parameters of a kernel, as a sequence of ParamInfo.\n\n"
    "Every kernel has one, from the best source there is: its C++ name, its PTX, its cubin, the\n"
    "driver. One that is declared says what those do not: the element types behind pointers of an\n"
    "``extern \"C\"`` kernel, for one. ``str()`` gives the readable declaration.\n\n"
    "Parameters\n----------\n"
    "declaration : str\n"
    "    A C++ parameter list, with or without names and the kernel's name: ``\"(float*, "
    "int)\"``,\n"
    "    ``\"axpy(float a, float const* x)\"``.\n\n"
    "Raises\n------\n"
    "ValueError\n    A part of the declaration is not a type; the message names it.\n\n"
    "Examples\n--------\n"
    ">>> signature = cudacore.Signature(\"axpy(float a, float const* x, int n)\")\n"
    ">>> len(signature)\n"
    "3\n"
    ">>> signature[0]\n"
    "ParamInfo(name='a', type='float', kind='float32', offset=0, size=4)\n"
    ">>> [parameter.offset for parameter in signature]\n"
    "[0, 8, 16]";

}  // namespace

std::string_view to_string(ParamKind kind) noexcept {
  return kind_names[static_cast<std::size_t>(kind)];
}

std::string to_name(py::handle object, const char* what) {
  if (PyUnicode_Check(object.ptr()) == 0 && PyBytes_Check(object.ptr()) == 0) {
    throw py::type_error(std::string(what) + " must be str or bytes, not " + type_name(object));
  }
  return object.cast<std::string>();
}

Signature to_signature(py::handle object) {
  if (const auto* signature = get_if<Signature>(object.ptr())) return *signature;
  if (PyUnicode_Check(object.ptr()) == 0) {
    throw py::type_error("signature must be a Signature or a str such as \"(float*, int)\", not " +
                         type_name(object));
  }
  return parse_signature(object.cast<std::string>());
}

void bind_signature(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), rebuild_functions) != 0) throw py::error_already_set();
  bind_param_info(module);
  HeapClass<Signature>(module, "cudacore.Signature", signature_doc, &create_signature)
      .def_property_readonly(
          "name", read<&Signature::kernel>, quick,
          "str: The kernel's readable name, ``axpy<float>``; empty where none was declared.")
      .def(
          "__len__", [](const Signature& self) { return self.params.size(); }, quick)
      .def(
          "__getitem__",
          [](const Signature& self, const py::object& key) { return Param(item(self, key)); },
          py::arg("index"), py::pos_only(), quick)
      .def(
          "__iter__", [](const Signature& self) { return py::iter(items(self)); }, quick)
      .def(
          "__contains__",
          [](const Signature& self, py::handle object) {
            const auto* wanted = get_if<Param>(object.ptr());
            return wanted != nullptr &&
                   std::any_of(self.params.begin(), self.params.end(),
                               [&](const Param& param) { return same(param, *wanted); });
          },
          py::arg("item"), py::pos_only(), quick)
      .def_equality([](const Signature& a, const Signature& b) { return same(a, b); })
      .def(
          "__hash__", [](const Signature& self) { return hash_text(self.str()); }, quick)
      .def(
          "__str__", [](const Signature& self) { return self.str(); }, quick)
      .def(
          "__repr__", [](const Signature& self) { return "Signature(" + quoted(self.str()) + ")"; },
          quick)
      .def(
          "__reduce__",
          [module](const Signature& self) {
            return py::make_tuple(module.attr("_rebuild_signature"),
                                  py::make_tuple(self.kernel) + py::object(items(self)));
          },
          quick);
}

}  // namespace cudacore::bindings
