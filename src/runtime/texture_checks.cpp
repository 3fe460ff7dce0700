// SPDX-License-Identifier: Apache-2.0
#include "runtime/texture_checks.hpp"

#include <stdexcept>

#include "cudacore/memory_resource.hpp"
#include "error/check.hpp"
#include "error/describe.hpp"
#include "owner/owned_handles.hpp"
#include "owner/require_open.hpp"
#include "owner/texture_boxes.hpp"
#include "runtime/array_shape.hpp"

namespace cudacore {
namespace {

[[noreturn]] void refuse_texture(const std::string& why) { throw std::invalid_argument(why); }

/// Memory that kernels of a device can't reach.
void require_reachable(const Buffer& buffer, Device device) {
  const owner::BufferBox& box = usable_memory(buffer);
  if (!buffer.is_device_accessible()) {
    refuse_texture("the Buffer lives on the host, where no texture reaches it");
  }
  const int owner = buffer.device_id();
  const bool is_shared = owner < 0 || owner == device.id() || buffer.is_host_accessible();
  if (is_shared) return;
  if (box.resource != nullptr && box.resource->is_accessible_by_peer(box.pointer, device.id()))
    return;
  refuse_texture("the Buffer is on device " + std::to_string(owner) +
                 ", and the texture is for device " + std::to_string(device.id()));
}

void require_multiple(Device device, CUdevice_attribute attribute, const char* attribute_name,
                      const std::string& what, std::size_t value) {
  const auto unit = static_cast<std::size_t>(device.attribute(attribute));
  if (unit == 0 || value % unit == 0) return;
  refuse_texture(what + " must be a multiple of " + std::to_string(unit) + " bytes on " +
                 error::describe_device(device.id()) + " (" + attribute_name + ")");
}

void require_aligned(const Buffer& buffer, Device device) {
  require_multiple(device, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, "texture_alignment",
                   "the address of the Buffer, " + error::format_address(buffer.handle()) + ",",
                   buffer.handle());
}

/// The format that a texture reads, and whether it has levels.
struct Read {
  ArrayFormat format = ArrayFormat::float32;
  bool has_levels = false;
  bool has_filters = true;
};

struct FindRead {
  Read operator()(const OpaqueArray& array) const { return {array.options().format}; }
  Read operator()(const MipmappedArray& array) const { return {array.options().format, true}; }
  Read operator()(const LinearMemory& memory) const { return {memory.format, false, false}; }
  Read operator()(const PitchedMemory& memory) const { return {memory.format}; }
};

}  // namespace

const owner::BufferBox& usable_memory(const Buffer& buffer) {
  const owner::BufferBox& box = owner::require_open(buffer.box(), "Buffer");
  box.throw_if_stale();
  return box;
}

void require_context(const error::ContextBox& has, const Context& wanted) {
  error::throw_if_lost(has);
  if (&has == wanted.box().get()) return;
  const int device = wanted.device().id();
  if (has.device != device) {
    refuse_texture("the array is on device " + std::to_string(has.device) +
                   ", and this is for device " + std::to_string(device));
  }
  refuse_texture("the array is of another context of device " + std::to_string(device));
}

void require_linear(const LinearMemory& memory, Device device) {
  require_channels(memory.num_channels);
  require_reachable(memory.buffer, device);
  const std::size_t element =
      size_of(memory.format) * static_cast<std::size_t>(memory.num_channels);
  const std::size_t size = memory.size_bytes;
  if (size > memory.buffer.size()) {
    refuse_texture("size_bytes (" + std::to_string(size) + ") exceeds buffer.size (" +
                   std::to_string(memory.buffer.size()) + ")");
  }
  if (size < element) {
    refuse_texture("size_bytes (" + std::to_string(size) + ") must be at least one element (" +
                   std::to_string(element) + " bytes)");
  }
  if (size % element != 0) {
    refuse_texture("size_bytes (" + std::to_string(size) +
                   ") must be a multiple of element size (" + std::to_string(element) + " bytes)");
  }
  require_aligned(memory.buffer, device);
  require_limit(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH,
                "maximum_texture1d_linear_width", "the number of elements", size / element);
}

void require_pitched(const PitchedMemory& memory, Device device) {
  require_channels(memory.num_channels);
  require_reachable(memory.buffer, device);
  if (memory.width < 1) refuse_texture("width must be >= 1, got 0");
  if (memory.height < 1) refuse_texture("height must be >= 1, got 0");
  require_limit(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH,
                "maximum_texture2d_linear_width", "width", memory.width);
  require_limit(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT,
                "maximum_texture2d_linear_height", "height", memory.height);
  require_limit(device, CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_PITCH,
                "maximum_texture2d_linear_pitch", "pitch_bytes", memory.pitch_bytes);
  const std::size_t element =
      size_of(memory.format) * static_cast<std::size_t>(memory.num_channels);
  std::size_t row = 0;
  std::size_t size = 0;
  const bool overflows = __builtin_mul_overflow(memory.width, element, &row) ||
                         __builtin_mul_overflow(memory.pitch_bytes, memory.height, &size);
  if (overflows || memory.pitch_bytes < row) {
    refuse_texture("pitch_bytes (" + std::to_string(memory.pitch_bytes) +
                   ") must be >= width * element_bytes (" + std::to_string(row) + ")");
  }
  if (size > memory.buffer.size()) {
    refuse_texture("pitch_bytes * height (" + std::to_string(size) + ") exceeds buffer.size (" +
                   std::to_string(memory.buffer.size()) + ")");
  }
  require_aligned(memory.buffer, device);
  require_multiple(device, CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, "texture_pitch_alignment",
                   "pitch_bytes (" + std::to_string(memory.pitch_bytes) + ")", memory.pitch_bytes);
}

void require_reads(const TextureResource& resource, const TextureObjectOptions& options) {
  const Read read = std::visit(FindRead{}, resource);
  const std::string name = name_of(read.format);
  const bool gives_floats = is_floating(read.format) || options.read_mode != ReadMode::element_type;
  if (gives_floats && !is_floating(read.format) && size_of(read.format) == 4) {
    refuse_texture("read_mode 'normalized_float' needs elements of 8 or 16 bits, not " + name);
  }
  if (options.srgb && read.format != ArrayFormat::uint8) {
    refuse_texture("srgb needs uint8 elements, not " + name);
  }
  if (read.has_levels && !options.normalized_coords) {
    refuse_texture("a texture of a MipmappedArray needs normalized_coords");
  }
  if (!read.has_filters || gives_floats) return;
  const bool is_linear = options.filter_mode == FilterMode::linear ||
                         (read.has_levels && options.mipmap_filter_mode == FilterMode::linear);
  if (!is_linear) return;
  const char* const advice =
      size_of(read.format) < 4 ? "; read_mode 'normalized_float' reads them as floats" : "";
  refuse_texture("a linear filter needs floats, and " + name + " elements are read as integers" +
                 advice);
}

}  // namespace cudacore
