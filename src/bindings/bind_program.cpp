// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/code_objects.hpp"
#include "bindings/errors.hpp"
#include "bindings/foreign_text.hpp"
#include "bindings/gil.hpp"
#include "bindings/keywords.hpp"
#include "bindings/options.hpp"
#include "bindings/values.hpp"
#include "cudacore/error.hpp"

namespace cudacore::bindings {

namespace {

SourceType to_source_type(py::handle object) {
  constexpr char there_are[] = "\"c++\", \"ptx\" or \"ltoir\"";
  if (PyUnicode_Check(object.ptr()) == 0) {
    throw py::type_error(std::string("code_type must be ") + there_are + ", not " +
                         type_name(object));
  }
  const std::string name = in_small_letters(object);
  if (name == "c++") return SourceType::cxx;
  if (name == "ptx") return SourceType::ptx;
  if (name == "ltoir") return SourceType::ltoir;
  if (name == "nvvm") {
    throw NotSupportedError(
        "Program: NVVM IR needs libNVVM, which cudacore does not call; give it C++, PTX or LTO IR",
        0, {}, {});
  }
  raise_as_both(PyExc_ValueError, PyExc_RuntimeError,
                std::string("code_type must be ") + there_are + ", not " + shown(object));
}

std::string to_source(py::handle object, SourceType type) {
  std::string code;
  if (PyByteArray_Check(object.ptr()) != 0) {
    code = std::string(PyByteArray_AS_STRING(object.ptr()),
                       static_cast<std::size_t>(PyByteArray_GET_SIZE(object.ptr())));
  } else if (PyBytes_Check(object.ptr()) != 0 ||
             (PyUnicode_Check(object.ptr()) != 0 && type != SourceType::ltoir)) {
    code = object.cast<std::string>();
  } else {
    throw py::type_error(
        std::string("code must be ") +
        (type == SourceType::ltoir ? "bytes or bytearray for LTO IR" : "str, bytes or bytearray") +
        ", not " + type_name(object));
  }
  if (type == SourceType::ltoir) return code;
  // PTX from files and compilers often ends with the null of a C string.
  while (!code.empty() && code.back() == '\0') code.pop_back();
  if (const auto place = code.find('\0'); place != std::string::npos) {
    throw py::value_error("code has a null character at byte " + std::to_string(place) +
                          ", where the compiler would stop reading");
  }
  return code;
}

PyObject* create(PyTypeObject* /*type*/, PyObject* args, PyObject* kwargs) {
  return guarded([&]() -> PyObject* {
    static constexpr const char* keywords[] = {"code", "code_type", "options"};
    std::array<py::handle, 3> values = {py::handle(), py::handle(), Py_None};
    refuse_fields(type_of<ProgramOptions>(), "Program", keywords, kwargs);
    parse_keywords("Program", keywords, values, args, kwargs);
    const auto& [code, code_type, options] = values;
    if (!code || !code_type) {
      throw py::type_error(std::string("Program needs the argument '") +
                           (code ? "code_type" : "code") + "'");
    }
    const SourceType type = to_source_type(code_type);
    return make_object<PyProgram>({std::make_shared<Program>(to_source(code, type), type,
                                                             to_options<ProgramOptions>(options))});
  });
}

std::vector<std::string> to_name_expressions(py::handle object) {
  // A str is a sequence of str too, but of its letters.
  if (PyUnicode_Check(object.ptr()) != 0) return {object.cast<std::string>()};
  if (PySequence_Check(object.ptr()) == 0) {
    throw py::type_error("name_expressions must be a list or tuple of str, not " +
                         type_name(object));
  }
  std::vector<std::string> names;
  for (const py::handle item : object) names.push_back(to_name(item, "each of name_expressions"));
  return names;
}

/// The write method of `logs`, None where there are no logs to write.
py::object to_writer(py::handle logs) {
  if (logs.is_none()) return py::none();
  py::object write = attribute_or_none(logs, "write");
  if (write.is_none()) {
    throw py::type_error("logs must have a method write(str), and " + type_name(logs) +
                         " has none");
  }
  return write;
}

void write_log(const py::object& write, const std::string& log) {
  if (!write.is_none() && !log.empty()) write(foreign_text(log));
}

/// Writes while an error is on its way, which a failing write() must not replace. Ctrl-C does.
void write_log_of_failure(const py::object& write, const std::string& log) {
  try {
    write_log(write, log);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;
    error.discard_as_unraisable("Program.compile(), writing to logs");
  }
}

ObjectCode compile(const PyProgram& self, const py::object& target_type,
                   const py::object& name_expressions, const py::object& logs) {
  const std::shared_ptr<Program> program = self.get("Program");
  const auto target = target_type.is_none()
                          ? std::nullopt
                          : std::optional(to_code_type(target_type, "target_type"));
  const std::vector<std::string> names = to_name_expressions(name_expressions);
  const py::object write = to_writer(logs);
  std::string log;
  try {
    ObjectCode code = [&] {
      const ReleaseGil release;
      return program->compile(target, names, &log);
    }();
    write_log(write, log);
    return code;
  } catch (const CompileError& error) {
    write_log_of_failure(write, error.log());
    throw;
  } catch (const LinkError& error) {
    write_log_of_failure(write, error.log());
    throw;
  }
}

py::object pch_status(const PyProgram& self) {
  const std::optional<PchStatus> status = self.get("Program")->pch_status();
  if (!status) return py::none();
  static constexpr const char* names[] = {"created", "not_attempted", "failed"};
  return to_enum("PCHStatusType", names[static_cast<std::size_t>(*status)]);
}

constexpr char class_doc[] =
    "Program(code, code_type, options=None)\n--\n\n"
    "Source text that can be compiled, several times and for several targets.\n\n"
    "C++ is compiled in this process by NVRTC, PTX and LTO IR by nvJitLink. Kernels are found by\n"
    "their plain C++ names: ``extern \"C\"`` is not needed. Several threads may use one "
    "program.\n\n"
    "Parameters\n----------\n"
    "code : str, bytes or bytearray\n    The source; text is UTF-8.\n"
    "code_type : {\"c++\", \"ptx\", \"ltoir\"}\n    What it is written in.\n"
    "options : ProgramOptions or mapping, optional\n    How it is compiled.\n\n"
    "Raises\n------\n"
    "TypeError\n    An argument has the wrong type.\n"
    "ValueError\n    There is no such code_type, or the source has a null character inside.\n"
    "NotSupportedError\n    The code_type is \"nvvm\".\n\n"
    "Examples\n--------\n"
    ">>> source = \"\"\"\n"
    "... template <typename T>\n"
    "... __global__ void axpy(T a, const T* x, T* y) { y[threadIdx.x] += a * x[threadIdx.x]; }\n"
    "... \"\"\"\n"
    ">>> program = cudacore.Program(source, \"c++\", {\"arch\": \"sm_90\"})\n"
    ">>> code = program.compile(\"cubin\", name_expressions=[\"axpy<float>\"])\n"
    ">>> code.kernels\n"
    "('axpy<float>',)";

constexpr char compile_doc[] =
    "Compiles (nvrtcCompileProgram, or nvJitLinkComplete for PTX and LTO IR).\n\n"
    "Where ``options.arch`` is set, neither a driver nor a device is needed.\n\n"
    "Parameters\n----------\n"
    "target_type : {\"cubin\", \"ptx\", \"ltoir\"}, optional\n"
    "    What to make; what the current device runs best where None. A cubin made from C++ keeps "
    "its\n"
    "    PTX beside it.\n"
    "name_expressions : sequence of str, default ()\n"
    "    Templates to instantiate, and names to keep: ``\"axpy<float>\"``.\n"
    "logs : object, optional\n"
    "    Its ``write()`` is called with the compiler's log, if there is any.\n\n"
    "Returns\n-------\nObjectCode\n\n"
    "Raises\n------\n"
    "CompileError\n    The compiler refused the source; ``.log`` holds all it said.\n"
    "LinkError\n    nvJitLink refused the PTX or LTO IR.\n"
    "ValueError\n    The program is closed, or cannot be compiled to this target.\n"
    "NotSupportedError\n    An option or the architecture is unknown to the compiler.\n"
    "LibraryNotFoundError\n    NVRTC or nvJitLink is not installed.\n"
    "DriverNotFoundError\n    ``options.arch`` is None, and there is no driver.\n\n"
    "Examples\n--------\n"
    ">>> source = \"__global__ void fill(int* p, int v) { p[threadIdx.x] = v; }\"\n"
    ">>> program = cudacore.Program(source, \"c++\", {\"arch\": \"sm_90\"})\n"
    ">>> program.compile(\"ptx\").code_type\n"
    "'ptx'";

}  // namespace

void bind_program(py::module_& module) {
  HeapClass<PyProgram> type(module, "cudacore.Program", class_doc, &create);
  add_close(
      type, "Program",
      "Gives the source up. Using the program later raises ValueError; closing it again does\n"
      "nothing. Code compiled from it stays.",
      "int: An nvrtcProgram or nvJitLinkHandle of the source, for code that speaks to the\n"
      "compiler itself; it lives as long as the program. compile() makes its own.");
  type.def("compile", &compile, py::arg("target_type") = py::none(),
           py::arg("name_expressions") = py::tuple(), py::arg("logs") = py::none(), in_parts,
           compile_doc)
      .def_property_readonly(
          "backend",
          [](const PyProgram& self) {
            return to_enum("CompilerBackendType", self.get("Program")->backend());
          },
          quick, "typing.CompilerBackendType: What compiles it: ``NVRTC`` or ``nvJitLink``.")
      .def_property_readonly(
          "log", [](const PyProgram& self) { return foreign_text(self.get("Program")->log()); },
          quick, "str: What the last compile() said: warnings, times, notes; empty where nothing.")
      .def_property_readonly(
          "pch_status", &pch_status, quick,
          "typing.PCHStatusType or None: What became of the precompiled header in the last\n"
          "compile(): ``created``,\n"
          "``not_attempted`` or ``failed``; None where none was asked for.")
      .def(
          "__reduce__",
          [](const PyProgram& /*self*/) -> py::object {
            throw py::type_error(
                "a Program is not pickled, since pickles leave source text out: pickle the "
                "ObjectCode that compile() returns, or the source and the options themselves");
          },
          quick)
      .def(
          "__repr__",
          [](const PyProgram& self) {
            if (self.shared == nullptr) return std::string("<Program, closed>");
            const std::string name = self.shared->options().name.value_or("");
            return "<Program " + (name.empty() ? "" : "'" + name + "' ") + "for " +
                   std::string(self.shared->backend()) + ", " +
                   std::to_string(self.shared->code().size()) + " bytes>";
          },
          quick);
}

}  // namespace cudacore::bindings
