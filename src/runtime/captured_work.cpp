// SPDX-License-Identifier: Apache-2.0
#include "runtime/captured_work.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

#include "cudacore/graph_memory_resource.hpp"
#include "owner/captures.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {

bool is_captured_by_anyone(const owner::StreamBox& stream) {
  if (!owner::may_be_capturing()) return false;
  const StreamCall call(stream);
  CUstreamCaptureStatus status{};
  const CUresult result = call.api().cuStreamIsCapturing(call.stream(), &status);
  if (result == CUDA_ERROR_STREAM_CAPTURE_IMPLICIT) return true;
  call.check(result, "cuStreamIsCapturing");
  return status != CU_STREAM_CAPTURE_STATUS_NONE;
}

void keep_if_captured(const Stream& stream, std::span<const Buffer> buffers) {
  if (!owner::any_capture()) [[likely]]
    return;
  auto kept = std::make_shared<owner::Kept>();
  for (const Buffer& buffer : buffers) {
    if (buffer.box().use_count() == 0 || GraphMemoryResource::owns(buffer)) continue;
    kept->shares.emplace_back(buffer.box());
  }
  if (kept->shares.empty()) return;
  const StreamCall call(*stream.box());
  owner::keep_in_capture(call.api(), call.stream(), std::move(kept));
}

std::string capture_refusal(const std::string& function, const Stream& stream) {
  if (!is_captured_by_anyone(require_open(stream.box(), "Stream"))) return {};
  return function +
         ": the stream is being captured, and graphs have no nodes for this: do it before the "
         "capture, or on another stream";
}

std::string batch_refusal(const std::string& function, const Stream& stream) {
  const CUstream handle = require_open(stream.box(), "Stream").stream;
  if (handle != nullptr && handle != CU_STREAM_LEGACY) return capture_refusal(function, stream);
  return function +
         ": the driver queues this on no legacy default stream: give another one, such as "
         "device.create_stream()";
}

void refuse(const std::string& why) {
  if (!why.empty()) throw std::invalid_argument(why);
}

}  // namespace cudacore
