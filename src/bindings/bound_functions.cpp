// SPDX-License-Identifier: Apache-2.0
#include "bindings/bound_functions.hpp"

namespace cudacore::bindings {

namespace py = pybind11;

namespace {

using Visit = std::function<void(const BoundFunction&)>;

void visit_member(py::handle object, const std::string& name, const Visit& visit,
                  bool is_accessor = false) {
  PyObject* function = object.ptr();
  if (Py_IS_TYPE(function, &PyStaticMethod_Type) || Py_IS_TYPE(function, &PyClassMethod_Type)) {
    visit_member(object.attr("__func__"), name, visit);
    return;
  }
  if (Py_IS_TYPE(function, &PyProperty_Type)) {
    for (const char* part : {"fget", "fset"}) visit_member(object.attr(part), name, visit, true);
    return;
  }
  if (PyInstanceMethod_Check(function) != 0) function = PyInstanceMethod_GET_FUNCTION(function);
  if (PyCFunction_Check(function) == 0 || PyCFunction_GET_SELF(function) == nullptr) return;
  const auto* record =
      py::detail::function_record_ptr_from_PyObject(PyCFunction_GET_SELF(function));
  if (record == nullptr) return;
  visit({name, *record, *reinterpret_cast<PyCFunctionObject*>(function)->m_ml, is_accessor});
}

}  // namespace

void for_each_function(const py::module_& module, const Visit& visit) {
  for (const auto& [key, value] : py::dict(module.attr("__dict__"))) {
    const auto name = py::handle(key).cast<std::string>();
    if (PyType_Check(value.ptr()) == 0) {
      visit_member(value, name, visit);
      continue;
    }
    for (const auto& [member, function] : py::dict(value.attr("__dict__"))) {
      const auto inner = py::handle(member).cast<std::string>();
      const bool is_call = inner == "__init__" || inner == "__new__";
      visit_member(function, is_call ? name : name + "." + inner, visit);
    }
  }
}

}  // namespace cudacore::bindings
