// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/stream/command_queue.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <thread>
#include <vector>

namespace cudacore::simulator {
namespace {

using std::chrono::milliseconds;

class Step final : public Work {
 public:
  explicit Step(std::function<void()> body, std::size_t cost = 0)
      : body_(std::move(body)), cost_(cost) {}
  std::size_t cost() const noexcept override { return cost_; }
  Progress run(const Turn&) noexcept override {
    body_();
    return Progress::done;
  }

 private:
  std::function<void()> body_;
  std::size_t cost_;
};

/// Work that ends on request.
class Held final : public Work {
 public:
  struct Gate {
    std::shared_ptr<Queue> queue;
    std::uint64_t sequence = 0;
    std::atomic<bool> started{false};
    std::atomic<bool> cancelled{false};
    std::atomic<bool> dropped{false};
    void open() const { queue->finish(sequence); }
  };
  explicit Held(std::shared_ptr<Gate> gate) : gate_(std::move(gate)) {}
  Progress run(const Turn& turn) noexcept override {
    gate_->queue = turn.queue;
    gate_->sequence = turn.sequence;
    gate_->started = true;
    return Progress::later;
  }
  Progress drop(const Turn&, CUresult) noexcept override {
    gate_->dropped = true;
    return Progress::done;
  }
  void cancel() noexcept override { gate_->cancelled = true; }

 private:
  std::shared_ptr<Gate> gate_;
};

/// Asks to be called again until it is told to stop.
class Spin final : public Work {
 public:
  explicit Spin(std::atomic<bool>& stop) : stop_(stop) {}
  Progress run(const Turn&) noexcept override { return stop_ ? Progress::done : Progress::again; }

 private:
  std::atomic<bool>& stop_;
};

std::shared_ptr<Held::Gate> hold(Queue& queue) {
  auto gate = std::make_shared<Held::Gate>();
  EXPECT_EQ(queue.enqueue(std::make_unique<Held>(gate)), CUDA_SUCCESS);
  return gate;
}

void add(Queue& queue, std::function<void()> body, std::vector<Point> after = {},
         std::size_t cost = 0) {
  EXPECT_EQ(queue.enqueue(std::make_unique<Step>(std::move(body), cost), std::move(after)),
            CUDA_SUCCESS);
}

class CommandQueue : public testing::Test {
 protected:
  std::shared_ptr<QueueGroup> group = QueueGroup::create();
  std::shared_ptr<Queue> one = group->create_queue(QueueKind::non_blocking);
  std::shared_ptr<Queue> two = group->create_queue(QueueKind::non_blocking);
};

TEST_F(CommandQueue, KeepsItsOrder) {
  std::vector<int> seen;
  for (int i = 0; i < 5000; ++i) {
    add(
        *one, [&seen, i] { seen.push_back(i); }, {}, i % 7 == 0 ? std::size_t{1} << 30 : 0);
  }
  EXPECT_EQ(one->synchronize(), CUDA_SUCCESS);
  ASSERT_EQ(seen.size(), 5000U);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST_F(CommandQueue, QueuesDoNotWaitForOneAnother) {
  const auto gate = hold(*one);
  bool done = false;
  add(*two, [&] { done = true; });
  EXPECT_EQ(two->synchronize(), CUDA_SUCCESS);
  EXPECT_TRUE(done);
  EXPECT_EQ(one->query(), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(group->query(), CUDA_ERROR_NOT_READY);
  gate->open();
  EXPECT_EQ(one->query(), CUDA_SUCCESS);
  EXPECT_EQ(group->query(), CUDA_SUCCESS);
}

TEST_F(CommandQueue, PointsOrderQueues) {
  const auto gate = hold(*one);
  const Point end = one->last();
  hold(*one);
  std::atomic<bool> done{false};
  add(*two, [&] { done = true; }, {end});
  EXPECT_FALSE(done);
  EXPECT_EQ(two->query(), CUDA_ERROR_NOT_READY);
  gate->open();
  two->synchronize();
  EXPECT_TRUE(done);
  EXPECT_EQ(one->query(), CUDA_ERROR_NOT_READY);
  group->fail(CUDA_ERROR_UNKNOWN);
  one->finish(2);
}

TEST_F(CommandQueue, LegacyOrdersBlockingQueues) {
  const auto legacy = group->create_queue(QueueKind::legacy);
  const auto blocking = group->create_queue(QueueKind::blocking);
  const auto other = group->create_queue(QueueKind::blocking);
  const auto gate = hold(*blocking);
  const auto free_gate = hold(*one);
  std::vector<int> seen;
  add(*legacy, [&] { seen.push_back(1); });
  add(*other, [&] { seen.push_back(2); });
  EXPECT_EQ(legacy->query(), CUDA_ERROR_NOT_READY);
  bool beside = false;
  add(*two, [&] { beside = true; });
  EXPECT_TRUE(beside);
  EXPECT_TRUE(seen.empty());
  gate->open();
  EXPECT_EQ(other->synchronize(), CUDA_SUCCESS);
  EXPECT_EQ(legacy->synchronize(), CUDA_SUCCESS);
  EXPECT_EQ(seen, (std::vector{1, 2}));
  EXPECT_EQ(one->query(), CUDA_ERROR_NOT_READY);
  free_gate->open();
}

TEST_F(CommandQueue, BlocksItsCallerWhenFull) {
  const auto gate = hold(*one);
  std::atomic<std::size_t> added{1};
  std::thread caller([&] {
    for (int i = 0; i < 2000; ++i) {
      add(*one, [] {});
      ++added;
    }
  });
  while (added < Queue::max_outstanding) std::this_thread::yield();
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(added, Queue::max_outstanding);
  gate->open();
  caller.join();
  EXPECT_EQ(one->synchronize(), CUDA_SUCCESS);
}

TEST_F(CommandQueue, WorkInPartsLetsOthersRun) {
  std::atomic<bool> stop{false};
  for (int i = 0; i < 4; ++i) {
    const auto queue = group->create_queue(QueueKind::non_blocking);
    ASSERT_EQ(queue->enqueue(std::make_unique<Spin>(stop)), CUDA_SUCCESS);
  }
  add(
      *one, [] {}, {}, std::size_t{1} << 30);
  EXPECT_EQ(one->synchronize(), CUDA_SUCCESS);
  stop = true;
  EXPECT_EQ(group->synchronize(), CUDA_SUCCESS);
}

TEST_F(CommandQueue, LostGroupDropsAll) {
  const auto healthy = QueueGroup::create();
  const auto far = healthy->create_queue(QueueKind::non_blocking);
  const auto far_gate = hold(*far);
  const auto gate = hold(*one);
  const auto queued = hold(*one);
  bool ran = false;
  add(*two, [&] { ran = true; }, {far->last()});
  std::atomic<bool> never{false};
  const auto spinning = group->create_queue(QueueKind::non_blocking);
  ASSERT_EQ(spinning->enqueue(std::make_unique<Spin>(never)), CUDA_SUCCESS);
  group->fail(CUDA_ERROR_ILLEGAL_ADDRESS);
  group->fail(CUDA_ERROR_ASSERT);
  EXPECT_TRUE(gate->cancelled);
  EXPECT_EQ(two->synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_FALSE(ran);
  gate->open();
  EXPECT_EQ(group->synchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_TRUE(queued->dropped);
  EXPECT_FALSE(queued->started);
  EXPECT_EQ(one->enqueue(std::make_unique<Step>([] {})), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(far->query(), CUDA_ERROR_NOT_READY);
  far_gate->open();
  EXPECT_EQ(far->synchronize(), CUDA_SUCCESS);
}

TEST_F(CommandQueue, WorkOutlivesItsQueuesOwner) {
  const auto gate = hold(*one);
  std::atomic<bool> done{false};
  add(*one, [&] { done = true; });
  one.reset();
  EXPECT_FALSE(done);
  gate->open();
  EXPECT_EQ(group->synchronize(), CUDA_SUCCESS);
  EXPECT_TRUE(done);
}

TEST_F(CommandQueue, ManyThreadsAndQueues) {
  constexpr int threads = 4;
  constexpr int rounds = 500;
  std::vector<std::shared_ptr<Queue>> queues;
  queues.push_back(group->create_queue(QueueKind::legacy));
  for (int i = 0; i < 3; ++i) queues.push_back(group->create_queue(QueueKind::blocking));
  queues.push_back(one);
  std::vector<int> counts(queues.size());  // each belongs to its queue
  std::vector<std::thread> callers;
  for (int t = 0; t < threads; ++t) {
    callers.emplace_back([&, t] {
      for (int i = 0; i < rounds; ++i) {
        const auto which = static_cast<std::size_t>(i + t) % queues.size();
        const auto next = (which + 1) % queues.size();
        const std::size_t cost = i % 5 == 0 ? std::size_t{1} << 30 : 0;
        add(
            *queues[which], [&counts, which] { ++counts[which]; }, {queues[next]->last()}, cost);
        if (i % 50 == 0) {
          EXPECT_EQ(queues[next]->synchronize(), CUDA_SUCCESS);
        }
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(group->synchronize(), CUDA_SUCCESS);
  int total = 0;
  for (const int count : counts) total += count;
  EXPECT_EQ(total, threads * rounds);
}

}  // namespace
}  // namespace cudacore::simulator
