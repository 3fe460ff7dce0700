// SPDX-License-Identifier: Apache-2.0
#include "runtime/captured_work.hpp"

#include <memory>
#include <stdexcept>
#include <utility>

#include "cudacore/error.hpp"
#include "cudacore/graph_memory_resource.hpp"
#include "owner/captures.hpp"
#include "owner/require_open.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {

std::shared_ptr<void> share_of(const Buffer& buffer) {
  if (buffer.box().use_count() == 0 || GraphMemoryResource::owns(buffer)) return nullptr;
  return buffer.box();
}

void keep_if_captured(const Stream& stream, std::span<const Buffer> buffers) {
  if (!owner::any_capture()) [[likely]]
    return;
  auto kept = std::make_shared<owner::Kept>();
  for (const Buffer& buffer : buffers) {
    if (std::shared_ptr<void> share = share_of(buffer)) kept->shares.push_back(std::move(share));
  }
  if (kept->shares.empty()) return;
  owner::keep_in_capture(driver::api(), *stream.box(), std::move(kept));
}

void refuse_allocation(const std::string& resource, const owner::StreamBox& stream) {
  throw NotSupportedError(resource + " allocates no memory on " + owner::describe_stream(stream) +
                          (owner::is_default_stream(stream.stream)
                               ? ", which waits for a stream that is"
                               : ", which is") +
                          " being captured: allocate before the capture begins, or from a "
                          "GraphMemoryResource");
}

void refuse_if_captured(const std::string& resource, const std::optional<Stream>& stream) {
  if (!stream) return;
  const owner::StreamBox& queue = require_open(stream->box(), "Stream");
  if (owner::is_captured(queue)) refuse_allocation(resource, queue);
}

std::string capture_refusal(const std::string& function, const Stream& stream) {
  if (!owner::is_captured(require_open(stream.box(), "Stream"))) return {};
  return function +
         ": the stream is being captured, and graphs have no nodes for this: do it before the "
         "capture, or on another stream";
}

std::string batch_refusal(const std::string& function, const Stream& stream) {
  const CUstream handle = require_open(stream.box(), "Stream").stream;
  if (!owner::is_legacy_stream(handle)) return capture_refusal(function, stream);
  return function +
         ": the driver refuses this on the legacy default stream: pass another one, such as "
         "device.create_stream()";
}

void refuse(const std::string& why) {
  if (!why.empty()) throw std::invalid_argument(why);
}

}  // namespace cudacore
