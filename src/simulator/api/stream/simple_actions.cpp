// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/stream/simple_actions.hpp"

#include <utility>

#include "simulator/api/graph/executable_graph.hpp"
#include "simulator/api/stream/host_thread.hpp"

namespace cudacore::simulator {

namespace {

class HostAction final : public GraphAction {
 public:
  HostAction(CUhostFn function, void* data) noexcept
      : GraphAction(CU_GRAPH_NODE_TYPE_HOST), function_(function), data_(data) {}

  void describe(CUgraphNodeParams& parameters) const override {
    parameters.host.fn = function_;
    parameters.host.userData = data_;
  }
  CUresult start(GraphRun& run) const override {
    return run.enqueue(std::make_unique<HostFunction>(function_, data_));
  }

 private:
  CUhostFn function_;
  void* data_;
};

class RecordAction final : public GraphAction {
 public:
  RecordAction(CUevent handle, std::shared_ptr<Event> event) noexcept
      : GraphAction(CU_GRAPH_NODE_TYPE_EVENT_RECORD), handle_(handle), event_(std::move(event)) {}

  void describe(CUgraphNodeParams& parameters) const override {
    parameters.eventRecord.event = handle_;
  }
  CUresult queued(GraphRun& run) const override {
    if (event_->shared != nullptr) return refuse_in_graph();
    run.record(*this, event_);
    return CUDA_SUCCESS;
  }
  CUresult start(GraphRun& run) const override {
    return run.enqueue(make_mark(run.recording(*this)));
  }

 private:
  CUevent handle_;
  std::shared_ptr<Event> event_;
};

class WaitAction final : public GraphAction {
 public:
  WaitAction(CUevent handle, std::shared_ptr<Event> event) noexcept
      : GraphAction(CU_GRAPH_NODE_TYPE_WAIT_EVENT), handle_(handle), event_(std::move(event)) {}

  void describe(CUgraphNodeParams& parameters) const override {
    parameters.eventWait.event = handle_;
  }
  CUresult queued(GraphRun& run) const override {
    if (event_->shared != nullptr) return refuse_in_graph();
    if (auto recording = event_->recording()) run.wait_for(*this, std::move(recording));
    return CUDA_SUCCESS;
  }
  CUresult start(GraphRun& run) const override {
    const std::shared_ptr<Recording> recording = run.recording(*this);
    return recording != nullptr ? run.enqueue(make_pass(), {recording->point}) : CUDA_SUCCESS;
  }

 private:
  CUevent handle_;
  std::shared_ptr<Event> event_;
};

}  // namespace

SharedAction make_host_action(CUhostFn function, void* data) {
  return std::make_shared<HostAction>(function, data);
}

SharedAction make_record_action(CUevent handle, std::shared_ptr<Event> event) {
  return std::make_shared<RecordAction>(handle, std::move(event));
}

SharedAction make_wait_action(CUevent handle, std::shared_ptr<Event> event) {
  return std::make_shared<WaitAction>(handle, std::move(event));
}

}  // namespace cudacore::simulator
