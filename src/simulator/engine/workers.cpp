// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/workers.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cfenv>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>

#include <pthread.h>
#include <sched.h>

namespace cudacore::simulator {
namespace {

/// How long an idle worker looks for the next task before it sleeps: waking one takes as long.
constexpr std::chrono::microseconds spin_time{30};
constexpr unsigned most_threads = 1024;

unsigned cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0) {
    return static_cast<unsigned>(std::max(CPU_COUNT(&set), 1));
  }
  return std::max(std::thread::hardware_concurrency(), 1u);
}

unsigned thread_count() {
  if (const char* const value = std::getenv("CUDACORE_SIMULATOR_THREADS")) {
    const std::string_view text(value);
    unsigned count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error == std::errc{} && end == text.data() + text.size() && count != 0) {
      return std::min(count, most_threads);
    }
  }
  return cores();
}

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
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
  const unsigned count = thread_count();
  std::mutex mutex;
  std::condition_variable wake;
  std::deque<std::shared_ptr<Task>> queue;
  std::atomic<std::size_t> queued{0};  ///< queue.size(), to look at without the lock
  std::atomic<unsigned> spinning{0};   ///< workers that will look at the queue before they sleep
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

  /// The next task; waits for one.
  std::shared_ptr<Task> pop() {
    spinning.fetch_add(1, std::memory_order_relaxed);
    const auto until = std::chrono::steady_clock::now() + spin_time;
    for (unsigned i = 0; queued.load(std::memory_order_acquire) == 0; ++i) {
      relax();
      if (i % 64 == 63 && std::chrono::steady_clock::now() > until) break;
    }
    std::unique_lock lock(mutex);
    spinning.fetch_sub(1, std::memory_order_relaxed);
    while (queue.empty()) {
      ++sleeping;
      wake.wait(lock);
      --sleeping;
    }
    std::shared_ptr<Task> task = std::move(queue.front());
    queue.pop_front();
    queued.store(queue.size(), std::memory_order_release);
    return task;
  }

  [[noreturn]] void serve(unsigned index) {
    std::fesetenv(FE_DFL_ENV);  // A thread begins with the modes of the one that made it.
    pthread_setname_np(pthread_self(), "cudacore-sim");
    const auto worker = std::make_unique<Worker>();
    worker->index = index;
    while (true) {
      std::shared_ptr<Task> task = pop();
      if (task->run(*worker)) push(std::move(task));
    }
  }
};

Workers::Workers() : state_(std::make_unique<State>().release()) {}

Workers& Workers::instance() {
  static Workers workers;
  return workers;
}

void Workers::submit(std::shared_ptr<Task> task) { state_->push(std::move(task)); }

unsigned Workers::count() const noexcept { return state_->count; }

}  // namespace cudacore::simulator
