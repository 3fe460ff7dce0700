// SPDX-License-Identifier: Apache-2.0
#include "owner/callback.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <list>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "driver/leaked.hpp"
#include "error/unraisable.hpp"

namespace cudacore::owner {
namespace {

constinit thread_local unsigned depth = 0;

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds longest_pause{50};

struct Attempt {
  std::function<bool()> run;
  Clock::time_point due{};
  std::chrono::milliseconds pause{1};  ///< before the next one
};

/// What is left to be ended, in order. A thread exists only while there is any, so there is usually
/// none to handle in a fork or at exit.
struct Backlog {
  std::mutex mutex;
  std::condition_variable changed;
  std::list<Attempt> attempts;
  bool is_worked_on = false;
};

Backlog& backlog() { return driver::leaked<Backlog>(); }

void work() noexcept {
  Backlog& pending = backlog();
  std::unique_lock lock(pending.mutex);
  while (!pending.attempts.empty()) {
    const auto next = std::ranges::min_element(pending.attempts, {}, &Attempt::due);
    if (next->due > Clock::now()) {
      const Clock::time_point due = next->due;
      pending.changed.wait_until(lock, due);
      continue;
    }
    std::list<Attempt> current;
    current.splice(current.end(), pending.attempts, next);
    lock.unlock();
    Attempt& attempt = current.front();
    if (attempt.run()) {
      current.clear();  // what it owned is destroyed here too, without the lock
    } else {
      attempt.due = Clock::now() + attempt.pause;
      attempt.pause = std::min(2 * attempt.pause, longest_pause);
    }
    lock.lock();
    pending.attempts.splice(pending.attempts.end(), current);
  }
  pending.is_worked_on = false;
}

}  // namespace

CallbackScope::CallbackScope() noexcept { ++depth; }
CallbackScope::~CallbackScope() { --depth; }
bool in_callback() noexcept { return depth != 0; }

void try_elsewhere(std::function<bool()> attempt) noexcept {
  try {
    Backlog& pending = backlog();
    std::list<Attempt> added;
    added.push_back({std::move(attempt), Clock::now()});
    const std::scoped_lock lock(pending.mutex);
    pending.attempts.splice(pending.attempts.end(), added);
    pending.changed.notify_one();
    if (!pending.is_worked_on) {
      std::thread(work).detach();  // if no thread can be started, the next one handles everything
      pending.is_worked_on = true;
    }
  } catch (const std::exception& error) {
    error::report_unraisable(
        (std::string("what is to end on another thread is not released yet: ") + error.what())
            .c_str());
  }
}

void end_elsewhere(std::function<void()> end) noexcept {
  try_elsewhere([ended = std::move(end)] {
    ended();
    return true;
  });
}

}  // namespace cudacore::owner
