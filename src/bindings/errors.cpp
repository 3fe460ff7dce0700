// SPDX-License-Identifier: Apache-2.0
#include "bindings/errors.hpp"

#include <array>
#include <typeindex>
#include <unordered_map>

#include "bindings/conversions.hpp"
#include "bindings/text_signature.hpp"
#include "cudacore/nvml_error.hpp"
#include "driver/leaked.hpp"

namespace cudacore::bindings {
namespace {

// Python objects in statics outlive the interpreter: these are never released.
std::unordered_map<std::type_index, PyObject*>& classes() {
  return driver::leaked<std::unordered_map<std::type_index, PyObject*>>();
}

/// An error class that is two built-in ones. Python's types have no address before it starts.
struct ErrorOfBoth {
  const char* name;  ///< "cudacore._core.TypeAndValueError", where pickle finds it
  PyObject* const* ours;
  PyObject* const* theirs;
  PyObject* type = nullptr;
};

std::array errors_of_both = {
    ErrorOfBoth{"cudacore._core.TypeAndBufferError", &PyExc_TypeError, &PyExc_BufferError},
    ErrorOfBoth{"cudacore._core.TypeAndRuntimeError", &PyExc_TypeError, &PyExc_RuntimeError},
    ErrorOfBoth{"cudacore._core.TypeAndValueError", &PyExc_TypeError, &PyExc_ValueError},
    ErrorOfBoth{"cudacore._core.ValueAndRuntimeError", &PyExc_ValueError, &PyExc_RuntimeError},
    ErrorOfBoth{"cudacore._core.NotImplementedAndTypeError", &PyExc_NotImplementedError,
                &PyExc_TypeError},
};

/// Adds the Python class of the errors E.
template <typename E>
py::object add_class(py::module_& module, const char* name, const py::tuple& bases) {
  const std::string qualified = std::string("cudacore.") + name;
  const char* doc = documentation(module, name);
  const std::string described = with_signature(name, "*args", doc);
  py::object type = checked(
      PyErr_NewExceptionWithDoc(qualified.c_str(), described.c_str(), bases.ptr(), nullptr));
  type.attr("__doc__") = doc;  // Python does not strip the signature of such a class
  module.attr(name) = type;
  classes()[typeid(E)] = type.inc_ref().ptr();
  return type;
}

/// The class for exactly an error's type; for NVML's, by its code.
py::object class_of(const Error& error) {
  if (dynamic_cast<const NvmlError*>(&error) != nullptr) {
    return py::module_::import("cudacore.system._exceptions").attr("class_of")(error.code());
  }
  const auto found = classes().find(typeid(error));
  return py::reinterpret_borrow<py::object>(found != classes().end() ? found->second
                                                                     : classes()[typeid(Error)]);
}

/// An error as Python raises it.
py::object to_python(const Error& error) {
  const py::object type = class_of(error);
  py::object instance = type(foreign_text(error.what()));
  instance.attr("code") = error.code();
  instance.attr("name") = error.name();
  instance.attr("function") = error.function();
  if (const auto* compile = dynamic_cast<const CompileError*>(&error)) {
    instance.attr("log") = foreign_text(compile->log());
  } else if (const auto* link = dynamic_cast<const LinkError*>(&error)) {
    instance.attr("log") = foreign_text(link->log());
  } else if (const auto* missing = dynamic_cast<const LibraryNotFoundError*>(&error)) {
    py::list tried;
    for (const std::string& place : missing->tried()) tried.append(foreign_text(place));
    instance.attr("tried") = tried;
  }
  return instance;
}

/// Says in our words what pybind11 could not convert: its message has only the Python type.
void set_cast_error(std::string_view told) {
  constexpr std::string_view start = "<class '";
  const std::size_t begin = told.find(start);
  const std::size_t end = told.find("'>", begin);
  const bool is_known = begin != std::string_view::npos && end != std::string_view::npos;
  const std::string type(is_known ? told.substr(begin + start.size(), end - begin - start.size())
                                  : "");
  if (type == "str") {
    PyErr_SetString(PyExc_ValueError,
                    "a str holds a lone surrogate, which UTF-8 cannot encode, or stands where "
                    "another type is needed");
    return;
  }
  PyErr_Format(PyExc_TypeError, "a value%s%s stands where another type is needed",
               type.empty() ? "" : " of type ", type.c_str());
}

/// Sets the Python error for the library's own exceptions; passes all others on.
void translate(std::exception_ptr pointer) {
  try {
    std::rethrow_exception(std::move(pointer));
  } catch (PythonInterrupt& interrupt) {
    interrupt.restore();
  } catch (PythonOutOfMemory& raised) {
    raised.restore();
  } catch (const InterruptedError& error) {
    // The interrupt hook has left the error that a signal handler raised.
    if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
  } catch (const py::cast_error& error) {
    set_cast_error(error.what());
  } catch (const TypeMismatchError& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const std::invalid_argument& error) {
    PyErr_SetObject(PyExc_ValueError, foreign_text(error.what()).ptr());
  } catch (const Error& error) {
    const py::object instance = to_python(error);
    PyErr_SetObject(py::type::of(instance).ptr(), instance.ptr());
  }
}

}  // namespace

void raise_as_both(PyObject* ours, PyObject* theirs, const std::string& message) {
  for (const ErrorOfBoth& both : errors_of_both) {
    if (*both.ours == ours && *both.theirs == theirs) {
      PyErr_SetString(both.type, message.c_str());
      throw py::error_already_set();
    }
  }
  throw std::logic_error("no error is of both these classes: " + message);
}

std::string exception_message(const py::error_already_set& raised) {
  const auto text = py::reinterpret_steal<py::object>(PyObject_Str(raised.value().ptr()));
  const char* said = text ? PyUnicode_AsUTF8(text.ptr()) : nullptr;
  PyErr_Clear();  // what its __str__ raised
  const std::string_view message = said == nullptr ? "" : said;
  return std::string(message.substr(0, message.find('\n')));
}

std::string exception_text(const py::error_already_set& raised) {
  const std::string message = exception_message(raised);
  const auto type = py::str(raised.type().attr("__name__")).cast<std::string>();
  return message.empty() ? type : type + ": " + message;
}

void set_python_error() noexcept {
  try {
    try {
      throw;
    } catch (py::error_already_set& error) {
      error.restore();
    } catch (const py::cast_error& error) {
      set_cast_error(error.what());
    } catch (const py::builtin_exception& error) {
      error.set_error();
    } catch (...) {
      translate(std::current_exception());
    }
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::overflow_error& error) {
    PyErr_SetString(PyExc_OverflowError, error.what());
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  } catch (...) {
    PyErr_SetString(PyExc_SystemError, "cudacore: an unknown C++ exception");
  }
}

void bind_errors_of_both(py::module_& module) {
  for (ErrorOfBoth& both : errors_of_both) {
    const py::tuple bases = py::make_tuple(py::handle(*both.ours), py::handle(*both.theirs));
    both.type = PyErr_NewExceptionWithDoc(
        both.name, "A wrong call, for which cuda.core raises another class than cudacore.",
        bases.ptr(), nullptr);
    if (both.type == nullptr) throw py::error_already_set();
    const std::string_view path(both.name);
    module.attr(std::string(path.substr(path.rfind('.') + 1)).c_str()) = py::handle(both.type);
  }
}

void bind_errors(py::module_& module) {
  const py::object cuda =
      add_class<Error>(module, "CUDAError", py::make_tuple(py::handle(PyExc_RuntimeError)));
  cuda.attr("code") = 0;
  cuda.attr("name") = "";
  cuda.attr("function") = "";
  const py::tuple base = py::make_tuple(cuda);
  const py::tuple memory = py::make_tuple(cuda, py::handle(PyExc_MemoryError));
  add_class<OutOfMemoryError>(module, "OutOfMemoryError", memory);
  const py::tuple value = py::make_tuple(cuda, py::handle(PyExc_ValueError));
  add_class<InvalidValueError>(module, "InvalidValueError", value);
  add_class<NotSupportedError>(module, "NotSupportedError", base);
  add_class<LaunchError>(module, "LaunchError", base);
  add_class<ContextLostError>(module, "ContextLostError", base);
  add_class<ForkedProcessError>(module, "ForkedProcessError", base);
  const py::object missing = add_class<LibraryNotFoundError>(module, "LibraryNotFoundError", base);
  missing.attr("tried") = py::list();
  add_class<DriverNotFoundError>(module, "DriverNotFoundError", py::make_tuple(missing));
  add_class<CompileError>(module, "CompileError", base).attr("log") = "";
  add_class<LinkError>(module, "LinkError", base).attr("log") = "";
  py::register_exception_translator([](std::exception_ptr pointer) {
    if (pointer) translate(std::move(pointer));
  });
}

}  // namespace cudacore::bindings
