// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/graph/executable_graph.hpp"

#include <algorithm>
#include <utility>

#include "simulator/api/graph/conditional_action.hpp"
#include "simulator/api/stream/event.hpp"

namespace cudacore::simulator {

namespace {

/// How many pieces of work are enqueued before those that follow.
constexpr unsigned enqueued_at_once = 32;

/// The launch in the stream.
class StartRun final : public Work {
 public:
  explicit StartRun(std::shared_ptr<GraphRun> run) : run_(std::move(run)) {}
  Progress run(const Turn& turn) noexcept override {
    const std::shared_ptr<GraphRun> run = run_;  // this may be gone once it has started
    run->start(turn);
    return Progress::later;
  }

 private:
  std::shared_ptr<GraphRun> run_;
};

/// Follows work in the run's own queue.
class AdvanceRun final : public Work {
 public:
  explicit AdvanceRun(std::shared_ptr<GraphRun> run) : run_(std::move(run)) {}
  Progress run(const Turn&) noexcept override {
    run_->advance();
    return Progress::done;
  }
  Progress drop(const Turn&, CUresult) noexcept override {
    run_->finish();
    return Progress::done;
  }

 private:
  std::shared_ptr<GraphRun> run_;
};

}  // namespace

CUresult ExecutableGraph::launch(const std::shared_ptr<Stream>& stream) {
  const std::scoped_lock lock(mutex_);
  const auto run = std::make_shared<GraphRun>(program_, stream, flags);
  if (const CUresult status = stream->check_context(); status != CUDA_SUCCESS) return status;
  if (stream->is_capturing()) {
    return refuse(CUDA_ERROR_NOT_SUPPORTED,
                  "the simulated device does not capture the launch of a graph: let the graph "
                  "become a part of the captured one, with GraphBuilder.embed");
  }
  if (const CUresult status = run->prepare(); status != CUDA_SUCCESS) {
    run->refuse_launch();
    return status;
  }
  std::vector<Point> after;
  if (!last_.passed()) after.push_back(last_);
  Point point{stream->queue, 0};
  const CUresult status =
      stream->enqueue(std::make_unique<StartRun>(run), std::move(after), &point.sequence);
  if (status != CUDA_SUCCESS) {
    run->refuse_launch();
    return status;
  }
  run->install(point);
  last_ = std::move(point);
  return CUDA_SUCCESS;
}

GraphRun::GraphRun(std::shared_ptr<const GraphProgram> program, std::shared_ptr<Stream> stream,
                   cuuint64_t its_flags)
    : flags(its_flags),
      program_(std::move(program)),
      stream_(std::move(stream)),
      queue_(stream_->queue->group().create_queue(QueueKind::non_blocking)) {}

CUresult GraphRun::enqueue(std::unique_ptr<Work> work, std::vector<Point> after) {
  ++enqueued_;
  return queue_->enqueue(std::move(work), std::move(after));
}

void GraphRun::record(const GraphAction& action, const std::shared_ptr<Event>& event) {
  records_.push_back({&action, event, std::make_shared<Recording>()});
}

void GraphRun::wait_for(const GraphAction& action, std::shared_ptr<Recording> recording) {
  records_.push_back({&action, nullptr, std::move(recording)});
}

std::shared_ptr<Recording> GraphRun::recording(const GraphAction& action) const {
  const auto found = std::ranges::find(records_, &action, &Record::action);
  return found != records_.end() ? found->recording : nullptr;
}

CUresult GraphRun::prepare() {
  for (const GraphStep& step : program_->steps) {
    if (!step.enabled) continue;
    if (const CUresult status = step.action->queued(*this); status != CUDA_SUCCESS) return status;
  }
  return CUDA_SUCCESS;
}

void GraphRun::refuse_launch() {
  for (; !undo_.empty(); undo_.pop_back()) undo_.back()();
}

void GraphRun::install(const Point& point) {
  for (const Record& record : records_) {
    if (record.event == nullptr) continue;
    record.recording->point = point;
    record.event->set(record.recording);
  }
}

void GraphRun::start(const Turn& turn) noexcept {
  outer_ = turn.queue;
  sequence_ = turn.sequence;
  for (const GraphProgram::Initial& initial : program_->conditions) {
    initial.condition->value.store(initial.value, std::memory_order_relaxed);
  }
  advance();
}

void GraphRun::advance() noexcept {
  CUresult status = CUDA_SUCCESS;
  try {
    status = take_steps();
    if (status == CUDA_SUCCESS && enqueued_ > 0) {
      status = queue_->enqueue(std::make_unique<AdvanceRun>(shared_from_this()));
      if (status == CUDA_SUCCESS) return;
    }
  } catch (...) {
    status = result_of_exception();
  }
  if (status != CUDA_SUCCESS) {
    stream_->context.fail(status, "a node of a graph could not be started");
    static_cast<void>(stream_->check_context());
  }
  finish();
}

CUresult GraphRun::take_steps() {
  enqueued_ = 0;
  while (next_ != GraphStep::none && !program_->steps.empty() && enqueued_ < enqueued_at_once) {
    const GraphStep& step = program_->steps[next_];
    if (step.action->type == CU_GRAPH_NODE_TYPE_CONDITIONAL) {
      if (enqueued_ > 0) return CUDA_SUCCESS;  // which may still set the condition
      const auto body = static_cast<const ConditionalAction&>(*step.action).selected();
      const std::size_t first = body ? step.bodies[*body] : GraphStep::none;
      next_ = first != GraphStep::none ? first : step.next;
      // Others get their turn, even if an empty body is repeated forever.
      return enqueue(make_pass());
    }
    next_ = step.next;
    if (!step.enabled) continue;
    if (const CUresult status = step.action->start(*this); status != CUDA_SUCCESS) return status;
  }
  return CUDA_SUCCESS;
}

void GraphRun::finish() noexcept { outer_->finish(sequence_); }

}  // namespace cudacore::simulator
