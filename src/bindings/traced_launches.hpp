// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <pybind11/pybind11.h>

#include <atomic>

// Launches of a thread that traces a function. PyTorch does so with tensors that have no memory, to
// learn the shapes of the results: the function's launches are left out, and nothing is converted,
// because an int() of a symbolic size would fix the size.

namespace cudacore::bindings {

namespace detail {
/// How many threads trace, so that a launch needs no look at the thread.
inline std::atomic<int> tracing_threads{0};
[[nodiscard]] bool this_thread_traces() noexcept;
}  // namespace detail

[[nodiscard]] inline bool is_tracing() noexcept {
  return detail::tracing_threads.load(std::memory_order_relaxed) != 0 &&
         detail::this_thread_traces();
}

/// What kernel[...] is while the thread traces; calling it later is an error. A new reference.
[[nodiscard]] PyObject* traced_launcher() noexcept;

}  // namespace cudacore::bindings
