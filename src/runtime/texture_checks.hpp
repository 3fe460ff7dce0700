// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cudacore/texture_object.hpp"
#include "error/context_box.hpp"
#include "owner/owned_handles.hpp"

// What is refused before the driver is asked for a texture or a copy. All throw
// std::invalid_argument.

namespace cudacore {

/// The box of a buffer whose memory is about to be used.
/// @throw Error for memory from before a reset
[[nodiscard]] const owner::BufferBox& usable_memory(const Buffer& buffer);
/// An array of another context, which `has` is, or of one that has ended.
/// @throw ContextLostError
void require_context(const error::ContextBox& has, const Context& wanted);
/// Memory that a device can't read as a texture: out of reach, too short or not aligned.
void require_linear(const LinearMemory& memory, Device device);
void require_pitched(const PitchedMemory& memory, Device device);
/// Reads that the format of a resource doesn't have.
void require_reads(const TextureResource& resource, const TextureObjectOptions& options);

}  // namespace cudacore
