// SPDX-License-Identifier: Apache-2.0
#include "owner/captures.hpp"

#include <unordered_map>

#include "driver/leaked.hpp"
#include "error/check.hpp"

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

bool asks_for_capture(const driver::DriverApi& api, CUstream stream) {
  CUstreamCaptureStatus status{};
  error::check(api.cuStreamIsCapturing(stream, &status), "cuStreamIsCapturing");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void keep_in_capture(const driver::DriverApi& api, CUstream stream, std::shared_ptr<Kept> kept) {
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0;
  CUgraph graph = nullptr;
  error::check(api.cuStreamGetCaptureInfo(stream, &status, &id, &graph, nullptr, nullptr, nullptr),
               "cuStreamGetCaptureInfo");
  if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return;
  const std::shared_ptr<GraphBox> box = graph_of(id);
  if (box == nullptr) {
    keep_in(api, graph, std::move(kept));
    return;
  }
  const std::scoped_lock lock(box->outermost().family);
  box->keep_for_others(api, kept);
  box->captured.push_back(std::move(kept));
}

}  // namespace cudacore::owner
