// SPDX-License-Identifier: Apache-2.0
#include "bindings/gil.hpp"

#include <atomic>
#include <chrono>
#include <thread>

#include <unistd.h>

#include "bindings/keep_gil.hpp"
#include "driver/blocking.hpp"
#include "driver/process.hpp"
#include "error/unraisable.hpp"

namespace cudacore::bindings {

namespace py = pybind11;

void park_thread() noexcept {
  for (;;) ::pause();
}

bool holds_gil() noexcept {
  PyThreadState* state = PyGILState_GetThisThreadState();
  return state != nullptr && state == py::detail::get_thread_state_unchecked();
}

namespace {

thread_local int keepers = 0;  ///< how many KeepGil live

void* release_if_held() noexcept {
  return keepers == 0 && holds_gil() ? PyEval_SaveThread() : nullptr;
}

void take_if_released(void* state) noexcept {
  if (state == nullptr) return;
  try {
    PyEval_RestoreThread(static_cast<PyThreadState*>(state));
  } catch (...) {  // pthread_exit passing by: must not leave a destructor
    park_thread();
  }
}

std::atomic<int> running_calls{0};

struct RunningCall : driver::NotCopied {
  RunningCall() noexcept { ++running_calls; }
  ~RunningCall() { --running_calls; }
};

bool may_block() noexcept { return keepers != 0 || !holds_gil(); }

}  // namespace

KeepGil::KeepGil() noexcept { ++keepers; }
KeepGil::~KeepGil() { --keepers; }

void let_gil_go_where_blocking() noexcept {
  static constexpr driver::BlockingHooks hooks{&release_if_held, &take_if_released, &may_block};
  driver::set_blocking_hooks(hooks);
}

bool may_take_gil() noexcept {
  return !driver::is_exiting() && !driver::is_forked_child() && Py_IsInitialized() != 0;
}

void call_from_driver(PyObject* function, PyObject* arguments) noexcept {
  const RunningCall running;
  if (!may_take_gil()) return;
  const AcquireGil acquire;
  // Reporting an error runs Python code too.
  run_python([&] {
    PyObject* result = PyObject_CallObject(function, arguments);
    if (result != nullptr) {
      Py_DECREF(result);
      return;
    }
    PyErr_WriteUnraisable(function);
    error::count_unraisable();
  });
}

void end_calls_from_driver() noexcept {
  driver::set_exiting();
  const ReleaseGil release;
  constexpr std::chrono::milliseconds step(1);
  for (int i = 0; i < 500 && running_calls != 0; ++i) std::this_thread::sleep_for(step);
}

}  // namespace cudacore::bindings
