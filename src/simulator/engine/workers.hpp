// SPDX-License-Identifier: Apache-2.0
//
// The host threads that do all the work of all simulated devices: one per core.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {

/// Work that is done in turns, so that a kernel that never ends doesn't block anything else.
class Task {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// A time in the past.
  static constexpr Time at_once{};

  virtual ~Task() = default;
  /// Works for some milliseconds at most. Returns when it wants to continue, after what is queued
  /// by then; nothing if it is done. Several workers run it at once if it was submitted several
  /// times. Must not block on other tasks, and must not throw.
  virtual std::optional<Time> run(Worker& worker) noexcept = 0;
};

/// A queue of tasks and the threads that serve it. The threads start with the first task, spin
/// briefly when idle before they sleep, run with the default floating-point modes, and block all
/// signals. They are never joined: they end with the process. After a fork, the child has none.
class Workers {
 public:
  static constexpr unsigned most = 1024;

  static Workers& instance();
  /// Sets the number of threads, at most `most`; 0 means one per core that this process may use.
  /// Must be called before instance().
  static void set_count(unsigned count) noexcept;

  void submit(std::shared_ptr<Task> task);
  [[nodiscard]] unsigned count() const noexcept;

 private:
  struct State;
  Workers();
  State* state_;  // never destroyed: threads outlive static destruction
};

}  // namespace cudacore::simulator
