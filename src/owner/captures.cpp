// SPDX-License-Identifier: Apache-2.0
#include "owner/captures.hpp"

#include <algorithm>
#include <unordered_map>

#include "driver/leaked.hpp"
#include "error/check.hpp"
#include "error/describe.hpp"

namespace cudacore::owner {
namespace {

/// The captures that began here. Others capture too, of whose graphs there is no box.
struct OwnCaptures {
  std::mutex mutex;
  std::unordered_map<cuuint64_t, std::weak_ptr<GraphBox>> graphs;
};

OwnCaptures& own_captures() { return driver::leaked<OwnCaptures>(); }

std::shared_ptr<GraphBox> graph_of(cuuint64_t capture) {
  OwnCaptures& own = own_captures();
  const std::scoped_lock lock(own.mutex);
  const auto known = own.graphs.find(capture);
  return known == own.graphs.end() ? nullptr : known->second.lock();
}

}  // namespace

void note_capture(cuuint64_t id, const std::shared_ptr<GraphBox>& graph) {
  OwnCaptures& own = own_captures();
  const std::scoped_lock lock(own.mutex);
  own.graphs[id] = graph;
}

void forget_capture(cuuint64_t id) noexcept {
  OwnCaptures& own = own_captures();
  const std::scoped_lock lock(own.mutex);
  own.graphs.erase(id);
}

bool asks_for_capture(const StreamBox& stream) {
  const driver::DriverApi& api = driver::api();
  const std::shared_ptr<error::ContextBox>& context = stream.work_context();
  error::throw_if_lost(*context);
  const error::ContextScope scope(api, *context);
  CUstreamCaptureStatus status{};
  const CUresult result = api.cuStreamIsCapturing(stream.stream, &status);
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return true;
  error::check(
      result, "cuStreamIsCapturing", [&] { return describe_stream(stream); }, context.get());
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

CaptureInfo capture_info(const driver::DriverApi& api, const StreamBox& stream) {
  const std::shared_ptr<error::ContextBox>& context = stream.work_context();
  const error::ContextScope scope(api, *context);
  CaptureInfo info;
  const CUgraphNode* last = nullptr;
  const CUgraphEdgeData* edges = nullptr;
  std::size_t count = 0;
  error::check(
      api.cuStreamGetCaptureInfo(stream.stream, &info.status, &info.id, &info.graph, &last, &edges,
                                 &count),
      "cuStreamGetCaptureInfo", [&] { return describe_stream(stream); }, context.get());
  if (info.status == CU_STREAM_CAPTURE_STATUS_ACTIVE) info.last = {last, count};
  return info;
}

void note_waiting(const driver::DriverApi& api, const StreamBox& stream) {
  if (stream.stream == nullptr || stream.stream == CU_STREAM_LEGACY) return;  // never captured
  const CaptureInfo info = capture_info(api, stream);
  if (info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return;
  const std::shared_ptr<GraphBox> box = graph_of(info.id);
  if (box == nullptr) return;
  const std::scoped_lock lock(box->outermost().family);
  if (std::ranges::find(box->streams, stream.stream) != box->streams.end()) return;
  box->streams.push_back(stream.stream);
}

std::string describe_streams(GraphBox& graph, CUstream first) {
  const std::scoped_lock lock(graph.outermost().family);
  std::string text;
  for (CUstream stream : graph.streams) {
    if (stream == first) continue;
    text += (text.empty() ? "" : ", ") + ("stream " + error::format_address(stream));
  }
  return text.empty() ? text : "; streams that have waited for it: " + text;
}

void keep_in_capture(const driver::DriverApi& api, const StreamBox& stream,
                     std::shared_ptr<Kept> kept) {
  const CaptureInfo info = capture_info(api, stream);
  if (info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return;
  const std::shared_ptr<GraphBox> box = graph_of(info.id);
  if (box == nullptr) {
    keep_in(api, info.graph, std::move(kept));
    return;
  }
  const std::scoped_lock lock(box->outermost().family);
  box->keep_for_others(api, kept);
  box->captured.push_back(std::move(kept));
}

}  // namespace cudacore::owner
