// SPDX-License-Identifier: Apache-2.0
//
// The host threads that do all work of all simulated devices: one for each core.
#pragma once

#include <memory>

#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {

/// Work that is done in turns, so that a kernel that never ends holds nothing else up.
class Task {
 public:
  virtual ~Task() = default;
  /// Works for some milliseconds at most. True where there is more to do: it is queued again,
  /// behind the others. Several workers are in it at once if it was submitted several times. Must
  /// not block on other tasks, and must not throw.
  virtual bool run(Worker& worker) noexcept = 0;
};

/// A queue of tasks and the threads that serve it. The threads start with the first task, spin
/// briefly when idle before they sleep, run with default floating-point modes and block all
/// signals. They are never joined: the process ends with them. After fork, the child has none.
class Workers {
 public:
  static Workers& instance();

  void submit(std::shared_ptr<Task> task);
  /// CUDACORE_SIMULATOR_THREADS, or the cores this process may use.
  [[nodiscard]] unsigned count() const noexcept;

 private:
  struct State;
  Workers();
  State* state_;  // never destroyed: threads outlive static destruction
};

}  // namespace cudacore::simulator
