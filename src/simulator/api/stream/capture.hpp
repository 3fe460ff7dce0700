// SPDX-License-Identifier: Apache-2.0
//
// Stream capture: streams that add nodes to a graph instead of doing work.
//
// A capture begins in one stream. Others join it when they wait for an event that was recorded in
// it. A call that can't be captured invalidates it: every later call on its streams fails, until it
// is ended. One mutex guards all captures.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "simulator/api/graph/graph.hpp"
#include "simulator/api/stream/event.hpp"
#include "simulator/api/stream/stream.hpp"

namespace cudacore::simulator {

/// What the next node of a capturing stream depends on.
struct CaptureFront {
  std::vector<CUgraphNode> nodes;
  std::vector<CUgraphEdgeData> data;

  [[nodiscard]] Dependencies dependencies() const noexcept { return {nodes, data.data()}; }
  /// Adds what is not in it yet.
  void add(std::span<const CUgraphNode> more, const CUgraphEdgeData* more_data);
};

struct Capture;  // capture.cpp

/// Where an event was recorded in a capture.
struct CapturedPoint {
  std::weak_ptr<Capture> capture;
  CaptureFront front;
};

/// What a program may ask about a capturing stream. The pointers are valid until the next call on
/// the stream.
struct CaptureInfo {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  std::uint64_t id = 0;
  CUgraph graph = nullptr;
  const CaptureFront* front = nullptr;
};

/// Begins a capture in a stream, into a new graph or an existing one.
CUresult begin_capture(Stream& stream, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
                       CaptureFront front);
/// Ends the capture that began in the stream. `graph` is null if it was invalidated.
CUresult end_capture(Stream& stream, CUgraph& graph);
CaptureInfo capture_info(const Stream& stream);
CUresult update_capture(const Stream& stream, const Dependencies& dependencies, bool replace);

/// Adds a node for what a program puts into a capturing stream.
CUresult capture(const Stream& stream, SharedAction action);
/// Makes an event refer to where a capturing stream is.
CUresult capture_event(const Stream& stream, Event& event);
/// Makes what a stream captures next depend on where an event was captured. A stream that does not
/// capture begins to.
CUresult capture_wait(Stream& stream, const Event& event);
/// Called when an event is recorded outside of captures.
void forget_captured(Event& event) noexcept;

/// Whether a stream captures into the graph, which therefore can't be destroyed.
[[nodiscard]] bool is_captured_into(const Graph& graph);

/// For calls that can't be captured: invalidates the stream's capture, and returns why.
CUresult refuse_in_capture(const Stream& stream);
/// For calls that query or wait for an event: invalidates its capture, if it was recorded in one.
CUresult check_captured_event(const Event& event);
/// For calls that use the legacy stream: IMPLICIT, while a blocking stream of the context captures.
/// `invalidates` those captures.
CUresult check_legacy_stream(const Context& context, bool invalidates);
/// For calls that wait for a whole context: invalidates the captures of its streams.
CUresult check_context_capture(const Context& context);
/// For calls that are unsafe while something is captured: fails and invalidates the captures that
/// forbid them in this thread, according to their modes and the thread's.
CUresult check_unsafe_call();
/// The calling thread's mode.
CUstreamCaptureMode& thread_capture_mode() noexcept;

/// How many streams capture.
inline constinit std::atomic<unsigned> capturing_streams{0};

/// Called when a stream ends.
void forget_capture(const Stream& stream) noexcept;

}  // namespace cudacore::simulator
