// SPDX-License-Identifier: Apache-2.0
#include "bindings/conversions.hpp"
#include "bindings/later.hpp"
#include "driver/compiler_call.hpp"
#include "driver/process.hpp"

// In the order in which they are bound; each is in the file bind_*.cpp of its name.
#define CUDACORE_BINDINGS(bind)                                                                \
  bind(options) bind(context) bind(event) bind(stream) bind(buffer) bind(strided_view)         \
      bind(tensor_map) bind(managed_buffer) bind(copies) bind(host_registration)               \
          bind(memory_resource) bind(device) bind(signature) bind(object_code) bind(program)   \
              bind(linker) bind(kernel) bind(launch_config) bind(launch) bind(traced_launches) \
                  bind(torch_allocator) bind(system) bind(nvml) bind(checkpoint)               \
                      bind(external_memory) bind(graphics) bind(simulator) bind(cache)

namespace cudacore::bindings {

#define CUDACORE_DECLARE(noun) void bind_##noun(py::module_& module);
CUDACORE_BINDINGS(CUDACORE_DECLARE)
#undef CUDACORE_DECLARE
void bind_access_policy_window(py::module_& module);
void bind_context_limits(py::module_& module);
void bind_device_resources(py::module_& module);
void bind_graph(py::module_& module);
void bind_stream_attributes(py::module_& module);
void bind_recorded_function(py::module_& module);
void bind_arrays(py::module_& module);
void bind_textures(py::module_& module);
void bind_tile_launches(py::module_& module);

}  // namespace cudacore::bindings

namespace {

namespace py = pybind11;

/// Runs the signal handlers that are due; true if one raised, leaving its error set.
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
#define CUDACORE_BIND(noun) bind_##noun(module);
  CUDACORE_BINDINGS(CUDACORE_BIND)
#undef CUDACORE_BIND

  const py::handle functions(
      reinterpret_cast<PyObject*>(py::detail::get_function_record_PyTypeObject()));
  // Methods are shown by it, as in <bound method cudacore.sync of <Stream of device 0>>.
  functions.attr("__name__") = "cudacore";
  functions.attr("__qualname__") = "cudacore";
  functions.attr("__module__") = "cudacore";
  finish(module);
  add_later({"Graph", "GraphBuilder", "GraphCondition", "_GraphDefinition", "_GraphNode",
             "_GraphWork", "_RecordedFunction", "_Recorder"},
            [](py::module_& graphs) {
              bind_graph(graphs);
              bind_recorded_function(graphs);
            });
  add_later({"MipmappedArray", "OpaqueArray"}, &bind_arrays);
  add_later({"_TileLaunches"}, &bind_tile_launches);
  add_later({"SurfaceObject", "TextureObject"}, &bind_textures);
  add_later({"AccessPolicyWindow"}, &bind_access_policy_window);
  add_later({"ContextLimits"}, &bind_context_limits);
  add_later({"DeviceResources", "SMResource", "WorkqueueResource"}, &bind_device_resources);
  add_later({"StreamAttributes"}, &bind_stream_attributes);
  module.attr("__getattr__") = py::cpp_function(&get_later, py::arg("name"));
  bind_errors_of_both(module);

  cudacore::system::set_interrupt_hook(&python_was_interrupted);
  module.attr("_end_calls_from_driver") =
      py::cpp_function(&cudacore::bindings::end_calls_from_driver);
  py::module_::import("atexit").attr("register")(module.attr("_end_calls_from_driver"));
  // When no Python runs any more, but before the process's own handlers.
  if (Py_AtExit(&cudacore::driver::end_compiler_calls) != 0) {
    throw std::runtime_error("Py_AtExit has no room for one more function");
  }
}
