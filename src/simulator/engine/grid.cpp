// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/grid.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <string>
#include <utility>

#include "simulator/engine/barriers.hpp"
#include "simulator/engine/fault.hpp"
#include "simulator/engine/image.hpp"
#include "simulator/engine/schedule.hpp"
#include "simulator/engine/time_limit.hpp"

namespace cudacore::simulator {
namespace {

using Clock = std::chrono::steady_clock;

/// After a block has been preempted this many times, another block is started, even if the first
/// seems to make progress: it may be waiting for the other one. Started blocks take memory.
constexpr unsigned patience = 8;

/// How long grids may run, in nanoseconds; 0 means forever.
constinit std::atomic<std::int64_t> time_limit{0};

}  // namespace

void set_time_limit(std::chrono::duration<double> limit) noexcept {
  time_limit.store(std::chrono::duration_cast<std::chrono::nanoseconds>(limit).count(),
                   std::memory_order_relaxed);
}

Fault Grid::Schedule::describe_timeout(const LaunchRequest& request) const {
  constexpr unsigned most = 64;
  const std::chrono::duration<double> allowed =
      std::chrono::nanoseconds(time_limit.load(std::memory_order_relaxed));
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%g", allowed.count());
  unsigned left = most;
  std::string places;
  for (const auto& cluster : preempted) describe_places(*cluster, left, places);
  for (const auto& cluster : asleep) describe_places(*cluster, left, places);
  std::string text = "kernel '" + demangle(request.entry->name) + "' has run for more than the " +
                     seconds + " s that CUDACORE_SIMULATOR_TIMEOUT allows; it stands at: " + places;
  if (left == 0) text += "; and more";
  return {FaultKind::deadlock, std::move(text)};
}

Grid::Grid(LaunchRequest request, Done done)
    : request_(std::move(request)),
      done_(std::move(done)),
      schedule_(std::make_unique<Schedule>().release(),
                [](Schedule* schedule) { std::default_delete<Schedule>()(schedule); }) {
  Schedule& schedule = *schedule_;
  const std::uint64_t blocks = request_.cluster.count();
  schedule.count = request_.grid.count() / blocks;
  schedule.limit = request_.cooperative
                       ? schedule.count
                       : std::max<std::uint64_t>(request_.resident_blocks / blocks, 1);
  schedule.widens = request_.cooperative;
  schedule.fresh.push_back({0, schedule.count});
  schedule.counts = request_.thread_instructions != nullptr;
  if (request_.cooperative) workspace_ = take_workspace();
}

Grid::~Grid() {
  if (workspace_ != 0) release_workspace(workspace_);
}

std::shared_ptr<Grid> Grid::start(LaunchRequest request, Done done) {
  std::shared_ptr<Grid> grid(new Grid(std::move(request), std::move(done)));  // NOLINT: private
  Workers& workers = Workers::instance();
  Schedule& schedule = *grid->schedule_;
  schedule.workers =
      static_cast<unsigned>(std::min<std::uint64_t>(workers.count(), schedule.count));
  const unsigned submissions = schedule.turns = schedule.workers;
  for (unsigned i = 0; i < submissions; ++i) workers.submit(grid);
  return grid;
}

void Grid::cancel() noexcept {
  Fault fault{FaultKind::cancelled, {}};
  try {
    fault.message = "kernel '" + demangle(request_.entry->name) + "' was cancelled";
  } catch (const std::bad_alloc&) {
    fault.message.clear();
  }
  fail(std::move(fault));
}

void Grid::fail(Fault fault) noexcept {
  const std::scoped_lock lock(mutex_);
  if (!fault_) fault_ = std::move(fault);
  stopped_.store(true, std::memory_order_relaxed);
}

// One loop, because each of its exits leaves the block in a state in which another worker can
// continue.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
std::optional<Task::Time> Grid::run(Worker& worker) noexcept {
  Schedule& schedule = *schedule_;
  Clock::time_point began{};
  std::uint64_t instructions = 0;
  std::unique_ptr<ResidentCluster> cluster;
  Schedule::Range mine;
  std::optional<Time> again = at_once;

  std::unique_lock lock(mutex_);
  if (schedule.reported) return std::nullopt;
  ++schedule.running;
  if (const std::int64_t limit = time_limit.load(std::memory_order_relaxed);
      limit != 0 && schedule.deadline == Clock::time_point{}) [[unlikely]] {
    schedule.deadline = Clock::now() + std::chrono::nanoseconds(limit);
  }
  while (true) {
    // Return what is in hand before the worker leaves, or before its next turn.
    if (stopped()) break;
    schedule.wake();
    const bool may_start = schedule.in_progress() <= schedule.limit;
    const bool start = may_start && (schedule.widens || schedule.preempted.empty());
    if (mine.begin == mine.end && start && !schedule.fresh.empty()) {
      Schedule::Range& next = schedule.fresh.front();
      const std::uint64_t left = next.end - next.begin;
      const std::uint64_t batch =
          std::clamp<std::uint64_t>(left / (std::uint64_t{schedule.workers} * 8), 1, 16);
      mine = {next.begin, next.begin + batch};
      next.begin += batch;
      if (next.begin == next.end) schedule.fresh.pop_front();
    }
    if (mine.begin == mine.end || !start) {
      if (schedule.preempted.empty()) {
        again = schedule.next_turn();
        break;
      }
      cluster = std::move(schedule.preempted.front());
      schedule.preempted.pop_front();
    }
    if (cluster == nullptr) schedule.widens = request_.cooperative;
    lock.unlock();

    std::uint64_t ended = 0;
    ClusterEnd end = ClusterEnd::ended;
    try {
      do {
        if (cluster == nullptr) cluster = make_resident(*this, mine.begin++, worker);
        end = run_cluster(*this, *cluster, worker, schedule.counts ? &instructions : nullptr);
        if (end == ClusterEnd::ended) {
          ++ended;
          release_resident(std::move(cluster));
        }
      } while (end == ClusterEnd::ended && mine.begin != mine.end && !stopped());
    } catch (const std::bad_alloc&) {
      fail({FaultKind::out_of_memory, "no host memory for the blocks of a kernel"});
      end = ClusterEnd::stopped;
    }
    const Clock::time_point now = Clock::now();
    if (began == Clock::time_point{}) began = now - block_quantum;

    lock.lock();
    schedule.ended += ended;
    if (end == ClusterEnd::stopped && !schedule.timed_out) cluster.reset();
    if (schedule.deadline != Clock::time_point{} && now > schedule.deadline && cluster != nullptr &&
        !stopped()) [[unlikely]] {
      schedule.timed_out = true;
      stopped_.store(true, std::memory_order_relaxed);
    }
    if (end == ClusterEnd::asleep) {
      schedule.put_to_sleep(std::move(cluster));
      schedule.widens = true;
    } else if (cluster != nullptr) {
      schedule.preempted.push_back(std::move(cluster));
      schedule.widens |= end == ClusterEnd::idle || ++schedule.preemptions % patience == 0;
    }
    if (now - began > grid_quantum) break;
  }
  --schedule.running;
  if (mine.begin != mine.end) schedule.fresh.push_front(mine);

  if (instructions != 0 && request_.thread_instructions != nullptr) {
    request_.thread_instructions->fetch_add(instructions, std::memory_order_relaxed);
  }
  if (schedule.running != 0 || (!stopped() && schedule.ended != schedule.count)) {
    if (stopped()) again.reset();
    if (!again) --schedule.turns;
    return again;
  }
  schedule.reported = true;
  if (schedule.timed_out && !fault_) {
    try {
      fault_ = schedule.describe_timeout(request_);
    } catch (const std::bad_alloc&) {
      fault_ = Fault{FaultKind::deadlock, {}};
    }
  }
  schedule.preempted.clear();
  schedule.asleep.clear();
  const std::optional<Fault> fault = std::move(fault_);
  const Done done = std::move(done_);
  lock.unlock();
  if (wrote_output_.load(std::memory_order_relaxed)) std::fflush(stdout);
  done(fault);
  return std::nullopt;
}

}  // namespace cudacore::simulator
