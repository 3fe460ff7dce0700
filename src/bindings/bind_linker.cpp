// SPDX-License-Identifier: Apache-2.0
#include "bindings/code_objects.hpp"
#include "bindings/keywords.hpp"
#include "bindings/options.hpp"
#include "compile/compiler_environment.hpp"

namespace cudacore::bindings {
namespace {

std::vector<ObjectCode> to_inputs(const std::string& function, const py::tuple& args) {
  std::vector<ObjectCode> inputs;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const py::object argument = args[i];
    const auto* input = get_if<ObjectCode>(argument.ptr());
    if (input == nullptr) {
      const bool listed = py::isinstance<py::list>(argument) || py::isinstance<py::tuple>(argument);
      refuse_type(function + ": argument " + std::to_string(i + 1), "an ObjectCode", argument,
                  listed ? "; give the object codes one by one, as in *codes" : "");
    }
    inputs.push_back(*input);
  }
  return inputs;
}

PyObject* create(PyTypeObject* /*type*/, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static constexpr const char* keywords[] = {"options"};
    py::handle options = Py_None;
    refuse_fields(type_of<LinkerOptions>(), "Linker", keywords, kwargs);
    parse_keywords("Linker", keywords, {&options, 1}, py::tuple().ptr(), kwargs);
    return make_object<PyLinker>(
        {std::make_shared<Linker>(to_inputs("Linker", py::reinterpret_borrow<py::tuple>(args)),
                                  to_options<LinkerOptions>(options))});
  });
}

PyObject* make_fatbin_of(PyObject* /*module*/, PyObject* args, PyObject* kwargs) {
  return guarded([&] {
    static constexpr const char* keywords[] = {"name", "compress_mode"};
    const auto texts = std::to_array({py::str(""), py::str("none")});
    std::array<py::handle, 2> values = {texts[0], texts[1]};
    parse_keywords("make_fatbin", keywords, values, py::tuple().ptr(), kwargs);
    const FatbinOptions options{to_name(values[0], "name"), to_name(values[1], "compress_mode")};
    const auto inputs = to_inputs("make_fatbin", py::reinterpret_borrow<py::tuple>(args));
    const auto make = [&] {
      const ReleaseGil release;
      return make_fatbin(inputs, options);
    };
    return make_object(make());
  });
}

PyMethodDef functions[] = {
    {"make_fatbin", reinterpret_cast<PyCFunction>(reinterpret_cast<void*>(&make_fatbin_of)),
     METH_VARARGS | METH_KEYWORDS, "make_fatbin(*object_codes, name='', compress_mode='none')"},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

void bind_linker(py::module_& module) {
  document(functions[0], module);
  if (PyModule_AddFunctions(module.ptr(), functions) != 0) throw py::error_already_set();
  HeapClass<PyLinker> type(module, "cudacore.Linker", &create);
  add_close(type, "Linker");
  type.def("link", in_parts, py::arg("target_type") = "cubin", py::kw_only(),
           py::arg("cache") = py::none(),
           [](const PyLinker& self, const py::object& target_type, const py::object& cache) {
             auto work = [linker = self.get("Linker"), use = to_cache_use(cache),
                          target = to_code_type(target_type, "target_type")] {
               return linker->link(target, use);
             };
             const compile::HeldEnvironment environment;
             return without_gil(std::move(work));
           })
      .def("get_error_log", quick,
           [](const PyLinker& self) { return self.get("Linker")->error_log(); })
      .def("get_info_log", quick,
           [](const PyLinker& self) { return self.get("Linker")->info_log(); })
      .def_class("which_backend", quick,
                 [](py::handle /*type*/) { return to_member("CompilerBackendType", "nvJitLink"); })
      .def("__repr__", quick, [](const PyLinker& self) {
        if (self.shared == nullptr) return std::string("<Linker, closed>");
        const std::string name = self.shared->options().name.value_or("");
        return name.empty() ? std::string("<Linker>") : "<Linker '" + name + "'>";
      });
}

}  // namespace cudacore::bindings
