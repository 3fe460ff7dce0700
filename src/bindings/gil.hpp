// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <utility>

#include <cxxabi.h>

namespace cudacore::bindings {

// The guards of the GIL, in place of pybind11's own. When the interpreter is on its way out, a
// thread that takes the GIL is ended by pthread_exit, which unwinds through C++ and aborts the
// process: these guards hold such a thread where it is, as Python 3.14 does, until the process has
// gone.

/// Waits for ever: for a thread that may neither go on nor end.
[[noreturn]] void park_thread() noexcept;

/// Lets the GIL go for a scope.
class ReleaseGil {
 public:
  ReleaseGil() noexcept : state_(PyEval_SaveThread()) {}
  ~ReleaseGil() {
    try {
      PyEval_RestoreThread(state_);
    } catch (...) {  // pthread_exit passing by: must not leave a destructor
      park_thread();
    }
  }
  ReleaseGil(const ReleaseGil&) = delete;
  ReleaseGil& operator=(const ReleaseGil&) = delete;

 private:
  PyThreadState* state_;
};

/// Takes the GIL for a scope, on any thread. Only where may_take_gil().
class AcquireGil {
 public:
  AcquireGil() noexcept : state_(take()) {}
  ~AcquireGil() { PyGILState_Release(state_); }
  AcquireGil(const AcquireGil&) = delete;
  AcquireGil& operator=(const AcquireGil&) = delete;

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
/// Makes BlockingScope let go of the GIL where the calling thread holds it.
void let_gil_go_where_blocking() noexcept;

/// Whether Python code may still run: not in a forked child's deleters, not at the process's end.
[[nodiscard]] bool may_take_gil() noexcept;

}  // namespace cudacore::bindings
