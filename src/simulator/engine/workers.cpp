// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/workers.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cfenv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

#include "simulator/engine/spin_pause.hpp"

namespace cudacore::simulator {
namespace {

/// How long an idle worker looks for the next task before it sleeps: waking one takes as long.
constexpr std::chrono::microseconds spin_time{30};

std::atomic<unsigned> wanted_count{0};

unsigned cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<unsigned>(std::max(CPU_COUNT(&set), 1));
  }
  return std::max(std::thread::hardware_concurrency(), 1u);
}

unsigned thread_count() {
  const unsigned wanted = wanted_count.load(std::memory_order_relaxed);
  return wanted != 0 ? wanted : cores();
}

/// Signals are for the host program's own threads.
class BlockedSignals {
 public:
  BlockedSignals() noexcept {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~BlockedSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

struct Workers::State {
  using Time = Task::Time;
  struct Later {
    Time at;
    std::shared_ptr<Task> task;
    bool operator<(const Later& other) const noexcept { return at > other.at; }  // for a heap
  };
  static constexpr Time never = Time::max();

  const unsigned count = thread_count();
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::shared_ptr<Task>> queue;
  std::atomic<std::size_t> queued{0};  ///< queue.size(), readable without the lock
  std::atomic<unsigned> spinning{0};   ///< workers that will check the queue before they sleep
  std::vector<Later> later;            ///< a heap, the earliest first
  std::atomic<Time> earliest{never};   ///< the earliest of them, readable without the lock
  Time watched = never;                ///< a sleeping worker wakes then
  unsigned sleeping = 0;
  unsigned started = 0;

  void push(std::shared_ptr<Task> task) {
    bool notify = false;
    {
      const std::scoped_lock lock(mutex);
      queue.push_back(std::move(task));
      queued.store(queue.size(), std::memory_order_release);
      notify = sleeping != 0 && queue.size() > spinning.load(std::memory_order_relaxed);
      if (started < count && queue.size() > sleeping) start_thread();
    }
    if (notify) wake.notify_one();
  }

  /// Called by a worker, which checks for tasks next: no other worker needs to be woken.
  void push_later(std::shared_ptr<Task> task, Time at) {
    const std::scoped_lock lock(mutex);
    later.push_back({at, std::move(task)});
    std::push_heap(later.begin(), later.end());
    earliest.store(later.front().at, std::memory_order_relaxed);
  }

  /// Queues the tasks whose time has come. Returns whether there were any.
  bool queue_due() {
    if (later.empty()) return false;
    const Time now = std::chrono::steady_clock::now();
    const std::size_t before = later.size();
    while (!later.empty() && later.front().at <= now) {
      queue.push_back(std::move(later.front().task));
      std::pop_heap(later.begin(), later.end());
      later.pop_back();
    }
    earliest.store(later.empty() ? never : later.front().at, std::memory_order_relaxed);
    return later.size() != before;
  }

  void start_thread() {
    const BlockedSignals blocked;
    const unsigned index = started;
    try {
      std::thread([this, index] { serve(index); }).detach();
      ++started;
    } catch (const std::system_error&) {
      if (started == 0) {
        queue.pop_back();
        queued.store(queue.size(), std::memory_order_release);
        throw;
      }
    }
  }

  /// Returns the next task; waits for one.
  std::shared_ptr<Task> pop() {
    spinning.fetch_add(1, std::memory_order_relaxed);
    const auto until = std::chrono::steady_clock::now() + spin_time;
    for (unsigned i = 0; queued.load(std::memory_order_acquire) == 0; ++i) {
      spin_pause();
      if (i % 64 != 63) continue;
      const Time now = std::chrono::steady_clock::now();
      if (now > until || now >= earliest.load(std::memory_order_relaxed)) break;
    }
    std::unique_lock lock(mutex);
    spinning.fetch_sub(1, std::memory_order_relaxed);
    bool due = queue_due();
    while (queue.empty()) {
      sleep(lock);
      due |= queue_due();
    }
    std::shared_ptr<Task> task = std::move(queue.front());
    queue.pop_front();
    queued.store(queue.size(), std::memory_order_release);
    // Another worker has to handle the other tasks whose time has come, or will come.
    const bool notify = sleeping != 0 &&
                        ((due && !queue.empty()) || (!later.empty() && later.front().at < watched));
    lock.unlock();
    if (notify) wake.notify_one();
    return task;
  }

  /// Sleeps until there may be something to do. Only one worker wakes for future tasks.
  void sleep(std::unique_lock<std::mutex>& lock) {
    ++sleeping;
    if (!later.empty() && later.front().at < watched) {
      watched = later.front().at;
      wake.wait_until(lock, Time(watched));
      watched = never;
    } else {
      wake.wait(lock);
    }
    --sleeping;
  }

  [[noreturn]] void serve(unsigned index) {
    std::fesetenv(FE_DFL_ENV);  // A thread inherits the modes of the thread that created it.
    pthread_setname_np(pthread_self(), "cudacore-sim");
    prctl(PR_SET_TIMERSLACK, 1UL);  // nanoseconds of delay, instead of 50 microseconds
    const auto worker = std::make_unique<Worker>();
    worker->index = index;
    while (true) {
      std::shared_ptr<Task> task = pop();
      const std::optional<Time> next = task->run(*worker);
      if (next == Task::at_once) {
        push(std::move(task));
      } else if (next) {
        push_later(std::move(task), *next);
      }
    }
  }
};

Workers::Workers() : state_(std::make_unique<State>().release()) {}

Workers& Workers::instance() {
  static Workers workers;
  return workers;
}

void Workers::set_count(unsigned count) noexcept {
  wanted_count.store(count, std::memory_order_relaxed);
}

void Workers::submit(std::shared_ptr<Task> task) { state_->push(std::move(task)); }

unsigned Workers::count() const noexcept { return state_->count; }

}  // namespace cudacore::simulator
