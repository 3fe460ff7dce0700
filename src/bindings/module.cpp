// SPDX-License-Identifier: Apache-2.0
#include <pybind11/pybind11.h>

#include <stdexcept>
#include <string>

#include "bindings/errors.hpp"
#include "bindings/gil.hpp"
#include "bindings/text_signature.hpp"
#include "bindings/values.hpp"
#include "bindings/wrong_calls.hpp"
#include "cudacore/system.hpp"
#include "driver/compiler_call.hpp"
#include "driver/process.hpp"

namespace {

namespace py = pybind11;

/// Runs the signal handlers that are due; true where one raised, leaving its error set.
bool python_was_interrupted() {
  using cudacore::bindings::AcquireGil;
  using cudacore::bindings::may_take_gil;
  if (!may_take_gil()) return false;
  const AcquireGil acquire;
  return PyErr_CheckSignals() != 0;
}

}  // namespace

PYBIND11_MODULE(_core, module) {
  using namespace cudacore::bindings;
  if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
    throw py::import_error("cudacore works in the main interpreter of a process, not in others");
  }
  py::options options;
  options.disable_function_signatures();

  module.doc() = "The extension module behind cudacore; import cudacore instead.";
  module.attr("__version__") = CUDACORE_VERSION;

  let_gil_go_where_blocking();
  bind_errors(module);
  bind_options(module);
  bind_context(module);
  bind_event(module);
  bind_stream(module);
  bind_buffer(module);
  bind_memory_resource(module);
  bind_device(module);
  bind_signature(module);
  bind_object_code(module);
  bind_program(module);
  bind_linker(module);
  bind_kernel(module);
  bind_launch_config(module);
  bind_launch(module);
  bind_system(module);
  bind_simulator(module);

  add_text_signatures(module);
  explain_wrong_calls(module);
  // What users see is cudacore, whichever module the classes were made in.
  for (const auto& [name, value] : module.attr("__dict__").cast<py::dict>()) {
    if (py::isinstance<py::type>(value) &&
        value.attr("__module__").equal(module.attr("__name__"))) {
      py::setattr(value, "__module__", py::str("cudacore"));
      reinterpret_cast<PyTypeObject*>(value.ptr())->tp_name =
          py::detail::c_str("cudacore." + name.cast<std::string>());
    }
  }
  bind_errors_of_both(module);

  cudacore::system::set_interrupt_hook(&python_was_interrupted);
  module.attr("_set_exiting") = py::cpp_function(&cudacore::driver::set_exiting);
  py::module_::import("atexit").attr("register")(module.attr("_set_exiting"));
  // When no Python runs any more, but before the process's own handlers.
  if (Py_AtExit(&cudacore::driver::end_compiler_calls) != 0) {
    throw std::runtime_error("Py_AtExit has no room for one more function");
  }
}
