// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "cudacore/buffer.hpp"
#include "owner/owned_handles.hpp"

// What is queued on streams that are being captured.

namespace cudacore {

/// What a graph keeps of a buffer that its work uses, even if it is closed later; null for the
/// memory of a graph, which ends when it is closed, and for a buffer that is no share.
[[nodiscard]] std::shared_ptr<void> share_of(const Buffer& buffer);

/// The graph that captured work becomes part of keeps the buffers that the work uses. The bindings
/// pass buffers that are no shares, and keep the objects themselves.
void keep_if_captured(const Stream& stream, std::span<const Buffer> buffers);
inline void keep_if_captured(const Stream& stream, std::initializer_list<Buffer> buffers) {
  keep_if_captured(stream, std::span(buffers.begin(), buffers.size()));
}

/// Refuses to allocate for a stream that is being captured: a graph would still use the memory when
/// others have it. `resource` begins the message.
/// @throw NotSupportedError
[[noreturn]] void refuse_allocation(const std::string& resource, const owner::StreamBox& stream);
/// The same if the stream, if there is one, is being captured.
void refuse_if_captured(const std::string& resource, const std::optional<Stream>& stream);

/// Why work that graphs have no nodes for can't be queued on a stream, beginning with `function`;
/// empty if it can.
/// @throw std::invalid_argument if the stream is closed; Error
[[nodiscard]] std::string capture_refusal(const std::string& function, const Stream& stream);
/// The same for batches, which the driver also refuses on the legacy default stream.
[[nodiscard]] std::string batch_refusal(const std::string& function, const Stream& stream);
/// Does nothing if there is no reason to refuse.
/// @throw std::invalid_argument
void refuse(const std::string& why);

}  // namespace cudacore
