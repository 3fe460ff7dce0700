// SPDX-License-Identifier: Apache-2.0
#include "bindings/errors.hpp"

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "bindings/foreign_text.hpp"
#include "bindings/text_signature.hpp"
#include "cudacore/error.hpp"

namespace cudacore::bindings {

namespace {

// Python objects in statics outlive the interpreter: these are never released.
struct ExceptionTypes {
  PyObject* cuda = nullptr;
  PyObject* out_of_memory = nullptr;
  PyObject* invalid_value = nullptr;
  PyObject* not_supported = nullptr;
  PyObject* launch = nullptr;
  PyObject* context_lost = nullptr;
  PyObject* forked = nullptr;
  PyObject* library_not_found = nullptr;
  PyObject* driver_not_found = nullptr;
  PyObject* compile = nullptr;
  PyObject* link = nullptr;
};

ExceptionTypes types;

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

PyObject* add_type(py::module_& module, const char* name, py::tuple bases, const char* doc) {
  const std::string qualified = std::string("cudacore.") + name;
  const std::string described = with_signature(name, "*args", doc);
  PyObject* type =
      PyErr_NewExceptionWithDoc(qualified.c_str(), described.c_str(), bases.ptr(), nullptr);
  if (type == nullptr) throw py::error_already_set();
  py::handle(type).attr("__doc__") = doc;  // of a class made so, Python leaves the signature in
  module.attr(name) = py::handle(type);
  return type;
}

py::object make(PyObject* type, const Error& error) {
  py::object instance = py::handle(type)(foreign_text(error.what()));
  instance.attr("code") = error.code();
  instance.attr("name") = error.name();
  instance.attr("function") = error.function();
  return instance;
}

template <typename T>
py::object make_with_log(PyObject* type, const T& error) {
  py::object instance = make(type, error);
  instance.attr("log") = foreign_text(error.log());
  return instance;
}

py::object make_with_places(PyObject* type, const LibraryNotFoundError& error) {
  py::object instance = make(type, error);
  py::list tried;
  for (const std::string& place : error.tried()) tried.append(foreign_text(place));
  instance.attr("tried") = tried;
  return instance;
}

void raise(const py::object& instance) {
  PyErr_SetObject(py::type::of(instance).ptr(), instance.ptr());
}

/// In our words what pybind11 could not convert: it tells the Python type, and no more.
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

/// Sets the Python error for the library's own exceptions; lets all others pass.
void translate(std::exception_ptr pointer) {
  try {
    std::rethrow_exception(std::move(pointer));
  } catch (PythonInterrupt& interrupt) {
    interrupt.restore();
  } catch (const InterruptedError& error) {
    // The interrupt hook has left the error that a signal handler raised.
    if (PyErr_Occurred() == nullptr) PyErr_SetString(PyExc_KeyboardInterrupt, error.what());
  } catch (const py::cast_error& error) {
    set_cast_error(error.what());
  } catch (const TypeMismatchError& error) {
    PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const CompileError& error) {
    raise(make_with_log(types.compile, error));
  } catch (const LinkError& error) {
    raise(make_with_log(types.link, error));
  } catch (const DriverNotFoundError& error) {
    raise(make_with_places(types.driver_not_found, error));
  } catch (const LibraryNotFoundError& error) {
    raise(make_with_places(types.library_not_found, error));
  } catch (const OutOfMemoryError& error) {
    raise(make(types.out_of_memory, error));
  } catch (const InvalidValueError& error) {
    raise(make(types.invalid_value, error));
  } catch (const NotSupportedError& error) {
    raise(make(types.not_supported, error));
  } catch (const LaunchError& error) {
    raise(make(types.launch, error));
  } catch (const ContextLostError& error) {
    raise(make(types.context_lost, error));
  } catch (const ForkedProcessError& error) {
    raise(make(types.forked, error));
  } catch (const Error& error) {
    raise(make(types.cuda, error));
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
  } catch (const std::invalid_argument& error) {
    PyErr_SetString(PyExc_ValueError, error.what());
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
  const py::handle runtime(PyExc_RuntimeError);
  types.cuda =
      add_type(module, "CUDAError", py::make_tuple(runtime),
               "Base of every failure that CUDA reported, or that kept it from being called.\n\n"
               "Attributes\n----------\n"
               "code : int\n    The library's result code; 0 where no library was reached.\n"
               "name : str\n    The code's name, such as ``CUDA_ERROR_INVALID_VALUE``.\n"
               "function : str\n    The function that failed, such as ``cuMemAllocAsync``.\n");
  const py::handle cuda(types.cuda);
  cuda.attr("code") = 0;
  cuda.attr("name") = "";
  cuda.attr("function") = "";
  types.out_of_memory =
      add_type(module, "OutOfMemoryError", py::make_tuple(cuda, py::handle(PyExc_MemoryError)),
               "The device or the host has too little free memory.");
  types.invalid_value =
      add_type(module, "InvalidValueError", py::make_tuple(cuda, py::handle(PyExc_ValueError)),
               "The driver refused a value or a handle.");
  types.not_supported = add_type(module, "NotSupportedError", py::make_tuple(cuda),
                                 "The device, the driver or the library lacks what was asked for.");
  types.launch = add_type(module, "LaunchError", py::make_tuple(cuda),
                          "A kernel failed while it ran, or could not be started.");
  types.context_lost =
      add_type(module, "ContextLostError", py::make_tuple(cuda),
               "An earlier failure, or a reset of the simulated device, ended the context.");
  types.forked = add_type(module, "ForkedProcessError", py::make_tuple(cuda),
                          "The process was forked after CUDA was initialised.");
  types.library_not_found = add_type(module, "LibraryNotFoundError", py::make_tuple(cuda),
                                     "A shared library was not found.\n\n"
                                     "Attributes\n----------\n"
                                     "tried : list of str\n    Every place looked in, in order.\n");
  py::handle(types.library_not_found).attr("tried") = py::list();
  types.driver_not_found =
      add_type(module, "DriverNotFoundError", py::make_tuple(py::handle(types.library_not_found)),
               "libcuda was not found, or found no device.");
  types.compile = add_type(module, "CompileError", py::make_tuple(cuda),
                           "NVRTC refused the source.\n\n"
                           "Attributes\n----------\n"
                           "log : str\n    The compiler's whole log.\n");
  py::handle(types.compile).attr("log") = "";
  types.link = add_type(module, "LinkError", py::make_tuple(cuda),
                        "nvJitLink refused its inputs.\n\n"
                        "Attributes\n----------\n"
                        "log : str\n    The linker's whole log.\n");
  py::handle(types.link).attr("log") = "";
  py::register_exception_translator([](std::exception_ptr pointer) {
    if (pointer) translate(std::move(pointer));
  });
}

}  // namespace cudacore::bindings
