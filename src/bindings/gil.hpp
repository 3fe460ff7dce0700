// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <memory>
#include <utility>

#include <cxxabi.h>

#include "driver/not_copied.hpp"

namespace cudacore::bindings {

// The guards of the GIL, in place of pybind11's own. When the interpreter is shutting down, a
// thread that takes the GIL is ended by pthread_exit, which unwinds through C++ and aborts the
// process: these guards hold such a thread in place, as Python 3.14 does, until the process has
// ended.

/// Waits forever, for a thread that may neither continue nor end.
[[noreturn]] void park_thread() noexcept;

/// Releases the GIL for a scope.
class ReleaseGil : driver::NotCopied {
 public:
  ReleaseGil() noexcept : state_(PyEval_SaveThread()) {}
  ~ReleaseGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {  // pthread_exit passing by: must not leave a destructor
      park_thread();
    }
  }

 private:
  PyThreadState* state_;
};

/// Takes the GIL for a scope, on any thread. Only if may_take_gil().
class AcquireGil : driver::NotCopied {
 public:
  AcquireGil() noexcept : state_(take()) {}
  ~AcquireGil() { PyGILState_Release(state_); }

 private:
  static PyGILState_STATE take() noexcept {
    try {
      return PyGILState_Ensure();
    } catch (...) {
      park_thread();
    }
  }

  PyGILState_STATE state_;
};

/// Runs Python code on a thread that may be ended while it runs: parks it there instead of
/// unwinding.
template <typename Body>
auto run_python(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (abi::__forced_unwind&) {
    park_thread();
  }
}

/// Whether the calling thread holds the GIL.
[[nodiscard]] bool holds_gil() noexcept;
/// Makes BlockingScope release the GIL if the calling thread holds it.
void let_gil_go_where_blocking() noexcept;

/// Whether Python code may still run: not in a forked child's deleters, nor while the process ends.
[[nodiscard]] bool may_take_gil() noexcept;

/// Calls a function of Python on a thread of the driver's, and reports what it raises. Does nothing
/// once Python code may not run any more.
void call_from_driver(PyObject* function, PyObject* arguments) noexcept;

/// When the process ends: lets no more such calls begin, and gives those that run some time to end.
/// One that writes to a stream of Python's has its lock, which Python then finds taken forever.
void end_calls_from_driver() noexcept;

/// Makes an object that ends with the GIL, on whatever thread the last share is dropped. It is
/// leaked once Python code may not run any more.
template <typename T, typename... Arguments>
std::shared_ptr<T> share_with_gil(Arguments&&... arguments) {
  const auto end = [](T* object) {
    if (!may_take_gil()) return;
    const AcquireGil acquire;
    run_python([object] { const std::unique_ptr<T> ended(object); });
  };
  return {std::make_unique<T>(std::forward<Arguments>(arguments)...).release(), end};
}

}  // namespace cudacore::bindings
