// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "bindings/code_objects.hpp"
#include "bindings/keywords.hpp"
#include "bindings/options.hpp"
#include "bindings/python_cache.hpp"
#include "compile/compiler_environment.hpp"

namespace cudacore::bindings {
namespace {

SourceType to_source_type(py::handle object) {
  constexpr char there_are[] = "\"c++\", \"ptx\" or \"ltoir\"";
  if (PyUnicode_Check(object.ptr()) == 0) refuse_type("code_type", there_are, object);
  const std::string name = in_small_letters(object);
  if (name == "c++") return SourceType::cxx;
  if (name == "ptx") return SourceType::ptx;
  if (name == "ltoir") return SourceType::ltoir;
  if (name == "nvvm") {
    throw NotSupportedError(
        "Program: NVVM IR needs libNVVM, which cudacore does not call; give it C++, PTX or LTO IR");
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
    refuse_type(
        "code",
        type == SourceType::ltoir ? "bytes or bytearray for LTO IR" : "str, bytes or bytearray",
        object);
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
  // A str is a sequence of str too: of its letters.
  if (PyUnicode_Check(object.ptr()) != 0) return {object.cast<std::string>()};
  if (PySequence_Check(object.ptr()) == 0) {
    refuse_type("name_expressions", "a list or tuple of str", object);
  }
  std::vector<std::string> names;
  for (const py::handle item : object) names.push_back(to_name(item, "each of name_expressions"));
  return names;
}

/// The write method of `logs`; None if there are no logs to write.
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

/// Writes while an error is being raised, which a failing write() must not replace. Ctrl-C does.
void write_log_of_failure(const py::object& write, const std::string& log) {
  try {
    write_log(write, log);
  } catch (py::error_already_set& error) {
    if (!error.matches(PyExc_Exception)) throw;
    error.discard_as_unraisable("Program.compile(), writing to logs");
  }
}

ObjectCode compile(const PyProgram& self, const py::object& target_type,
                   const py::object& name_expressions, const py::object& logs,
                   const py::object& cache) {
  const std::shared_ptr<Program> program = self.get("Program");
  const auto target = target_type.is_none()
                          ? std::nullopt
                          : std::optional(to_code_type(target_type, "target_type"));
  const std::vector<std::string> names = to_name_expressions(name_expressions);
  const py::object write = to_writer(logs);
  const bool is_resource = !cache.is_none() && !py::isinstance<py::bool_>(cache);
  const cache::Use use = is_resource ? cache::Use::no : to_cache_use(cache);
  const auto run = [&] {
    std::string log;
    try {
      ObjectCode code = [&] {
        const compile::HeldEnvironment environment;
        const ReleaseGil release;
        return program->compile(target, names, &log, use);
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
  };
  return is_resource ? compile_through(cache, *program, target, !names.empty(), run) : run();
}

py::object pch_status(const PyProgram& self) {
  const std::optional<PchStatus> status = self.get("Program")->pch_status();
  if (!status) return py::none();
  static constexpr const char* names[] = {"created", "not_attempted", "failed"};
  return to_member("PCHStatusType", names[static_cast<std::size_t>(*status)]);
}

}  // namespace

void bind_program(py::module_& module) {
  HeapClass<PyProgram> type(module, "cudacore.Program", &create);
  add_close(type, "Program");
  type.def("compile", in_parts, py::arg("target_type") = py::none(),
           py::arg("name_expressions") = py::tuple(), py::arg("logs") = py::none(), py::kw_only(),
           py::arg("cache") = py::none(), &compile)
      .property("backend", quick,
                [](const PyProgram& self) {
                  return to_member("CompilerBackendType", self.get("Program")->backend());
                })
      .property("log", quick,
                [](const PyProgram& self) { return foreign_text(self.get("Program")->log()); })
      .property("pch_status", quick, &pch_status)
      .def("__reduce__", quick,
           [](const PyProgram& /*self*/) -> py::object {
             throw py::type_error(
                 "a Program is not pickled, since pickles leave source text out: pickle the "
                 "ObjectCode that compile() returns, or the source and the options themselves");
           })
      .def("__repr__", quick, [](const PyProgram& self) {
        if (self.shared == nullptr) return std::string("<Program, closed>");
        const std::string name = self.shared->options().name.value_or("");
        return "<Program " + (name.empty() ? "" : "'" + name + "' ") + "for " +
               std::string(self.shared->backend()) + ", " +
               std::to_string(self.shared->code().size()) + " bytes>";
      });
}

}  // namespace cudacore::bindings
