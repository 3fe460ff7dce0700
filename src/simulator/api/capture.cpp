// SPDX-License-Identifier: Apache-2.0
//
// Stream capture: graphs are not simulated, so no stream is ever capturing.
#include <utility>

#include "simulator/api/entry.hpp"

using namespace cudacore::simulator;

namespace {

CUresult capture_status(CUstream handle, CUstreamCaptureStatus* status) noexcept {
  return context_call([&](Context&) {
    if (status == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CUresult result = CUDA_SUCCESS;
    if (find_stream(handle, result) == nullptr) return result;
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  });
}

}  // namespace

extern "C" {

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return driver_call([&] {
    static thread_local CUstreamCaptureMode current = CU_STREAM_CAPTURE_MODE_GLOBAL;
    if (mode == nullptr || static_cast<int>(*mode) < CU_STREAM_CAPTURE_MODE_GLOBAL ||
        *mode > CU_STREAM_CAPTURE_MODE_RELAXED) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    *mode = std::exchange(current, *mode);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return capture_status(stream, status);
}

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t*) {
  return capture_status(stream, status);
}

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t*,
                                   CUgraph*, const CUgraphNode**, std::size_t*) {
  return capture_status(stream, status);
}

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t*,
                                   CUgraph*, const CUgraphNode**, const CUgraphEdgeData**,
                                   std::size_t*) {
  return capture_status(stream, status);
}

}  // extern "C"
