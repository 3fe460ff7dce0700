// SPDX-License-Identifier: Apache-2.0
//
// CUDA arrays and mipmapped arrays, as the driver keeps them.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "simulator/api/memory/memory_object.hpp"
#include "simulator/memory/array.hpp"

namespace cudacore::simulator {

struct ArrayObject {
  Array array;
  std::shared_ptr<Context> context;
  std::shared_ptr<const HostPages> pages;  ///< all levels of a mipmapped array share them
  unsigned flags = 0;                      ///< as passed to the call that made it
  bool is_level = false;                   ///< it ends with its mipmapped array
};

struct MipmappedArrayObject {
  std::vector<CUarray> handles;  ///< by level
  std::vector<std::shared_ptr<ArrayObject>> levels;
};

/// Nothing if the format is not simulated.
std::optional<ChannelFormat> channel_format_of(CUarray_format format) noexcept;
CUarray_format format_of(ChannelFormat format) noexcept;
/// Checks a format and a number of channels.
CUresult check_format(CUarray_format format, unsigned channels);

/// Checks a description by the driver's rules; those of mipmapped arrays have other limits.
CUresult check_array(const CUDA_ARRAY3D_DESCRIPTOR& description, bool is_mipmapped,
                     const Device& device);
/// An array as described, without elements.
std::shared_ptr<ArrayObject> describe_array(const CUDA_ARRAY3D_DESCRIPTOR& description,
                                            Context& context);
/// Zeroed memory, which counts as the device's; null if there is too little.
std::shared_ptr<const HostPages> allocate_elements(const Context& context, std::size_t size);

/// Ends what a mipmapped array consists of. Work on it must have ended.
void release_levels(MipmappedArrayObject& object) noexcept;
/// Destroys all arrays, textures and surfaces of a context, whose work has ended.
void release_context_arrays(Context& context) noexcept;

}  // namespace cudacore::simulator
