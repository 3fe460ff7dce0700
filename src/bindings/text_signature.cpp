// SPDX-License-Identifier: Apache-2.0
#include "bindings/text_signature.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>
#include <optional>
#include <string_view>

namespace cudacore::bindings {

namespace py = pybind11;

namespace {

constexpr char end_of_signature[] = ")\n--\n\n";

/// Nothing for a function whose arguments have no names: each needs a py::arg.
std::optional<std::string> parameters_of(const py::detail::function_record& record) {
  const std::size_t starred = (record.has_args ? 1U : 0U) + (record.has_kwargs ? 1U : 0U);
  const std::size_t count = record.nargs - starred;
  const std::size_t named = std::max<std::size_t>(record.args.size(), record.is_method ? 1 : 0);
  if (named < count) return std::nullopt;
  std::string text;
  const auto add = [&](std::string_view part) {
    text += text.empty() ? "" : ", ";
    text += part;
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (i == record.nargs_pos) add("*");
    if (i >= record.args.size()) {
      add("self");
    } else {
      add(record.args[i].name);
      if (record.args[i].value) text += "=" + std::string(py::repr(record.args[i].value));
    }
    if (i + 1 == record.nargs_pos_only) add("/");
  }
  if (record.has_args) add("*args");
  if (record.has_kwargs) add("**kwargs");
  return text;
}

/// The documentation that inspect reads is the definition's, which pybind11 frees with the
/// function.
void add_signature(PyObject* object) {
  PyObject* function =
      PyInstanceMethod_Check(object) != 0 ? PyInstanceMethod_GET_FUNCTION(object) : object;
  if (PyCFunction_Check(function) == 0 || PyCFunction_GET_SELF(function) == nullptr) return;
  const auto* record =
      py::detail::function_record_ptr_from_PyObject(PyCFunction_GET_SELF(function));
  if (record == nullptr) return;
  const std::optional<std::string> parameters = parameters_of(*record);
  if (!parameters) return;
  PyMethodDef& definition = *reinterpret_cast<PyCFunctionObject*>(function)->m_ml;
  char* doc = ::strdup(with_signature(record->name, *parameters,
                                      definition.ml_doc == nullptr ? "" : definition.ml_doc)
                           .c_str());
  if (doc == nullptr) throw std::bad_alloc();
  std::free(const_cast<char*>(definition.ml_doc));  // NOLINT: strdup's, as pybind11 has it
  definition.ml_doc = doc;
}

}  // namespace

std::string with_signature(const std::string& name, const std::string& parameters,
                           const std::string& doc) {
  return name + "(" + parameters + end_of_signature + doc;
}

std::string describe_class(const char* qualified_name, const std::string& doc) {
  const std::string_view path(qualified_name);
  const std::string name(path.substr(path.rfind('.') + 1));
  return doc.starts_with(name + "(") ? doc : with_signature(name, "*args, **kwargs", doc);
}

void add_text_signatures(const py::module_& module) {
  for (const auto& [name, value] : module.attr("__dict__").cast<py::dict>()) {
    if (PyType_Check(value.ptr()) == 0) {
      add_signature(value.ptr());
      continue;
    }
    const py::object members = value.attr("__dict__").attr("items")();
    for (const py::handle item : members) {
      const auto member = py::reinterpret_borrow<py::tuple>(item)[1].cast<py::object>();
      if (Py_IS_TYPE(member.ptr(), &PyStaticMethod_Type) ||
          Py_IS_TYPE(member.ptr(), &PyClassMethod_Type)) {
        add_signature(member.attr("__func__").ptr());
      } else {
        add_signature(member.ptr());
      }
    }
  }
}

}  // namespace cudacore::bindings
