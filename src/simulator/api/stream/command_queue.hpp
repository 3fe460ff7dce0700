// SPDX-License-Identifier: Apache-2.0
//
// Queues of work, which streams are built on.
//
// A queue does its work one piece after another; several queues run side by side. A piece may also
// wait for points of other queues, in any context. No thread ever blocks until work is ready: the
// thread that completes the last thing that a piece waits for starts the piece, or hands it to the
// workers if it is long.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "simulator/api/cuda_api.hpp"

namespace cudacore::simulator {

class Queue;
class QueueGroup;
class Scheduler;

/// The end of a piece of work in its queue. A point without a queue has passed.
struct Point {
  std::shared_ptr<Queue> queue;
  std::uint64_t sequence = 0;

  [[nodiscard]] bool passed() const noexcept;
  /// Blocks until it has passed, which always happens in the end, even if the context is lost.
  void wait() const;
};

enum class Progress : std::uint8_t {
  done,   ///< the work is complete
  again,  ///< call again, on a worker, after others had their turn
  later,  ///< Queue::finish() will be called when it is complete
};

/// The turn of a piece of work.
struct Turn {
  const std::shared_ptr<Queue>& queue;
  std::uint64_t sequence;
};

/// What a queue contains. Only one thread at a time is in run() or drop().
class Work {
 public:
  Work() = default;
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;

  /// Roughly how many bytes the next call of run() touches. If there are many, a worker calls it.
  [[nodiscard]] virtual std::size_t cost() const noexcept { return 0; }
  /// Does the work, or a part that takes some milliseconds. Never blocks. After it returns `later`,
  /// *this may be gone.
  virtual Progress run(const Turn& turn) noexcept = 0;
  /// Called instead of run() once the context is lost.
  virtual Progress drop(const Turn&, CUresult) noexcept { return Progress::done; }
  /// Requests that work that returned `later` end soon, because the context is lost. Must not call
  /// the queue.
  virtual void cancel() noexcept {}
};

enum class QueueKind : std::uint8_t {
  legacy,  ///< waits for all blocking queues of its group, and vice versa
  blocking,
  non_blocking,
};

/// Work in order. Made by QueueGroup; lives as long as anything holds it or it has work.
class Queue : public std::enable_shared_from_this<Queue> {
 public:
  /// How many pieces may be outstanding; one more blocks the caller, as on a real device.
  static constexpr std::size_t max_outstanding = 1024;

  /// Adds work that also waits for the points. Fails with the error of a lost context.
  CUresult enqueue(std::unique_ptr<Work> work, std::vector<Point> after = {},
                   std::uint64_t* sequence = nullptr);
  /// Completes the running piece, which returned `later`.
  void finish(std::uint64_t sequence) noexcept;

  /// CUDA_SUCCESS, CUDA_ERROR_NOT_READY, or why the context is lost.
  [[nodiscard]] CUresult query() const noexcept;
  /// Waits for everything that is in the queue now; a legacy queue also waits for the blocking
  /// queues.
  CUresult synchronize();
  [[nodiscard]] bool passed(std::uint64_t sequence) const noexcept {
    return completed_.load(std::memory_order_acquire) >= sequence;
  }
  void wait(std::uint64_t sequence);
  /// The end of everything that is in the queue now.
  [[nodiscard]] Point last();

  [[nodiscard]] QueueKind kind() const noexcept { return kind_; }
  [[nodiscard]] QueueGroup& group() const noexcept { return *group_; }

  Queue(std::shared_ptr<QueueGroup> group, QueueKind kind);
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

 private:
  friend class QueueGroup;
  friend class Scheduler;

  struct Entry {
    std::unique_ptr<Work> work;
    std::vector<Point> after;
  };
  struct Waiter {
    std::uint64_t sequence;
    std::shared_ptr<Queue> queue;
  };

  const std::shared_ptr<QueueGroup> group_;
  const QueueKind kind_;
  std::atomic<std::uint64_t> completed_{0};
  // Everything below is guarded by the scheduler's mutex.
  std::deque<Entry> entries_;  // the first has sequence completed_ + 1
  std::uint64_t submitted_ = 0;
  bool running_ = false;         // the first entry
  bool detached_ = false;        // it returned `later`
  bool waiting_ = false;         // the first entry waits for another queue
  std::vector<Waiter> waiters_;  // queues whose first entries wait for this one
  std::condition_variable changed_;
  unsigned sleepers_ = 0;
  std::size_t active_index_ = 0;  // in the group's list, while there are entries
};

/// The queues of a context, which are lost together.
class QueueGroup : public std::enable_shared_from_this<QueueGroup> {
 public:
  static std::shared_ptr<QueueGroup> create() { return std::make_shared<QueueGroup>(); }
  QueueGroup() = default;
  QueueGroup(const QueueGroup&) = delete;
  QueueGroup& operator=(const QueueGroup&) = delete;

  /// At most one legacy queue at a time.
  [[nodiscard]] std::shared_ptr<Queue> create_queue(QueueKind kind);

  /// Why the context is lost; CUDA_SUCCESS as long as it works.
  [[nodiscard]] CUresult error() const noexcept { return error_.load(std::memory_order_acquire); }
  /// Marks the context as lost: cancels what runs, and drops the rest. The first error is kept.
  void fail(CUresult error) noexcept;
  /// Waits for everything that is in the queues now; returns the error, if there is one.
  CUresult synchronize() const;
  /// CUDA_SUCCESS, CUDA_ERROR_NOT_READY, or the error.
  [[nodiscard]] CUresult query() const noexcept;
  /// The ends of everything that is in the queues now, or only in the blocking ones.
  [[nodiscard]] std::vector<Point> last(bool blocking_only = false) const;

 private:
  friend class Queue;
  friend class Scheduler;

  std::atomic<CUresult> error_{CUDA_SUCCESS};
  // Everything below is guarded by the scheduler's mutex.
  std::weak_ptr<Queue> legacy_;
  std::vector<std::shared_ptr<Queue>> active_;  // those that have entries
};

}  // namespace cudacore::simulator
