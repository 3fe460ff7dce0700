// SPDX-License-Identifier: Apache-2.0
#include "cudacore/graph_builder.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

#include "cudacore/device.hpp"
#include "driver/blocking.hpp"
#include "error/failed_capture.hpp"
#include "owner/callback.hpp"
#include "owner/captures.hpp"
#include "runtime/context_call.hpp"
#include "runtime/graph_call.hpp"

namespace cudacore {

/// A builder, and what it captures.
struct GraphBuilderBox : driver::NotCopied {
  enum class State : std::uint8_t { not_started, building, ended, failed, closed };

  explicit GraphBuilderBox(Stream its_stream) noexcept : stream(std::move(its_stream)) {}
  ~GraphBuilderBox() {
    if (state != State::building || primary != nullptr) return;
    const auto drop = [captured = stream, id = capture, into = graph] {
      owner::GraphBox::Ended ended;
      drop_capture(captured, id, *into, ended);
    };
    try {
      owner::end_outside_callbacks(drop);
    } catch (...) {  // memory is short: the stream stays captured
    }
  }

  /// Ends a capture whose graph is not wanted. An error would only say what was not joined.
  static void drop_capture(const Stream& stream, cuuint64_t capture, owner::GraphBox& graph,
                           owner::GraphBox::Ended& ended) noexcept;

  /// One call at a time. It is held during calls of the driver, so whoever may have the GIL takes
  /// no part.
  std::mutex mutex;
  std::atomic<State> state{State::not_started};
  cuuint64_t capture = 0;  ///< the driver's number of it, while building
  const Stream stream;
  std::shared_ptr<owner::GraphBox> graph;
  std::shared_ptr<GraphBuilderBox> primary;  ///< of a builder from split()
  bool is_branch = false;
};

namespace {

using State = GraphBuilderBox::State;

const owner::StreamBox& open(const Stream& stream) {
  if (graph_api().cuStreamGetCaptureInfo == nullptr) {
    driver::throw_missing_symbol("cuStreamGetCaptureInfo", 12030);
  }
  return require_open(stream.box(), "Stream");
}

/// Counts a capture before it begins; one that fails to begin is not counted.
class CountedCapture : driver::NotCopied {
 public:
  CountedCapture() noexcept { owner::captures.fetch_add(1, std::memory_order_relaxed); }
  ~CountedCapture() {
    if (!is_begun_) owner::captures.fetch_sub(1, std::memory_order_relaxed);
  }
  void begun() noexcept { is_begun_ = true; }

 private:
  bool is_begun_ = false;
};

/// Ends a capture, whatever the result: also one of another thread is over then. `ended` is to be
/// dropped without any lock.
CUresult end_capture(const StreamCall& call, cuuint64_t capture, owner::GraphBox& graph,
                     owner::GraphBox::Ended& ended) {
  CUgraph captured = nullptr;
  const CUresult result = call.api().cuStreamEndCapture(call.stream(), &captured);
  owner::forget_capture(capture);
  owner::captures.fetch_sub(1, std::memory_order_relaxed);
  const std::scoped_lock lock(graph.outermost().family);
  graph.is_captured = false;
  if (result != CUDA_SUCCESS) graph.end(ended);  // the driver has destroyed it
  return result;
}

void require_usable(State state) {
  if (state == State::closed) {
    throw std::logic_error("this GraphBuilder is closed, or was joined with another");
  }
  if (state == State::failed) {
    throw std::logic_error("the capture of this GraphBuilder failed; make a new one");
  }
}

class BuilderCall {
 public:
  explicit BuilderCall(GraphBuilderBox& box) : box_(&box), lock_(box.mutex) {
    require_usable(box.state);
  }
  GraphBuilderBox* operator->() const noexcept { return box_; }

 private:
  GraphBuilderBox* box_;
  std::unique_lock<std::mutex> lock_;
};

void require_building(State state) {
  if (state == State::not_started) {
    throw std::logic_error(
        "this GraphBuilder is not building: begin_building(), or in Python a `with` block of it, "
        "comes first");
  }
  if (state == State::ended) {
    throw std::logic_error(
        "this GraphBuilder is not building: its graph is complete, and a new GraphBuilder makes "
        "another one");
  }
}

/// What a builder's stream captures.
/// @throw std::logic_error unless it is building.
owner::CaptureInfo active_capture(const BuilderCall& builder, const StreamCall& call) {
  require_building(builder->state);
  const owner::CaptureInfo state = owner::capture_info(call.api(), *builder->stream.box());
  if (state.status == CU_STREAM_CAPTURE_STATUS_INVALIDATED) {
    throw std::logic_error("the capture was invalidated" + error::failed_capture() +
                           "; end_building() ends it");
  }
  if (state.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) {
    throw std::logic_error("the capture of this GraphBuilder's stream was ended elsewhere");
  }
  return state;
}

/// A stream as the given one.
Stream another_stream(const Stream& stream) {
  return {stream.context(), StreamOptions{.nonblocking = true, .priority = stream.priority()}};
}

}  // namespace

void GraphBuilderBox::drop_capture(const Stream& stream, cuuint64_t capture, owner::GraphBox& graph,
                                   owner::GraphBox::Ended& ended) noexcept {
  if (driver::api_for_cleanup() == nullptr) return;
  const driver::BlockingScope blocking;
  try {
    const StreamCall call(*stream.box());
    (void)end_capture(call, capture, graph, ended);
  } catch (const std::exception&) {  // the context was lost, and the capture with it
  }
}

GraphBuilder::GraphBuilder(const Stream& stream) {
  open(stream);
  box_ = std::make_shared<GraphBuilderBox>(stream);
}

Stream GraphBuilder::stream() const {
  require_usable(box_->state);
  return box_->stream;
}

Stream GraphBuilder::capturing_stream() const {
  const State state = box_->state;
  require_usable(state);
  require_building(state);
  return box_->stream;
}

bool GraphBuilder::is_building() const {
  const BuilderCall builder(*box_);
  if (builder->state != State::building) return false;
  const StreamCall call(open(builder->stream));
  (void)active_capture(builder, call);
  return true;
}

bool GraphBuilder::has_begun() const noexcept { return box_->state == State::building; }

std::string_view GraphBuilder::state() const noexcept {
  switch (box_->state) {
    case State::not_started:
      return "not begun";
    case State::building:
      return "building";
    case State::ended:
      return "built";
    case State::failed:
      return "failed";
    case State::closed:
      return "closed";
  }
  return {};
}

bool GraphBuilder::is_join_required() const noexcept { return box_->primary != nullptr; }

void GraphBuilder::begin_building(CaptureMode mode) const {
  const BuilderCall builder(*box_);
  if (builder->state == State::building) {
    throw std::logic_error("this GraphBuilder is building already");
  }
  if (builder->state == State::ended) {
    throw std::logic_error(
        "this GraphBuilder has begun building before; a new one builds another graph");
  }
  const owner::StreamBox& queue = open(builder->stream);
  if (queue.stream == nullptr || queue.stream == CU_STREAM_LEGACY) {
    throw_invalid(
        "GraphBuilder.begin_building: the legacy default stream can't be captured, because it "
        "waits for other streams: capture a stream of your own, by device.create_graph_builder() "
        "or device.create_stream().create_graph_builder()");
  }
  const StreamCall call(queue);
  if (owner::capture_info(call.api(), queue).status != CU_STREAM_CAPTURE_STATUS_NONE) {
    throw std::logic_error("the stream is being captured already");
  }
  error::forget_failed_capture();
  CountedCapture count;
  const auto driver_mode = static_cast<CUstreamCaptureMode>(mode);
  if (builder->is_branch) {
    const GraphCall into(builder->graph);
    call.check(call.api().cuStreamBeginCaptureToGraph(call.stream(), into.graph(), nullptr, nullptr,
                                                      0, driver_mode),
               "cuStreamBeginCaptureToGraph");
  } else {
    auto graph = std::make_shared<owner::GraphBox>();
    graph->is_captured = true;
    call.check(call.api().cuStreamBeginCapture(call.stream(), driver_mode), "cuStreamBeginCapture");
    builder->graph = std::move(graph);
  }
  count.begun();
  builder->state = State::building;
  const owner::CaptureInfo begun = owner::capture_info(call.api(), queue);
  if (!builder->is_branch) builder->graph->graph = begun.graph;
  builder->capture = begun.id;
  owner::note_capture(begun.id, builder->graph);
}

void GraphBuilder::end_building() const {
  owner::GraphBox::Ended ended;
  const BuilderCall builder(*box_);
  if (builder->primary != nullptr) {
    throw std::logic_error("this GraphBuilder comes from split(): join it, and end the first one");
  }
  if (builder->state != State::building) {
    throw std::logic_error("this GraphBuilder is not building: call begin_building() first");
  }
  const StreamCall call(open(builder->stream));
  const CUresult result = end_capture(call, builder->capture, *builder->graph, ended);
  builder->state = result == CUDA_SUCCESS ? State::ended : State::failed;
  call.check(result, "cuStreamEndCapture", [&] {
    const owner::StreamBox& queue = *builder->stream.box();
    std::string text = owner::describe_stream(queue);
    if (result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED) {
      text += owner::describe_streams(*builder->graph, queue.stream);
    }
    return text;
  });
}

void GraphBuilder::close() const {
  owner::GraphBox::Ended ended;
  const std::scoped_lock lock(box_->mutex);
  const State before = box_->state.exchange(State::closed);
  if (before != State::building || box_->primary != nullptr) return;
  GraphBuilderBox::drop_capture(box_->stream, box_->capture, *box_->graph, ended);
}

GraphDefinition GraphBuilder::graph_definition() const {
  const BuilderCall builder(*box_);
  if (builder->primary != nullptr) {
    throw std::logic_error("a GraphBuilder of split() has no graph of its own: ask the first one");
  }
  if (builder->state == State::building) {
    throw std::logic_error("the graph is still being captured: call end_building() first");
  }
  if (builder->graph == nullptr) {
    throw std::logic_error("nothing is built yet: begin_building() and end_building() come first");
  }
  return GraphDefinition(builder->graph);
}

Graph GraphBuilder::complete(const GraphCompleteOptions& options) const {
  return graph_definition().instantiate(options);
}

GraphNode GraphBuilder::add(const GraphWork& work) const {
  const BuilderCall builder(*box_);
  const StreamCall call(open(builder->stream));
  (void)active_capture(builder, call);
  GraphNode added = add_node(builder->graph, work, [&](const GraphCall&) {
    const owner::CaptureInfo state = active_capture(builder, call);
    return std::vector<CUgraphNode>(state.last.begin(), state.last.end());
  });
  CUgraphNode node = added.handle();
  call.check(call.api().cuStreamUpdateCaptureDependencies(call.stream(), &node, nullptr, 1,
                                                          CU_STREAM_SET_CAPTURE_DEPENDENCIES),
             "cuStreamUpdateCaptureDependencies");
  return added;
}

std::vector<GraphBuilder> GraphBuilder::split(std::size_t count) const {
  if (count < 2) {
    throw std::invalid_argument("count must be at least 2, not " + std::to_string(count));
  }
  const BuilderCall builder(*box_);
  const StreamCall call(open(builder->stream));
  (void)active_capture(builder, call);
  std::vector<GraphBuilder> builders{*this};
  while (builders.size() < count) {
    auto box = std::make_shared<GraphBuilderBox>(another_stream(builder->stream));
    box->stream.wait(builder->stream);
    box->state = State::building;
    box->graph = builder->graph;
    box->primary = builder->primary != nullptr ? builder->primary : box_;
    builders.push_back(GraphBuilder(std::move(box)));
  }
  return builders;
}

GraphBuilder GraphBuilder::join(std::span<const GraphBuilder> builders) {
  const auto family = [](const GraphBuilder& builder) {
    return builder.box_->primary != nullptr ? builder.box_->primary.get() : builder.box_.get();
  };
  for (std::size_t i = 0; i < builders.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (builders[i].box_ == builders[j].box_) {
        throw std::invalid_argument("join takes different builders");
      }
      if (family(builders[i]) != family(builders[j])) {
        throw std::invalid_argument("join takes builders of one split");
      }
    }
  }
  if (builders.size() < 2) throw std::invalid_argument("join takes two or more builders");
  const auto first = std::find_if(builders.begin(), builders.end(), [](const GraphBuilder& one) {
    return one.box_->primary == nullptr;
  });
  const GraphBuilder& kept = first != builders.end() ? *first : builders.front();
  for (const GraphBuilder& builder : builders) {
    if (!builder.is_building()) throw std::logic_error("join takes builders that are building");
  }
  for (const GraphBuilder& builder : builders) {
    if (builder.box_ != kept.box_) kept.stream().wait(builder.stream());
  }
  for (const GraphBuilder& builder : builders) {
    if (builder.box_ != kept.box_) builder.close();
  }
  return kept;
}

GraphCondition GraphBuilder::create_condition(const std::optional<unsigned>& default_value) const {
  const BuilderCall builder(*box_);
  const StreamCall call(open(builder->stream));
  (void)active_capture(builder, call);
  return GraphDefinition(builder->graph).create_condition(default_value);
}

std::vector<GraphBuilder> GraphBuilder::branch(const GraphCondition& condition, ConditionKind kind,
                                               std::size_t branches) const {
  const Stream source = stream();
  const StreamCall call(open(source));  // the work is for the stream's context
  const GraphWork work = GraphWork::conditional(condition, kind, branches);
  std::vector<GraphBuilder> builders;
  builders.reserve(branches);
  while (builders.size() < branches) builders.emplace_back(another_stream(source));
  const std::vector<GraphDefinition> graphs = add(work).branches();
  for (std::size_t i = 0; i < branches; ++i) {
    builders[i].box_->graph = graphs[i].box();
    builders[i].box_->is_branch = true;
  }
  return builders;
}

GraphBuilder GraphBuilder::if_then(const GraphCondition& condition) const {
  return branch(condition, ConditionKind::if_, 1).front();
}

std::pair<GraphBuilder, GraphBuilder> GraphBuilder::if_else(const GraphCondition& condition) const {
  std::vector<GraphBuilder> both = branch(condition, ConditionKind::if_, 2);
  return {both[0], both[1]};
}

GraphBuilder GraphBuilder::while_loop(const GraphCondition& condition) const {
  return branch(condition, ConditionKind::while_, 1).front();
}

std::vector<GraphBuilder> GraphBuilder::switch_on(const GraphCondition& condition,
                                                  std::size_t branches) const {
  return branch(condition, ConditionKind::switch_, branches);
}

}  // namespace cudacore
