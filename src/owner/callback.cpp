// SPDX-License-Identifier: Apache-2.0
#include "owner/callback.hpp"

#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "driver/leaked.hpp"
#include "error/unraisable.hpp"

namespace cudacore::owner {
namespace {

constinit thread_local unsigned depth = 0;

/// Objects that callbacks dropped, in order. A thread exists only while there are any, so there is
/// usually none to handle in a fork or at exit.
struct Backlog {
  std::mutex mutex;
  std::deque<std::function<void()>> ends;
  bool is_worked_on = false;
};

Backlog& backlog() { return driver::leaked<Backlog>(); }

void work() noexcept {
  Backlog& pending = backlog();
  std::unique_lock lock(pending.mutex);
  while (!pending.ends.empty()) {
    std::function<void()> end = std::move(pending.ends.front());
    pending.ends.pop_front();
    lock.unlock();
    end();
    end = nullptr;  // what it owned is destroyed here too, without the lock
    lock.lock();
  }
  pending.is_worked_on = false;
}

}  // namespace

CallbackScope::CallbackScope() noexcept { ++depth; }
CallbackScope::~CallbackScope() { --depth; }
bool in_callback() noexcept { return depth != 0; }

void end_elsewhere(std::function<void()> end) noexcept {
  try {
    Backlog& pending = backlog();
    const std::scoped_lock lock(pending.mutex);
    pending.ends.push_back(std::move(end));
    if (!pending.is_worked_on) {
      std::thread(work).detach();  // if no thread can be started, the next one handles everything
      pending.is_worked_on = true;
    }
  } catch (const std::exception& error) {
    error::report_unraisable(
        (std::string("what a host callback let go of is not released yet: ") + error.what())
            .c_str());
  }
}

}  // namespace cudacore::owner
