// SPDX-License-Identifier: Apache-2.0
#include "cudacore/texture_object.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "cudacore/memory_resource.hpp"
#include "error/describe.hpp"
#include "owner/texture_boxes.hpp"
#include "runtime/array_shape.hpp"
#include "runtime/close_after_work.hpp"
#include "runtime/context_call.hpp"
#include "runtime/texture_checks.hpp"

namespace cudacore {
namespace {

using owner::TextureBox;

TextureBox& open(const TextureObject& texture) {
  return require_open(texture.box(), "TextureObject");
}

/// Fills in what a texture reads, once it has been checked, and what keeps it.
struct DescribeRead {
  const Context& context;
  CUDA_RESOURCE_DESC& resource;
  TextureBox& box;

  void operator()(const OpaqueArray& array) const {
    const owner::ArrayBox& from = require_open(array.box(), "OpaqueArray");
    require_context(*from.context, context);
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = from.array;
    box.memory = array.box();
  }
  void operator()(const MipmappedArray& array) const {
    const owner::MipmapBox& from = require_open(array.box(), "MipmappedArray");
    require_context(*from.context, context);
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = from.array;
    box.memory = array.box();
  }
  void operator()(const LinearMemory& memory) const {
    require_linear(memory, context.device());
    const owner::BufferBox& from = usable_memory(memory.buffer);
    resource.resType = CU_RESOURCE_TYPE_LINEAR;
    resource.res.linear.devPtr = from.pointer;
    resource.res.linear.format = driver_format(memory.format);
    resource.res.linear.numChannels = static_cast<unsigned>(memory.num_channels);
    resource.res.linear.sizeInBytes = memory.size_bytes;
    box.address = from.pointer;
    box.memory = memory.buffer.box();
  }
  void operator()(const PitchedMemory& memory) const {
    require_pitched(memory, context.device());
    const owner::BufferBox& from = usable_memory(memory.buffer);
    resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    resource.res.pitch2D.devPtr = from.pointer;
    resource.res.pitch2D.format = driver_format(memory.format);
    resource.res.pitch2D.numChannels = static_cast<unsigned>(memory.num_channels);
    resource.res.pitch2D.width = memory.width;
    resource.res.pitch2D.height = memory.height;
    resource.res.pitch2D.pitchInBytes = memory.pitch_bytes;
    box.address = from.pointer;
    box.memory = memory.buffer.box();
  }
};

CUDA_TEXTURE_DESC describe_reads(const TextureObjectOptions& options) {
  CUDA_TEXTURE_DESC texture{};
  for (std::size_t i = 0; i < options.address_modes.size(); ++i) {
    texture.addressMode[i] = static_cast<CUaddress_mode>(options.address_modes[i]);
  }
  texture.filterMode = static_cast<CUfilter_mode>(options.filter_mode);
  const auto flag = [&](bool is_set, unsigned bit) { texture.flags |= is_set ? bit : 0U; };
  flag(options.read_mode == ReadMode::element_type, CU_TRSF_READ_AS_INTEGER);
  flag(options.normalized_coords, CU_TRSF_NORMALIZED_COORDINATES);
  flag(options.srgb, CU_TRSF_SRGB);
  flag(options.disable_trilinear_optimization, CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
  flag(options.seamless_cubemap, CU_TRSF_SEAMLESS_CUBEMAP);
  texture.maxAnisotropy = options.max_anisotropy;
  texture.mipmapFilterMode = static_cast<CUfilter_mode>(options.mipmap_filter_mode);
  texture.mipmapLevelBias = options.mipmap_level_bias;
  texture.minMipmapLevelClamp = options.min_mipmap_level_clamp;
  texture.maxMipmapLevelClamp = options.max_mipmap_level_clamp;
  std::copy(options.border_color.begin(), options.border_color.end(), &texture.borderColor[0]);
  return texture;
}

}  // namespace

TextureObject::TextureObject(const Context& context, const TextureResource& resource,
                             const TextureObjectOptions& options)
    : box_(std::make_shared<TextureBox>()) {
  box_->context = context.box();
  CUDA_RESOURCE_DESC read{};
  std::visit(DescribeRead{context, read, *box_}, resource);
  require_reads(resource, options);
  const CUDA_TEXTURE_DESC reads = describe_reads(options);
  const ContextCall call(box_->context);
  call.check(call.api().cuTexObjectCreate(&box_->texture, &read, &reads, nullptr),
             "cuTexObjectCreate", [&] { return error::describe_device(box_->context->device); });
}

void TextureObject::close() { close_after_work(box_); }

CUtexObject TextureObject::handle() const noexcept {
  if (box_ == nullptr) return 0;
  box_->note_handle();
  return box_->texture;
}

Context TextureObject::context() const { return Context(open(*this).context); }
Device TextureObject::device() const { return context().device(); }

}  // namespace cudacore
