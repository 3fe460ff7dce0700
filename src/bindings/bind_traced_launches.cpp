// SPDX-License-Identifier: Apache-2.0
#include "bindings/policy.hpp"
#include "bindings/traced_launches.hpp"

namespace cudacore::bindings {
namespace {

thread_local bool traces = false;
PyObject* launcher = nullptr;

/// Returns what was in effect.
bool trace_launches(bool on) noexcept {
  const bool before = std::exchange(traces, on);
  detail::tracing_threads.fetch_add(static_cast<int>(on) - static_cast<int>(before),
                                    std::memory_order_relaxed);
  return before;
}

void launch_nothing(const py::args& /*args*/) {
  if (is_tracing()) return;
  throw std::runtime_error(
      "this launcher was made while PyTorch traced the function, and launches nothing: don't keep "
      "launchers between calls, write kernel[grid, block](...)");
}

}  // namespace

bool detail::this_thread_traces() noexcept { return traces; }

PyObject* traced_launcher() noexcept { return Py_NewRef(launcher); }

void bind_traced_launches(py::module_& plain) {
  MethodsWithPolicy<py::module_> module(plain);
  module.def("_trace_launches", quick, py::arg("on"), &trace_launches);
  module.def("_traced_launcher", quick, &launch_nothing);
  launcher = py::object(module.attr("_traced_launcher")).release().ptr();
}

}  // namespace cudacore::bindings
