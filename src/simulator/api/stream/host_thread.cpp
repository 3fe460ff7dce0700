// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/stream/host_thread.hpp"

#include <condition_variable>
#include <csignal>
#include <deque>
#include <mutex>
#include <thread>

namespace cudacore::simulator {

namespace {

thread_local bool on_callback_thread = false;

}  // namespace

/// Started with the first function, never joined: it ends with the process.
class HostThread {
 public:
  static HostThread& instance() {
    static HostThread& one = *new HostThread;  // NOLINT: the thread outlives static destruction
    return one;
  }

  void submit(HostWork& work) {
    {
      const std::scoped_lock lock(mutex_);
      waiting_.push_back(&work);
    }
    changed_.notify_one();
  }

 private:
  HostThread() {
    // Signals are for the program's own threads.
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    std::thread([this] { serve(); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }

  [[noreturn]] void serve() {
    on_callback_thread = true;
    for (;;) {
      HostWork* work = nullptr;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(lock, [this] { return !waiting_.empty(); });
        work = waiting_.front();
        waiting_.pop_front();
      }
      work->call(work->status_);
      const std::shared_ptr<Queue> queue = std::move(work->queue_);
      queue->finish(work->sequence_);
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<HostWork*> waiting_;  // their queues own them until they are finished
};

Progress HostWork::post(const Turn& turn, CUresult status) noexcept {
  queue_ = turn.queue;
  sequence_ = turn.sequence;
  status_ = status;
  HostThread::instance().submit(*this);
  return Progress::later;
}

Progress HostWork::run(const Turn& turn) noexcept { return post(turn, CUDA_SUCCESS); }

bool is_callback_thread() noexcept { return on_callback_thread; }

}  // namespace cudacore::simulator
