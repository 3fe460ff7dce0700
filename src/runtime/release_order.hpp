// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "cudacore/buffer.hpp"
#include "owner/owned_handles.hpp"

// Which streams the release of shared memory waits for.

namespace cudacore {

/// Orders the release of a buffer's memory on a stream. If others share the memory, or have shared
/// it, the release also waits for the streams that they are ordered on.
/// @throw std::invalid_argument if either is closed
void order_release(const Buffer& buffer, const Stream& stream);

/// The same for a share that has ended, on the stream that it was closed on; null for the one that
/// the memory has.
void share_ends(const Buffer& whole, const std::optional<Stream>& stream);

/// Whether to release memory now would be part of a capture, or end one: a pool's is freed on a
/// stream, and shared memory makes one stream wait for others. `stream` may be null.
/// @throw Error
[[nodiscard]] bool must_wait_for_capture(const MemoryResource& resource,
                                         const owner::Allocation& memory,
                                         const owner::StreamBox* stream);

/// Lets the stream of a release wait for what others have queued.
/// @throw NotSupportedError if one of them is being captured; Error
void wait_for_others(const std::shared_ptr<owner::StreamBox>& stream,
                     const std::vector<std::shared_ptr<owner::StreamBox>>& others);

}  // namespace cudacore
