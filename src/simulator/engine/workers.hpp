// SPDX-License-Identifier: Apache-2.0
//
// The host threads that do all work of all simulated devices: one for each core.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {

/// Work that is done in turns, so that a kernel that never ends holds nothing else up.
class Task {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// A time that has passed.
  static constexpr Time at_once{};

  virtual ~Task() = default;
  /// Works for some milliseconds at most. Gives when it wants to go on, behind what is queued then;
  /// nothing where there is no more to do. Several workers are in it at once if it was submitted
  /// several times. Must not block on other tasks, and must not throw.
  virtual std::optional<Time> run(Worker& worker) noexcept = 0;
};

/// A queue of tasks and the threads that serve it. The threads start with the first task, spin
/// briefly when idle before they sleep, run with default floating-point modes and block all
/// signals. They are never joined: the process ends with them. After fork, the child has none.
class Workers {
 public:
  static constexpr unsigned most = 1024;

  static Workers& instance();
  /// How many threads there are to be, at most `most`; 0: one for each core that this process may
  /// use. To be called before instance() is.
  static void set_count(unsigned count) noexcept;

  void submit(std::shared_ptr<Task> task);
  [[nodiscard]] unsigned count() const noexcept;

 private:
  struct State;
  Workers();
  State* state_;  // never destroyed: threads outlive static destruction
};

}  // namespace cudacore::simulator
