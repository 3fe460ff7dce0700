// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/stream/capture.hpp"

#include <algorithm>
#include <mutex>
#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace cudacore::simulator {

struct Capture {
  std::uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  std::thread::id thread;
  std::shared_ptr<Graph> graph;
  bool owns_graph = true;  ///< until it is handed to the program
  const Stream* origin = nullptr;
  bool is_valid = true;
  std::vector<CaptureFront> left_behind;  ///< of streams that were destroyed meanwhile

  [[nodiscard]] CUresult status() const noexcept {
    return is_valid ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  }
};

namespace {

struct CapturingStream {
  std::shared_ptr<Capture> capture;
  CaptureFront front;
};

struct Captures {
  std::mutex mutex;  ///< guards everything below, and the captured points of events
  std::uint64_t last_id = 0;
  std::unordered_map<const Stream*, CapturingStream> streams;

  static Captures& instance() {
    static Captures& one = *std::make_unique<Captures>().release();
    return one;
  }

  CapturingStream* find(const Stream& stream) {
    const auto found = streams.find(&stream);
    return found != streams.end() ? &found->second : nullptr;
  }
  void join(const Stream& stream, CapturingStream state) {
    streams.emplace(&stream, std::move(state));
    stream.capturing.store(true, std::memory_order_release);
    capturing_streams.fetch_add(1, std::memory_order_relaxed);
  }
  /// The capture that a point is of; null if it has ended.
  std::shared_ptr<Capture> active(const CapturedPoint& point) {
    std::shared_ptr<Capture> capture = point.capture.lock();
    const CapturingStream* origin = capture != nullptr ? find(*capture->origin) : nullptr;
    if (origin == nullptr || origin->capture != capture) return nullptr;
    return capture;
  }
  /// Removes a capture from all its streams.
  void end(const Capture& capture) noexcept {
    for (auto entry = streams.begin(); entry != streams.end();) {
      if (entry->second.capture.get() != &capture) {
        ++entry;
        continue;
      }
      entry->first->capturing.store(false, std::memory_order_release);
      capturing_streams.fetch_sub(1, std::memory_order_relaxed);
      entry = streams.erase(entry);
    }
    capture.graph->is_capturing = false;
    const bool spoils = !capture.is_valid && capture.graph->owner == nullptr;
    if (capture.owns_graph || spoils) capture.graph->end();
  }
  /// Invalidates the captures of the streams for which the condition holds; returns whether there
  /// is one.
  template <class Condition>
  bool invalidate(Condition&& condition) {
    bool found = false;
    for (auto& [stream, state] : streams) {
      if (!condition(*stream, *state.capture)) continue;
      state.capture->is_valid = false;
      found = true;
    }
    return found;
  }
};

/// Whether every node at the front of a stream leads to a node in `reached`, which contains the
/// predecessors of where the capture ends.
bool is_joined(const CaptureFront& front, const std::unordered_set<CUgraphNode>& reached) {
  return std::ranges::all_of(front.nodes, [&](CUgraphNode node) {
    return reached.contains(node) || registry().graph_nodes.find(node) == nullptr;
  });
}

std::unordered_set<CUgraphNode> predecessors(const CaptureFront& front) {
  std::unordered_set<CUgraphNode> reached;
  std::vector<CUgraphNode> left = front.nodes;
  while (!left.empty()) {
    const auto node = registry().graph_nodes.find(left.back());
    left.pop_back();
    if (node == nullptr || !reached.insert(node->handle).second) continue;
    for (const GraphEdge& edge : node->dependencies) left.push_back(edge.node->handle);
  }
  return reached;
}

}  // namespace

void CaptureFront::add(std::span<const CUgraphNode> more, const CUgraphEdgeData* more_data) {
  for (std::size_t i = 0; i < more.size(); ++i) {
    if (std::ranges::find(nodes, more[i]) != nodes.end()) continue;
    nodes.push_back(more[i]);
    data.push_back(more_data != nullptr ? more_data[i] : CUgraphEdgeData{});
  }
}

CUresult begin_capture(Stream& stream, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
                       CaptureFront front) {
  Captures& captures = Captures::instance();
  const std::scoped_lock lock(captures.mutex);
  if (stream.queue->kind() == QueueKind::legacy) {
    return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy stream can't be captured");
  }
  if (captures.find(stream) != nullptr || (graph != nullptr && graph->is_capturing)) {
    return refuse(CUDA_ERROR_ILLEGAL_STATE, "the stream or the graph is already capturing");
  }
  const auto capture = std::make_shared<Capture>();
  capture->owns_graph = graph == nullptr;
  capture->graph = capture->owns_graph ? Graph::create() : std::move(graph);
  capture->graph->is_capturing = true;
  capture->id = ++captures.last_id;
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = &stream;
  captures.join(stream, {capture, std::move(front)});
  return CUDA_SUCCESS;
}

CUresult end_capture(Stream& stream, CUgraph& graph) {
  graph = nullptr;
  Captures& captures = Captures::instance();
  const std::scoped_lock lock(captures.mutex);
  const CapturingStream* state = captures.find(stream);
  if (state == nullptr) return refuse(CUDA_ERROR_ILLEGAL_STATE, "the stream is not capturing");
  const std::shared_ptr<Capture> capture = state->capture;
  if (capture->origin != &stream) {
    capture->is_valid = false;
    return refuse(CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "the capture began in another stream");
  }
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED &&
      capture->thread != std::this_thread::get_id()) {
    captures.end(*capture);
    return refuse(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                  "the capture began in another thread; it has ended without a graph");
  }
  CUresult result = capture->status();
  if (result == CUDA_SUCCESS) {
    const std::unordered_set<CUgraphNode> reached = predecessors(state->front);
    const bool is_whole = std::ranges::all_of(captures.streams,
                                              [&](const auto& entry) {
                                                return entry.second.capture != capture ||
                                                       is_joined(entry.second.front, reached);
                                              }) &&
                          std::ranges::all_of(capture->left_behind, [&](const CaptureFront& front) {
                            return is_joined(front, reached);
                          });
    if (!is_whole) {
      result = refuse(CUDA_ERROR_STREAM_CAPTURE_UNJOINED,
                      "another stream has captured work that this one does not wait for");
    }
  }
  if (result == CUDA_SUCCESS) {
    graph = capture->graph->handle;
    capture->owns_graph = false;
  }
  captures.end(*capture);
  return result;
}

CaptureInfo capture_info(const Stream& stream) {
  Captures& captures = Captures::instance();
  const std::scoped_lock lock(captures.mutex);
  const CapturingStream* state = captures.find(stream);
  if (state == nullptr) return {};
  const Capture& capture = *state->capture;
  return {capture.is_valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_INVALIDATED,
          capture.id, capture.graph->handle, &state->front};
}

CUresult update_capture(const Stream& stream, const Dependencies& dependencies, bool replace) {
  Captures& captures = Captures::instance();
  const std::scoped_lock lock(captures.mutex);
  CapturingStream* state = captures.find(stream);
  if (state == nullptr) return refuse(CUDA_ERROR_ILLEGAL_STATE, "the stream is not capturing");
  if (!state->capture->is_valid) return state->capture->status();
  for (const CUgraphNode handle : dependencies.nodes) {
    const auto node = registry().graph_nodes.find(handle);
    if (node == nullptr || node->graph != state->capture->graph.get()) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "not a node of the graph that is captured into");
    }
  }
  if (replace) state->front = {};
  state->front.add(dependencies.nodes, dependencies.data);
  return CUDA_SUCCESS;
}

CUresult capture(const Stream& stream, SharedAction action) {
  Captures& captures = Captures::instance();
  const std::scoped_lock lock(captures.mutex);
  CapturingStream* state = captures.find(stream);
  if (state == nullptr) return refuse(CUDA_ERROR_ILLEGAL_STATE, "the stream is not capturing");
  if (!state->capture->is_valid) return state->capture->status();
  GraphNode* node = nullptr;
  const CUresult result =
      state->capture->graph->add(std::move(action), state->front.dependencies(), node);
  if (result == CUDA_SUCCESS) state->front = {{node->handle}, {CUgraphEdgeData{}}};
  return result;
}

CUresult capture_event(const Stream& stream, Event& event) {
  Captures& captures = Captures::instance();
  const std::scoped_lock lock(captures.mutex);
  const CapturingStream* state = captures.find(stream);
  if (state == nullptr) return refuse(CUDA_ERROR_ILLEGAL_STATE, "the stream is not capturing");
  if (!state->capture->is_valid) return state->capture->status();
  event.captured = std::make_shared<CapturedPoint>(CapturedPoint{state->capture, state->front});
  event.is_captured.store(true, std::memory_order_relaxed);
  return CUDA_SUCCESS;
}

CUresult capture_wait(Stream& stream, const Event& event) {
  Captures& captures = Captures::instance();
  const std::scoped_lock lock(captures.mutex);
  CapturingStream* state = captures.find(stream);
  const std::shared_ptr<const CapturedPoint> point = event.captured;
  const std::shared_ptr<Capture> source = point != nullptr ? captures.active(*point) : nullptr;
  if (state != nullptr && !state->capture->is_valid) return state->capture->status();
  if (source == nullptr) {
    if (state == nullptr) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "the event was recorded in a capture that has ended");
    }
    state->capture->is_valid = false;
    return refuse(CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                  "a capturing stream can't wait for work that is not captured");
  }
  if (!source->is_valid) return source->status();
  if (state == nullptr) {
    if (stream.queue->kind() == QueueKind::legacy) {
      source->is_valid = false;
      return refuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "the legacy stream can't be captured");
    }
    captures.join(stream, {source, point->front});
    return CUDA_SUCCESS;
  }
  if (state->capture != source) {
    state->capture->is_valid = source->is_valid = false;
    return refuse(CUDA_ERROR_STREAM_CAPTURE_MERGE, "the event belongs to another capture");
  }
  state->front.add(point->front.nodes, point->front.data.data());
  return CUDA_SUCCESS;
}

void forget_captured(Event& event) noexcept {
  if (!event.is_captured.load(std::memory_order_relaxed)) return;
  Captures& captures = Captures::instance();
  const std::scoped_lock lock(captures.mutex);
  event.captured = nullptr;
  event.is_captured.store(false, std::memory_order_relaxed);
}

bool is_captured_into(const Graph& graph) {
  Captures& captures = Captures::instance();
  const std::scoped_lock lock(captures.mutex);
  return graph.is_capturing;
}

CUresult refuse_in_capture(const Stream& stream) {
  Captures& captures = Captures::instance();
  const std::scoped_lock lock(captures.mutex);
  const CapturingStream* state = captures.find(stream);
  if (state == nullptr) return CUDA_SUCCESS;
  state->capture->is_valid = false;
  return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the call can't be captured");
}

CUresult check_captured_event(const Event& event) {
  if (!event.is_captured.load(std::memory_order_relaxed)) return CUDA_SUCCESS;
  Captures& captures = Captures::instance();
  const std::scoped_lock lock(captures.mutex);
  if (event.captured == nullptr) return CUDA_SUCCESS;
  const std::shared_ptr<Capture> capture = captures.active(*event.captured);
  if (capture == nullptr) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the event was recorded in a capture that has ended");
  }
  capture->is_valid = false;
  return refuse(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a capturing stream");
}

CUresult check_legacy_stream(const Context& context, bool invalidates) {
  if (capturing_streams.load(std::memory_order_relaxed) == 0) return CUDA_SUCCESS;
  Captures& captures = Captures::instance();
  const std::scoped_lock lock(captures.mutex);
  const auto is_blocking = [&](const Stream& stream) {
    return &stream.context == &context && stream.queue->kind() == QueueKind::blocking;
  };
  const bool found = invalidates ? captures.invalidate([&](const Stream& stream, const Capture&) {
    return is_blocking(stream);
  })
                                 : std::ranges::any_of(captures.streams, [&](const auto& entry) {
                                     return is_blocking(*entry.first);
                                   });
  if (!found) return CUDA_SUCCESS;
  return refuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                "the legacy stream would wait for a stream that is capturing");
}

CUresult check_context_capture(const Context& context) {
  if (capturing_streams.load(std::memory_order_relaxed) == 0) return CUDA_SUCCESS;
  Captures& captures = Captures::instance();
  const std::scoped_lock lock(captures.mutex);
  if (!captures.invalidate(
          [&](const Stream& stream, const Capture&) { return &stream.context == &context; })) {
    return CUDA_SUCCESS;
  }
  return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a stream of the context is capturing");
}

CUresult check_unsafe_call() {
  if (capturing_streams.load(std::memory_order_relaxed) == 0) return CUDA_SUCCESS;
  const CUstreamCaptureMode mode = thread_capture_mode();
  if (mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  Captures& captures = Captures::instance();
  const std::scoped_lock lock(captures.mutex);
  if (!captures.invalidate([&](const Stream&, const Capture& capture) {
        if (capture.thread == std::this_thread::get_id()) {
          return capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED;
        }
        return mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
               capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
      })) {
    return CUDA_SUCCESS;
  }
  return refuse(
      CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
      "the call is unsafe while a stream is capturing, and the capture's mode forbids it");
}

CUstreamCaptureMode& thread_capture_mode() noexcept {
  static thread_local CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return mode;
}

void forget_capture(const Stream& stream) noexcept {
  Captures& captures = Captures::instance();
  const std::scoped_lock lock(captures.mutex);
  CapturingStream* state = captures.find(stream);
  if (state == nullptr) return;
  const std::shared_ptr<Capture> capture = state->capture;
  if (capture->origin == &stream) {
    captures.end(*capture);
    return;
  }
  try {
    capture->left_behind.push_back(std::move(state->front));
  } catch (const std::exception&) {
    capture->is_valid = false;
  }
  captures.streams.erase(&stream);
  capturing_streams.fetch_sub(1, std::memory_order_relaxed);
}

}  // namespace cudacore::simulator
