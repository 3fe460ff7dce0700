// SPDX-License-Identifier: Apache-2.0
#include "bindings/instance.hpp"

#include "bindings/errors.hpp"

namespace cudacore::bindings {
namespace {

using py::detail::value_and_holder;
using py::detail::values_and_holders;

py::detail::instance* as_instance(py::handle object) {
  return reinterpret_cast<py::detail::instance*>(object.ptr());
}

/// The class whose __init__ was not called; null if all were.
const PyTypeObject* missing_part(py::handle object) {
  values_and_holders parts(as_instance(object));
  for (const value_and_holder& part : parts) {
    if (!part.holder_constructed() && !parts.is_redundant_value_and_holder(part)) {
      return part.type->type;
    }
  }
  return nullptr;
}

PyObject* call_class(PyObject* type, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    py::object made = checked(PyType_Type.tp_call(type, args, kwargs));
    if (PyObject_TypeCheck(made.ptr(), instance_base()) != 0) {
      if (const PyTypeObject* missing = missing_part(made)) {
        throw py::type_error(std::string(Py_TYPE(made.ptr())->tp_name) +
                             ".__init__ must call that of " + missing->tp_name +
                             ", as super().__init__(...) does");
      }
    }
    return made.release().ptr();
  });
}

}  // namespace

bool is_initialized(py::handle object) {
  const py::detail::instance* instance = as_instance(object);
  return instance->simple_layout ? instance->simple_holder_constructed
                                 : missing_part(object) == nullptr;
}

bool is_made_by(py::handle object, const PyTypeObject* type) {
  for (const value_and_holder& part : values_and_holders(as_instance(object))) {
    if (part.type->type == type) return true;
  }
  return false;
}

void refuse_pickle(const py::object& self) {
  throw py::type_error(std::string("a ") + Py_TYPE(self.ptr())->tp_name +
                       " can be neither pickled nor copied: its memory is this process's; a class "
                       "of your own may define __reduce__");
}

PyTypeObject* instance_base() {
  static auto* const type =
      reinterpret_cast<PyTypeObject*>(py::detail::get_internals().instance_base);
  return type;
}

py::object instance_metaclass() {
  PyType_Slot slots[] = {{Py_tp_call, reinterpret_cast<void*>(&call_class)}, {0, nullptr}};
  PyType_Spec spec{"cudacore._core.MemoryResourceType", 0, 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  const py::handle base(reinterpret_cast<PyObject*>(py::detail::get_internals().default_metaclass));
  return checked(PyType_FromSpecWithBases(&spec, py::make_tuple(base).ptr()));
}

}  // namespace cudacore::bindings
