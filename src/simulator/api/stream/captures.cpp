// SPDX-License-Identifier: Apache-2.0
//
// Beginning, ending and asking about captures.
#include <algorithm>
#include <memory>
#include <utility>

#include "simulator/api/stream/capture.hpp"

using namespace cudacore::simulator;

namespace {

bool is_mode(CUstreamCaptureMode mode) {
  return static_cast<int>(mode) >= CU_STREAM_CAPTURE_MODE_GLOBAL &&
         mode <= CU_STREAM_CAPTURE_MODE_RELAXED;
}

/// CUresult body(Stream&) for a call that only asks, which the legacy stream refuses without harm.
template <class Body>
CUresult asking_call(CUstream handle, const void* required, Body&& body) noexcept {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (required == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (stream->queue->kind() == QueueKind::legacy) {
      const CUresult status = check_legacy_stream(stream->context, false);
      if (status != CUDA_SUCCESS) return status;
    }
    return body(*stream);
  });
}

CUresult begin(CUstream handle, CUstreamCaptureMode mode, std::shared_ptr<Graph> graph,
               CaptureFront front) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (!is_mode(mode)) return CUDA_ERROR_INVALID_VALUE;
    return begin_capture(*stream, mode, std::move(graph), std::move(front));
  });
}

}  // namespace

extern "C" {

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return driver_call([&] {
    if (mode == nullptr || !is_mode(*mode)) return CUDA_ERROR_INVALID_VALUE;
    *mode = std::exchange(thread_capture_mode(), *mode);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return begin(stream, mode, nullptr, {});
}
CUresult cuStreamBeginCapture(CUstream stream) {
  return begin(stream, CU_STREAM_CAPTURE_MODE_GLOBAL, nullptr, {});
}

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph handle,
                                     const CUgraphNode* dependencies, const CUgraphEdgeData* data,
                                     std::size_t count, CUstreamCaptureMode mode) {
  return graph_call(handle, [&](const Graph& graph) {
    if (dependencies == nullptr && count != 0) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < count; ++i) {
      const auto node = registry().graph_nodes.find(dependencies[i]);
      if (node == nullptr || node->graph != &graph) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "a dependency is not a node of the graph");
      }
    }
    CaptureFront front;
    front.add({dependencies, count}, data);
    return begin(stream, mode, registry().graphs.find(handle), std::move(front));
  });
}

CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    return graph != nullptr ? end_capture(*stream, *graph) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  return asking_call(handle, status, [&](const Stream& stream) {
    *status = capture_info(stream).status;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** nodes,
                                   const CUgraphEdgeData** data, std::size_t* count) {
  return asking_call(handle, status, [&](const Stream& stream) {
    if (data != nullptr && nodes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const CaptureInfo info = capture_info(stream);
    *status = info.status;
    if (info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
    const bool has_data = std::ranges::any_of(info.front->data, [](const CUgraphEdgeData& edge) {
      return edge.from_port != 0 || edge.type != 0;
    });
    if (nodes != nullptr && data == nullptr && has_data) return CUDA_ERROR_LOSSY_QUERY;
    if (id != nullptr) *id = info.id;
    if (graph != nullptr) *graph = info.graph;
    if (nodes != nullptr) *nodes = info.front->nodes.data();
    if (data != nullptr) *data = info.front->data.data();
    if (count != nullptr) *count = info.front->nodes.size();
    return CUDA_SUCCESS;
  });
}
CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** nodes, std::size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, nullptr, count);
}
CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode* dependencies,
                                              const CUgraphEdgeData* data, std::size_t count,
                                              unsigned flags) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (flags > CU_STREAM_SET_CAPTURE_DEPENDENCIES || (dependencies == nullptr && count != 0)) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    return update_capture(*stream, {{dependencies, count}, data},
                          flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
  });
}
CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* dependencies,
                                           std::size_t count, unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, dependencies, nullptr, count, flags);
}

}  // extern "C"
