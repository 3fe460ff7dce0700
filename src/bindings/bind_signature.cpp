// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "bindings/code_objects.hpp"
#include "bindings/conversions.hpp"
#include "bindings/keywords.hpp"

namespace cudacore::bindings {
namespace {

constexpr char how_made[] = "Signature(...)[i] or Kernel.arguments_info";

/// In the order of ParamKind.
constexpr std::array<std::string_view, 14> kind_names = {
    "opaque",  "boolean", "integer",   "sint",       "uint",    "float16",   "bfloat16",
    "float32", "float64", "complex64", "complex128", "pointer", "structure", "void"};
static_assert(kind_names.size() == static_cast<std::size_t>(ParamKind::void_type) + 1);

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
      refuse_type("Signature: declaration", "a str such as \"(float*, int)\"", declaration);
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
  HeapClass<Param>(module, "cudacore.ParamInfo", refuse_new<how_made>)
      .property("name", quick, read<&Param::name>)
      .property("type", quick, read<&Param::type>)
      .property("kind", quick, [](const Param& self) { return to_string(self.kind); })
      .property("offset", quick, read<&Param::offset>)
      .property("size", quick, read<&Param::size>)
      .def_equality([](const Param& a, const Param& b) { return same(a, b); })
      .def("__hash__", quick,
           [](const Param& self) {
             return hash_text(self.type) ^ (hash_text(self.name) << 1U) ^ (self.offset << 2U);
           })
      .def("__repr__", quick,
           [](const Param& self) {
             return "ParamInfo(name=" + quoted(self.name) + ", type=" + quoted(self.type) +
                    ", kind='" + std::string(to_string(self.kind)) +
                    "', offset=" + std::to_string(self.offset) +
                    ", size=" + std::to_string(self.size) + ")";
           })
      .def("__reduce__", quick, [module](const Param& self) {
        return py::make_tuple(
            module.attr("_rebuild_param_info"),
            py::make_tuple(static_cast<int>(self.kind), self.size, self.align, self.offset,
                           self.type, self.name, static_cast<int>(self.pointee), self.pointee_size,
                           self.pointee_const));
      });
}

}  // namespace

std::string_view to_string(ParamKind kind) noexcept {
  return kind_names[static_cast<std::size_t>(kind)];
}

std::string to_name(py::handle object, const char* what) {
  if (PyUnicode_Check(object.ptr()) == 0 && PyBytes_Check(object.ptr()) == 0) {
    refuse_type(what, "str or bytes", object);
  }
  return object.cast<std::string>();
}

Signature to_signature(py::handle object) {
  if (const auto* signature = get_if<Signature>(object.ptr())) return *signature;
  if (PyUnicode_Check(object.ptr()) == 0) {
    refuse_type("signature", "a Signature or a str such as \"(float*, int)\"", object);
  }
  return parse_signature(object.cast<std::string>());
}

void bind_signature(py::module_& module) {
  if (PyModule_AddFunctions(module.ptr(), rebuild_functions) != 0) throw py::error_already_set();
  bind_param_info(module);
  HeapClass<Signature>(module, "cudacore.Signature", &create_signature)
      .property("name", quick, read<&Signature::kernel>)
      .def("__len__", quick, [](const Signature& self) { return self.params.size(); })
      .def("__getitem__", quick, py::arg("index"), py::pos_only(),
           [](const Signature& self, const py::object& key) { return Param(item(self, key)); })
      .def("__iter__", quick, [](const Signature& self) { return py::iter(items(self)); })
      .def("__contains__", quick, py::arg("item"), py::pos_only(),
           [](const Signature& self, py::handle object) {
             const auto* wanted = get_if<Param>(object.ptr());
             return wanted != nullptr &&
                    std::any_of(self.params.begin(), self.params.end(),
                                [&](const Param& param) { return same(param, *wanted); });
           })
      .def_equality([](const Signature& a, const Signature& b) { return same(a, b); })
      .def("__hash__", quick, [](const Signature& self) { return hash_text(self.str()); })
      .def("__str__", quick, [](const Signature& self) { return self.str(); })
      .def("__repr__", quick,
           [](const Signature& self) { return "Signature(" + quoted(self.str()) + ")"; })
      .def("__reduce__", quick, [module](const Signature& self) {
        return py::make_tuple(module.attr("_rebuild_signature"),
                              py::make_tuple(self.kernel) + py::object(items(self)));
      });
}

}  // namespace cudacore::bindings
