// SPDX-License-Identifier: Apache-2.0
//
// Executable graphs, and their launches.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "simulator/api/graph/graph_program.hpp"
#include "simulator/api/stream/stream.hpp"

namespace cudacore::simulator {

struct Recording;

class ExecutableGraph {
 public:
  ExecutableGraph(GraphProgram program, cuuint64_t its_flags)
      : flags(its_flags), program_(std::make_shared<GraphProgram>(std::move(program))) {}

  const cuuint64_t flags;
  CUgraphExec handle = nullptr;
  std::shared_ptr<const void> instance;  ///< tells the graph that this lives

  /// Queues a launch, after all launches of this that were queued before.
  CUresult launch(const std::shared_ptr<Stream>& stream);

  /// CUresult body(GraphProgram&): changes what later launches do.
  template <class Body>
  CUresult change(Body&& body) {
    const std::scoped_lock lock(mutex_);
    if (program_.use_count() > 1) program_ = std::make_shared<GraphProgram>(*program_);
    return body(*program_);
  }
  /// The same, for the step of a node. INVALID_VALUE if the node is not in it.
  template <class Body>
  CUresult change_step(CUgraphNode node, Body&& body) {
    return change([&](GraphProgram& program) {
      const auto found = program.by_node.find(node);
      if (found == program.by_node.end()) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "the executable graph was not made with the node");
      }
      return body(program.steps[found->second]);
    });
  }

 private:
  std::mutex mutex_;  ///< guards everything below
  std::shared_ptr<GraphProgram> program_;
  Point last_;  ///< the newest launch
};

/// One launch of an executable graph. Its work is in a queue of its own; the stream waits until
/// that has ended.
class GraphRun : public std::enable_shared_from_this<GraphRun> {
 public:
  GraphRun(std::shared_ptr<const GraphProgram> program, std::shared_ptr<Stream> stream,
           cuuint64_t its_flags);

  const cuuint64_t flags;

  /// For actions: adds work, which also waits for the points.
  CUresult enqueue(std::unique_ptr<Work> work, std::vector<Point> after = {});
  /// For actions that record an event when the launch is queued. Outside, the event passes when the
  /// whole launch has ended.
  void record(const GraphAction& action, const std::shared_ptr<Event>& event);
  /// The recording that the action made then.
  [[nodiscard]] std::shared_ptr<Recording> recording(const GraphAction& action) const;
  /// For actions that wait for an event: what was its newest recording when the launch was queued.
  void wait_for(const GraphAction& action, std::shared_ptr<Recording> recording);

  /// For actions that change something when the launch is queued: takes that back if it can't be.
  void if_refused(std::function<void()> undo) { undo_.push_back(std::move(undo)); }

  /// Tells the actions that the launch is queued.
  CUresult prepare();
  void refuse_launch();
  /// Gives the events their recordings, which pass at the point.
  void install(const Point& point);

  /// Queues the steps; finishes the stream's turn after the last one.
  void start(const Turn& turn) noexcept;
  void advance() noexcept;
  void finish() noexcept;

 private:
  struct Record {
    const GraphAction* action;
    std::shared_ptr<Event> event;  ///< null for waits
    std::shared_ptr<Recording> recording;
  };

  CUresult take_steps();

  const std::shared_ptr<const GraphProgram> program_;
  const std::shared_ptr<Stream> stream_;
  const std::shared_ptr<Queue> queue_;
  std::vector<Record> records_;
  std::vector<std::function<void()>> undo_;
  std::shared_ptr<Queue> outer_;  ///< the stream's queue, and the turn in it
  std::uint64_t sequence_ = 0;
  std::size_t next_ = 0;
  unsigned enqueued_ = 0;
};

/// CUresult body(ExecutableGraph&), for a live executable graph.
template <class Body>
CUresult executable_call(CUgraphExec handle, Body&& body) noexcept {
  return driver_call([&] {
    const std::shared_ptr<ExecutableGraph> executable = registry().executable_graphs.find(handle);
    if (executable == nullptr) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "not a live executable graph");
    }
    return body(*executable);
  });
}

}  // namespace cudacore::simulator
