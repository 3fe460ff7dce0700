// SPDX-License-Identifier: Apache-2.0
#include "bindings/later.hpp"

#include <memory>
#include <unordered_map>

#include "bindings/text_signature.hpp"
#include "bindings/wrong_calls.hpp"
#include "driver/leaked.hpp"

namespace cudacore::bindings {
namespace {

constexpr const char* module_name = "cudacore._core";

using Bind = std::shared_ptr<std::function<void(py::module_&)>>;

std::unordered_map<std::string, Bind>& later() {
  return driver::leaked<std::unordered_map<std::string, Bind>>();
}

}  // namespace

void finish(const py::module_& module) {
  for_each_function(module, [](const BoundFunction& function) {
    add_text_signature(function);
    explain_wrong_calls(function);
  });
  // What users see is cudacore, whichever module the classes were made in.
  for (const auto& [name, value] : module.attr("__dict__").cast<py::dict>()) {
    if (py::isinstance<py::type>(value) &&
        value.attr("__module__").equal(module.attr("__name__"))) {
      py::setattr(value, "__module__", py::str("cudacore"));
      reinterpret_cast<PyTypeObject*>(value.ptr())->tp_name =
          py::detail::c_str("cudacore." + name.cast<std::string>());
    }
  }
}

void add_later(std::initializer_list<const char*> names, std::function<void(py::module_&)> bind) {
  const auto shared = std::make_shared<std::function<void(py::module_&)>>(std::move(bind));
  for (const char* name : names) later().emplace(name, shared);
}

py::object get_later(const std::string& name) {
  const py::dict names = py::module_::import(module_name).attr("__dict__");
  if (const auto found = later().find(name); found != later().end()) {
    if (!names.contains(name)) {
      auto part = py::reinterpret_steal<py::module_>(PyModule_New(module_name));
      if (!part) throw py::error_already_set();
      py::options options;
      options.disable_function_signatures();
      (*found->second)(part);
      finish(part);
      for (const auto& [key, value] : py::dict(part.attr("__dict__"))) {
        if (!names.contains(key)) names[key] = value;
      }
    }
    return names[name.c_str()];
  }
  throw py::attribute_error("module '" + std::string(module_name) + "' has no attribute '" + name +
                            "'");
}

void make_class(const char* name) {
  static_cast<void>(py::object(py::module_::import(module_name).attr(name)));
}

void NamedTuple::add() const {
  add_later({name_}, [this](py::module_& module) {
    module.attr(name_) = py::module_::import("collections")
                             .attr("namedtuple")(name_, fields_, py::arg("module") = "cudacore");
  });
}

PyObject* NamedTuple::type() {
  if (type_ == nullptr) {
    type_ = py::object(py::module_::import(module_name).attr(name_)).release().ptr();
  }
  return type_;
}

}  // namespace cudacore::bindings
