// SPDX-License-Identifier: Apache-2.0
#include "bindings/policy.hpp"
#include "bindings/traced_launches.hpp"

namespace cudacore::bindings {
namespace {

/// Whether a thread traces; one that ends does no more.
struct Tracing : driver::NotCopied {
  bool is_on = false;

  /// Returns what was in effect.
  bool turn(bool on) noexcept {
    const bool before = std::exchange(is_on, on);
    detail::tracing_threads.fetch_add(static_cast<int>(on) - static_cast<int>(before),
                                      std::memory_order_relaxed);
    return before;
  }
  ~Tracing() { turn(false); }
};

thread_local Tracing tracing;
PyObject* launcher = nullptr;

/// Returns what was in effect.
bool trace_launches(bool on) noexcept { return tracing.turn(on); }

void launch_nothing(const py::args& /*args*/) {
  if (is_tracing()) return;
  throw std::runtime_error(
      "this launcher was made while PyTorch traced the function, and launches nothing: don't keep "
      "launchers between calls, write kernel[grid, block](...)");
}

}  // namespace

bool detail::this_thread_traces() noexcept { return tracing.is_on; }

PyObject* traced_launcher() noexcept { return Py_NewRef(launcher); }

void bind_traced_launches(py::module_& plain) {
  MethodsWithPolicy<py::module_> module(plain);
  module.def("_trace_launches", quick, py::arg("on"), &trace_launches);
  module.def("_traced_launcher", quick, &launch_nothing);
  launcher = py::object(module.attr("_traced_launcher")).release().ptr();
}

}  // namespace cudacore::bindings
