// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "bindings/code_objects.hpp"
#include "bindings/errors.hpp"
#include "bindings/gil.hpp"
#include "bindings/keywords.hpp"
#include "bindings/options.hpp"
#include "bindings/values.hpp"

namespace cudacore::bindings {

namespace {

std::vector<ObjectCode> to_inputs(const py::tuple& args) {
  std::vector<ObjectCode> inputs;
  for (std::size_t i = 0; i < args.size(); ++i) {
    const py::object argument = args[i];
    const auto* input = get_if<ObjectCode>(argument.ptr());
    if (input == nullptr) {
      const bool listed = py::isinstance<py::list>(argument) || py::isinstance<py::tuple>(argument);
      throw py::type_error("Linker: argument " + std::to_string(i + 1) +
                           " must be an ObjectCode, not " + type_name(argument) +
                           (listed ? "; give the object codes one by one: Linker(*codes)" : ""));
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
    return make_object<PyLinker>({std::make_shared<Linker>(
        to_inputs(py::reinterpret_borrow<py::tuple>(args)), to_options<LinkerOptions>(options))});
  });
}

constexpr char class_doc[] =
    "Linker(*object_codes, options=None)\n--\n\n"
    "Links object codes into one with nvJitLink, optimising across LTO IR.\n\n"
    "Where ``options.arch`` is set, neither a driver nor a device is needed.\n\n"
    "Parameters\n----------\n"
    "*object_codes : ObjectCode\n"
    "    One or more; those that refer to one another were compiled with\n"
    "    ``relocatable_device_code`` or to LTO IR.\n"
    "options : LinkerOptions or mapping, optional\n    How they are linked.\n\n"
    "Raises\n------\n"
    "TypeError\n    An argument has the wrong type.\n"
    "ValueError\n    There are no object codes.\n\n"
    "Examples\n--------\n"
    ">>> options = {\"arch\": \"sm_90\", \"relocatable_device_code\": True}\n"
    ">>> one = cudacore.Program(\"__device__ int f() { return 7; }\", \"c++\", options)\n"
    ">>> source = \"extern __device__ int f(); __global__ void g(int* p) { *p = f(); }\"\n"
    ">>> two = cudacore.Program(source, \"c++\", options)\n"
    ">>> codes = [program.compile(\"cubin\") for program in (one, two)]\n"
    ">>> linker = cudacore.Linker(*codes, options={\"arch\": \"sm_90\"})\n"
    ">>> linker.link().kernels\n"
    "('g',)";

constexpr char link_doc[] =
    "Links (nvJitLinkComplete).\n\n"
    "Parameters\n----------\n"
    "target_type : {\"cubin\", \"ptx\"}, default \"cubin\"\n"
    "    What to make; PTX only from LTO IR.\n\n"
    "Returns\n-------\nObjectCode\n\n"
    "Raises\n------\n"
    "LinkError\n    nvJitLink refused the inputs; ``.log`` holds all it said.\n"
    "ValueError\n    The linker is closed, or the inputs cannot be linked to this target.\n"
    "LibraryNotFoundError\n    nvJitLink is not installed.\n"
    "DriverNotFoundError\n    ``options.arch`` is None, and there is no driver.";

}  // namespace

void bind_linker(py::module_& module) {
  HeapClass<PyLinker> type(module, "cudacore.Linker", class_doc, &create);
  add_close(type, "Linker",
            "Gives the inputs up. Using the linker later raises ValueError; closing it again does\n"
            "nothing. Code linked by it stays.",
            "int: An nvJitLinkHandle with the inputs added, for code that speaks to nvJitLink "
            "itself;\n"
            "it lives as long as the linker. link() makes its own.");
  type.def(
          "link",
          [](const PyLinker& self, const py::object& target_type) {
            return
                [linker = self.get("Linker"), target = to_code_type(target_type, "target_type")] {
                  return linker->link(target);
                };
          },
          py::arg("target_type") = "cubin", link_doc)
      .def(
          "get_error_log", [](const PyLinker& self) { return self.get("Linker")->error_log(); },
          quick, "What the last link() found wrong, a str (nvJitLinkGetErrorLog).")
      .def(
          "get_info_log", [](const PyLinker& self) { return self.get("Linker")->info_log(); },
          quick, "What else the last link() said, a str (nvJitLinkGetInfoLog).")
      .def_class(
          "which_backend",
          [](py::handle /*type*/) { return to_enum("CompilerBackendType", "nvJitLink"); }, quick,
          "The library that links, a typing.CompilerBackendType: always ``nvJitLink``.")
      .def(
          "__repr__",
          [](const PyLinker& self) {
            if (self.shared == nullptr) return std::string("<Linker, closed>");
            const std::string name = self.shared->options().name.value_or("");
            return name.empty() ? std::string("<Linker>") : "<Linker '" + name + "'>";
          },
          quick);
}

}  // namespace cudacore::bindings
