// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <cudacore/graph_definition.hpp>

namespace cudacore {

struct GraphBuilderBox;

/// Which calls a capture forbids, because they would not be captured (CUstreamCaptureMode).
enum class CaptureMode : int {
  global = 0,         ///< unsafe calls of all threads
  thread_local_ = 1,  ///< unsafe calls of this thread
  relaxed = 2,        ///< none
};

/// Captures a stream: what is queued on it becomes the nodes of a graph instead of running. Streams
/// that wait for the captured one are captured as well, until it has waited for them in turn.
///
/// Cheap to copy; copies are one builder. The last copy drops what is being captured. A builder
/// captures once. All calls that need another state of it throw std::logic_error.
class GraphBuilder {
 public:
  explicit GraphBuilder(const Stream& stream);

  /// @throw std::logic_error if it is closed, or was joined with another, or if its capture failed.
  [[nodiscard]] Stream stream() const;
  /// The stream, to queue work that is to be captured.
  /// @throw std::logic_error too unless it is building: the work would run at once.
  [[nodiscard]] Stream capturing_stream() const;
  /// Whether the stream is being captured for it (cuStreamGetCaptureInfo).
  /// @throw std::logic_error that names the call which invalidated the capture, if one did.
  [[nodiscard]] bool is_building() const;
  /// Whether building has begun and not ended, without asking the driver.
  [[nodiscard]] bool has_begun() const noexcept;
  /// "not begun", "building", "built", "failed" or "closed".
  [[nodiscard]] std::string_view state() const noexcept;
  /// Whether it comes from split(), and must be joined before building ends.
  [[nodiscard]] bool is_join_required() const noexcept;

  /// Begins to capture (cuStreamBeginCapture; cuStreamBeginCaptureToGraph for a branch).
  void begin_building(CaptureMode mode = CaptureMode::relaxed) const;
  /// Ends the capture (cuStreamEndCapture).
  /// @throw Error that names the call which invalidated the capture, or says that a builder of
  /// split() has not been joined. The capture has ended then too.
  void end_building() const;
  /// Gives up the builder; what is being captured is dropped. Graphs that it made stay.
  void close() const;

  /// What was captured. The graph of a branch is there before the capture too, and can be built
  /// without one.
  [[nodiscard]] GraphDefinition graph_definition() const;
  /// Makes an executable graph of what was captured.
  [[nodiscard]] Graph complete(const GraphCompleteOptions& options = {}) const;

  /// Adds work that runs after what was captured so far, and before what follows.
  // NOLINTNEXTLINE(modernize-use-nodiscard): the node needn't be used
  GraphNode add(const GraphWork& work) const;

  /// Builders whose work may run at the same time, after what was captured so far. The first is
  /// this one.
  [[nodiscard]] std::vector<GraphBuilder> split(std::size_t count) const;
  /// Lets later work run after that of all the given builders, which come from one split.
  /// @return the one that is not from split(), or the first; the others are closed.
  static GraphBuilder join(std::span<const GraphBuilder> builders);

  /// A condition of the graph that is being captured, as GraphDefinition::create_condition().
  [[nodiscard]] GraphCondition create_condition(
      const std::optional<unsigned>& default_value = {}) const;
  /// Adds a conditional node, and returns a builder for each of its branches. Each has a stream of
  /// its own.
  [[nodiscard]] std::vector<GraphBuilder> branch(const GraphCondition& condition,
                                                 ConditionKind kind, std::size_t branches) const;
  [[nodiscard]] GraphBuilder if_then(const GraphCondition& condition) const;
  [[nodiscard]] std::pair<GraphBuilder, GraphBuilder> if_else(
      const GraphCondition& condition) const;
  [[nodiscard]] GraphBuilder while_loop(const GraphCondition& condition) const;
  /// Of the branches, the one with the condition's number runs; none if there is no such branch.
  [[nodiscard]] std::vector<GraphBuilder> switch_on(const GraphCondition& condition,
                                                    std::size_t branches) const;

  [[nodiscard]] const std::shared_ptr<GraphBuilderBox>& box() const noexcept { return box_; }

 private:
  explicit GraphBuilder(std::shared_ptr<GraphBuilderBox> box) noexcept : box_(std::move(box)) {}

  std::shared_ptr<GraphBuilderBox> box_;
};

}  // namespace cudacore
