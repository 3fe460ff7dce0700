// SPDX-License-Identifier: Apache-2.0
#include "owner/captures.hpp"

#include "error/check.hpp"

namespace cudacore::owner {

bool asks_for_capture(const driver::DriverApi& api, CUstream stream) {
  CUstreamCaptureStatus status{};
  error::check(api.cuStreamIsCapturing(stream, &status), "cuStreamIsCapturing");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void keep_in_capture(const driver::DriverApi& api, CUstream stream, std::shared_ptr<Kept> kept) {
  CUstreamCaptureStatus status{};
  CUgraph graph = nullptr;
  error::check(
      api.cuStreamGetCaptureInfo(stream, &status, nullptr, &graph, nullptr, nullptr, nullptr),
      "cuStreamGetCaptureInfo");
  if (status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return;
  (void)keep_in(api, graph, std::move(kept));
}

}  // namespace cudacore::owner
