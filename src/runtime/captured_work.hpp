// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <string>

#include "cudacore/buffer.hpp"
#include "owner/owned_handles.hpp"

// What is queued on streams that are being captured.

namespace cudacore {

/// Whether a stream is being captured into a graph, by whoever began that, or, for the legacy
/// stream, one that waits for it: to record or to query it would end that capture.
/// @throw Error if the driver doesn't say.
[[nodiscard]] bool is_captured_by_anyone(const owner::StreamBox& stream);

/// The graph that captured work becomes part of keeps the buffers that the work uses. The bindings
/// pass buffers that are no shares, and keep the objects themselves.
void keep_if_captured(const Stream& stream, std::span<const Buffer> buffers);
inline void keep_if_captured(const Stream& stream, std::initializer_list<Buffer> buffers) {
  keep_if_captured(stream, std::span(buffers.begin(), buffers.size()));
}

/// Why work that graphs have no nodes for can't be queued on a stream, beginning with `function`;
/// empty if it can.
/// @throw std::invalid_argument if the stream is closed; Error
[[nodiscard]] std::string capture_refusal(const std::string& function, const Stream& stream);
/// The same for batches, of which the driver also queues none on the legacy default stream.
[[nodiscard]] std::string batch_refusal(const std::string& function, const Stream& stream);
/// Does nothing if there is no reason to refuse.
/// @throw std::invalid_argument
void refuse(const std::string& why);

}  // namespace cudacore
