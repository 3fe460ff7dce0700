// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "cudacore/memory_resource.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore {

/// An empty buffer that knows which resource its memory goes back to, and on which stream. Without
/// a resource, nothing is released.
[[nodiscard]] std::shared_ptr<handle::BufferBox> new_buffer(
    std::shared_ptr<MemoryResource> resource, const std::optional<Stream>& stream = std::nullopt);

}  // namespace cudacore
