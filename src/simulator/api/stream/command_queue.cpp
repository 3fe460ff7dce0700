// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/stream/command_queue.hpp"

#include <chrono>
#include <mutex>
#include <optional>
#include <utility>

#include "simulator/engine/spin_pause.hpp"
#include "simulator/engine/workers.hpp"

namespace cudacore::simulator {

namespace {

constexpr std::chrono::microseconds wait_spin_time{20};

/// The most work that a thread does for queues before it leaves the rest to the workers.
constexpr std::size_t caller_budget = 128 << 10;  // bytes: for a thread of the program
constexpr std::size_t worker_budget = 4 << 20;
/// The cost of a piece of work in addition to its bytes.
constexpr std::size_t work_cost = 1 << 10;

thread_local bool on_worker = false;

}  // namespace

/// Starts work that is ready. One mutex guards the queues of all contexts, because points may lead
/// from any queue to any other; it is held for a few dozen instructions at a time.
class Scheduler {
 public:
  using Lock = std::unique_lock<std::mutex>;

  static Lock lock() {
    Lock lock(mutex(), std::try_to_lock);
    // Sleeping for such a short time would cost more.
    for (int i = 0; !lock.owns_lock() && i < 200; ++i) {
      spin_pause();
      static_cast<void>(lock.try_lock());
    }
    if (!lock.owns_lock()) lock.lock();
    return lock;
  }

  /// The thread that holds the lock may do some of the work itself.
  explicit Scheduler(Lock& lock)
      : lock_(lock), budget_(on_worker ? worker_budget : caller_budget) {}
  Scheduler(const Scheduler&) = delete;
  Scheduler& operator=(const Scheduler&) = delete;

  /// Checks whether it is the first entry's turn.
  void consider(const std::shared_ptr<Queue>& queue) {
    if (queue->running_ || queue->waiting_ || queue->entries_.empty()) return;
    if (queue->group_->error() == CUDA_SUCCESS) {
      std::vector<Point>& after = queue->entries_.front().after;
      while (!after.empty()) {
        if (!after.back().passed()) {
          after.back().queue->waiters_.push_back({after.back().sequence, queue});
          queue->waiting_ = true;
          return;
        }
        released_.push_back(std::move(after.back().queue));
        after.pop_back();
      }
    }
    queue->running_ = true;
    ready_.push_back(queue);
  }

  /// Removes the first entry, which has ended, and checks what waited for it.
  void complete(const std::shared_ptr<Queue>& queue) {
    ended_.push_back(std::move(queue->entries_.front().work));
    queue->entries_.pop_front();
    queue->running_ = false;
    queue->detached_ = false;
    const std::uint64_t completed = queue->completed_.load(std::memory_order_relaxed) + 1;
    queue->completed_.store(completed, std::memory_order_release);
    if (queue->entries_.empty()) deactivate(queue);
    if (queue->sleepers_ > 0) queue->changed_.notify_all();
    std::vector<Queue::Waiter>& waiters = queue->waiters_;
    for (std::size_t i = 0; i < waiters.size();) {
      if (waiters[i].sequence > completed) {
        ++i;
        continue;
      }
      const std::shared_ptr<Queue> waiter = std::move(waiters[i].queue);
      waiters[i] = std::move(waiters.back());
      waiters.pop_back();
      waiter->waiting_ = false;
      consider(waiter);
    }
    consider(queue);
  }

  /// Does the work that is ready, with the mutex released meanwhile.
  void work() {
    for (; next_ < ready_.size(); ++next_) step(std::move(ready_[next_]));
    tidy();
  }

  /// Continues with a running entry. Returns false if the entry needs another turn.
  bool go_on(const std::shared_ptr<Queue>& queue) {
    const Progress progress = call(queue);
    if (progress == Progress::again) return false;
    if (progress == Progress::done) complete(queue);
    return true;
  }

  static void activate(const std::shared_ptr<Queue>& queue) {
    std::vector<std::shared_ptr<Queue>>& active = queue->group_->active_;
    active.push_back(queue);
    queue->active_index_ = active.size() - 1;
  }

  static void finish(const std::shared_ptr<Queue>& queue, std::uint64_t sequence) {
    Lock held = lock();
    // What it ended may already have been dropped.
    if (!queue->running_ || queue->passed(sequence)) return;
    Scheduler scheduler(held);
    scheduler.complete(queue);
    scheduler.work();
  }

  /// Cancels what runs in a lost group, and drops what waits.
  static void lose(QueueGroup& group) {
    Lock held = lock();
    Scheduler scheduler(held);
    const std::vector<std::shared_ptr<Queue>> active = group.active_;
    for (const std::shared_ptr<Queue>& queue : active) {
      if (queue->detached_) queue->entries_.front().work->cancel();
      queue->waiting_ = false;  // the point may belong to a context that works, and come late
      scheduler.consider(queue);
    }
    scheduler.work();
  }

  static void wait(Lock& held, Queue& queue, const auto& done) {
    ++queue.sleepers_;
    queue.changed_.wait(held, done);
    --queue.sleepers_;
  }

 private:
  class Pump;

  static std::mutex& mutex() {
    static std::mutex& one = *new std::mutex;  // NOLINT: the workers outlive static destruction
    return one;
  }

  void deactivate(const std::shared_ptr<Queue>& queue) {
    std::vector<std::shared_ptr<Queue>>& active = queue->group_->active_;
    const std::size_t index = queue->active_index_;
    released_.push_back(std::move(active[index]));
    if (index + 1 < active.size()) {
      active[index] = std::move(active.back());
      active[index]->active_index_ = index;
    }
    active.pop_back();
  }

  /// Calls the first entry, with the mutex released.
  Progress call(const std::shared_ptr<Queue>& queue) {
    Work& work = *queue->entries_.front().work;
    const Turn turn{queue, queue->completed_.load(std::memory_order_relaxed) + 1};
    const CUresult error = queue->group_->error();
    tidy();
    lock_.unlock();
    const Progress progress = error == CUDA_SUCCESS ? work.run(turn) : work.drop(turn, error);
    lock_ = lock();
    if (progress != Progress::later || queue->passed(turn.sequence)) return progress;
    queue->detached_ = true;
    if (error == CUDA_SUCCESS && queue->group_->error() != CUDA_SUCCESS) {
      queue->entries_.front().work->cancel();
    }
    return progress;
  }

  void step(std::shared_ptr<Queue> queue);
  void hand_over(std::shared_ptr<Queue> queue);

  /// Destroys what has ended, which may take other locks.
  void tidy() {
    if (ended_.empty() && released_.empty()) return;
    const bool held = lock_.owns_lock();
    if (held) lock_.unlock();
    ended_.clear();
    released_.clear();
    if (held) lock_ = lock();
  }

  Lock& lock_;
  std::size_t budget_;
  std::vector<std::shared_ptr<Queue>> ready_;
  std::size_t next_ = 0;
  std::vector<std::unique_ptr<Work>> ended_;
  std::vector<std::shared_ptr<Queue>> released_;
};

/// A queue's running entry while the workers run it.
class Scheduler::Pump final : public Task {
 public:
  explicit Pump(std::shared_ptr<Queue> queue) : queue_(std::move(queue)) {}

  std::optional<Time> run(Worker&) noexcept override {
    on_worker = true;
    Lock held = Scheduler::lock();
    Scheduler scheduler(held);
    if (!scheduler.go_on(queue_)) return at_once;
    scheduler.work();
    return std::nullopt;
  }

 private:
  std::shared_ptr<Queue> queue_;
};

void Scheduler::hand_over(std::shared_ptr<Queue> queue) {
  lock_.unlock();
  Workers::instance().submit(std::make_shared<Pump>(std::move(queue)));
  lock_ = lock();
}

void Scheduler::step(std::shared_ptr<Queue> queue) {
  const std::size_t cost = queue->entries_.front().work->cost() + work_cost;
  if (cost > budget_) {
    hand_over(std::move(queue));
    return;
  }
  budget_ -= cost;
  if (!go_on(queue)) hand_over(std::move(queue));
}

bool Point::passed() const noexcept { return queue == nullptr || queue->passed(sequence); }

void Point::wait() const {
  if (queue != nullptr) queue->wait(sequence);
}

Queue::Queue(std::shared_ptr<QueueGroup> group, QueueKind kind)
    : group_(std::move(group)), kind_(kind) {}

CUresult Queue::enqueue(std::unique_ptr<Work> work, std::vector<Point> after,
                        std::uint64_t* sequence) {
  const std::shared_ptr<Queue> self = shared_from_this();
  Scheduler::Lock held = Scheduler::lock();
  if (entries_.size() >= max_outstanding) {
    Scheduler::wait(held, *this, [&] { return entries_.size() < max_outstanding; });
  }
  if (const CUresult error = group_->error(); error != CUDA_SUCCESS) return error;
  if (kind_ == QueueKind::legacy) {
    for (const std::shared_ptr<Queue>& other : group_->active_) {
      if (other->kind_ == QueueKind::blocking) after.push_back({other, other->submitted_});
    }
  } else if (kind_ == QueueKind::blocking) {
    std::shared_ptr<Queue> legacy = group_->legacy_.lock();
    if (legacy != nullptr && !legacy->entries_.empty()) {
      const std::uint64_t last = legacy->submitted_;
      after.push_back({std::move(legacy), last});
    }
  }
  group_->active_.reserve(group_->active_.size() + 1);  // so that nothing below throws halfway
  entries_.push_back({std::move(work), std::move(after)});
  if (entries_.size() == 1) Scheduler::activate(self);
  ++submitted_;
  if (sequence != nullptr) *sequence = submitted_;
  if (entries_.size() > 1) return CUDA_SUCCESS;
  Scheduler scheduler(held);
  scheduler.consider(self);
  scheduler.work();
  return CUDA_SUCCESS;
}

void Queue::finish(std::uint64_t sequence) noexcept {
  Scheduler::finish(shared_from_this(), sequence);
}

CUresult Queue::query() const noexcept {
  const Scheduler::Lock held = Scheduler::lock();
  if (const CUresult error = group_->error(); error != CUDA_SUCCESS) return error;
  if (!entries_.empty()) return CUDA_ERROR_NOT_READY;
  if (kind_ == QueueKind::legacy) {
    for (const std::shared_ptr<Queue>& other : group_->active_) {
      if (other->kind_ == QueueKind::blocking) return CUDA_ERROR_NOT_READY;
    }
  }
  return CUDA_SUCCESS;
}

CUresult Queue::synchronize() {
  if (kind_ == QueueKind::legacy) {
    for (const Point& point : group_->last(true)) point.wait();
  } else {
    last().wait();
  }
  return group_->error();
}

void Queue::wait(std::uint64_t sequence) {
  if (passed(sequence)) return;
  const auto end = std::chrono::steady_clock::now() + wait_spin_time;
  do {
    for (int i = 0; i < 16; ++i) spin_pause();
    if (passed(sequence)) return;
  } while (std::chrono::steady_clock::now() < end);
  Scheduler::Lock held = Scheduler::lock();
  Scheduler::wait(held, *this, [&] { return passed(sequence); });
}

Point Queue::last() {
  const Scheduler::Lock held = Scheduler::lock();
  if (entries_.empty()) return {};
  return {shared_from_this(), submitted_};
}

std::shared_ptr<Queue> QueueGroup::create_queue(QueueKind kind) {
  auto queue = std::make_shared<Queue>(shared_from_this(), kind);
  if (kind == QueueKind::legacy) {
    const Scheduler::Lock held = Scheduler::lock();
    legacy_ = queue;
  }
  return queue;
}

void QueueGroup::fail(CUresult error) noexcept {
  CUresult well = CUDA_SUCCESS;
  if (error_.compare_exchange_strong(well, error, std::memory_order_acq_rel)) {
    Scheduler::lose(*this);
  }
}

CUresult QueueGroup::synchronize() const {
  for (const Point& point : last()) point.wait();
  return error();
}

CUresult QueueGroup::query() const noexcept {
  const Scheduler::Lock held = Scheduler::lock();
  if (const CUresult well = error(); well != CUDA_SUCCESS) return well;
  return active_.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

std::vector<Point> QueueGroup::last(bool blocking_only) const {
  const Scheduler::Lock held = Scheduler::lock();
  std::vector<Point> points;
  points.reserve(active_.size());
  for (const std::shared_ptr<Queue>& queue : active_) {
    if (blocking_only && queue->kind_ == QueueKind::non_blocking) continue;
    points.push_back({queue, queue->submitted_});
  }
  return points;
}

}  // namespace cudacore::simulator
