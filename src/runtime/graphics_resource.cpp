// SPDX-License-Identifier: Apache-2.0
#include "cudacore/graphics_resource.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>
#include <string>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "owner/graphics_boxes.hpp"
#include "owner/texture_boxes.hpp"
#include "runtime/array_shape.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

using owner::GraphicsBox;
using owner::GraphicsMapping;

GraphicsBox& opened(const GraphicsResource& resource) {
  return require_open(resource.box(), "GraphicsResource");
}

unsigned flags_of(const GraphicsUse& use) noexcept {
  unsigned flags = CU_GRAPHICS_REGISTER_FLAGS_NONE;
  if (use.is_read_only) flags |= CU_GRAPHICS_REGISTER_FLAGS_READ_ONLY;
  if (use.is_write_discard) flags |= CU_GRAPHICS_REGISTER_FLAGS_WRITE_DISCARD;
  if (use.is_surface_load_store) flags |= CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST;
  if (use.is_texture_gather) flags |= CU_GRAPHICS_REGISTER_FLAGS_TEXTURE_GATHER;
  return flags;
}

/// Calls one of the driver's functions that register something of OpenGL's.
template <typename Register>
std::shared_ptr<GraphicsBox> registered(const char* function, const std::string& what,
                                        const Register& call_driver) {
  auto box = std::make_shared<GraphicsBox>();
  box->context = error::current_context();
  const ContextCall call(box->context);
  call.check(call_driver(call.api(), &box->resource), function, [&] {
    return what + " of the OpenGL context that is current in this thread, on " +
           error::describe_device(box->context->device);
  });
  return box;
}

/// Unmaps a buffer when it is released, and keeps the registration until then.
class MappedGraphicsMemory final : public MemoryResource {
 public:
  explicit MappedGraphicsMemory(std::shared_ptr<GraphicsMapping> mapping)
      : device_(mapping->graphics->context->device), mapping_(std::move(mapping)) {}

  Buffer allocate(std::size_t /*size*/, const std::optional<Stream>& /*stream*/) override {
    throw NotSupportedError("this memory is OpenGL's: use GraphicsResource.map");
  }
  void deallocate(CUdeviceptr /*pointer*/, std::size_t /*size*/,
                  const std::optional<Stream>& stream) override {
    const std::shared_ptr<GraphicsMapping> ended = std::move(mapping_);
    if (ended == nullptr || !stream) return;
    const std::scoped_lock lock(ended->graphics->mutex);
    ended->stream = stream_for_release(*stream);
  }
  [[nodiscard]] bool is_device_accessible() const override { return true; }
  [[nodiscard]] bool is_host_accessible() const override { return false; }
  [[nodiscard]] int device_id() const override { return device_; }

 private:
  int device_;
  std::shared_ptr<GraphicsMapping> mapping_;
};

std::string describe_resource(const GraphicsBox& box) {
  return "graphics resource " + error::format_address(box.resource) + " of " +
         error::describe_device(box.context->device);
}

/// What will be mapped on a stream: made before the driver is called, so that it is unmapped
/// whatever fails.
std::shared_ptr<GraphicsMapping> new_mapping(const GraphicsResource& resource, const Stream& stream,
                                             const char* function) {
  const GraphicsBox& box = opened(resource);
  const StreamCall call(require_open(stream.box(), "Stream"));
  if (const int device = call.context()->device; device != box.context->device) {
    throw std::invalid_argument(std::string(function) + ": the stream is of device " +
                                std::to_string(device) + ", and it was registered on device " +
                                std::to_string(box.context->device));
  }
  refuse(capture_refusal(function, stream));
  auto mapping = std::make_shared<GraphicsMapping>();
  mapping->graphics = resource.box();
  mapping->stream = stream_for_release(stream);
  return mapping;
}

void map_on(const Stream& stream, const std::shared_ptr<GraphicsMapping>& mapping) {
  GraphicsBox& box = *mapping->graphics;
  {
    const std::scoped_lock lock(box.mutex);
    if (!box.mapping.expired()) throw std::invalid_argument("GraphicsResource is already mapped");
    box.mapping = mapping;
  }
  const StreamCall call(require_open(stream.box(), "Stream"));
  call.check(call.api().cuGraphicsMapResources(1, &box.resource, call.stream()),
             "cuGraphicsMapResources", [&] { return describe_resource(box); });
  mapping->is_mapped = true;
}

CUDA_ARRAY3D_DESCRIPTOR description_of(const ContextCall& call, CUarray array,
                                       const GraphicsBox& box, const char* function) {
  CUDA_ARRAY3D_DESCRIPTOR description{};
  call.check(call.api().cuArray3DGetDescriptor(&description, array), "cuArray3DGetDescriptor",
             [&] { return describe_resource(box); });
  require_plain(description, function);
  return description;
}

/// How many levels a mipmapped array of the driver's has, which it doesn't tell: as many as can be
/// had.
unsigned count_levels(const driver::DriverApi& api, CUmipmappedArray array,
                      const CUDA_ARRAY3D_DESCRIPTOR& level_0) {
  const std::size_t longest = std::max({level_0.Width, level_0.Height, level_0.Depth});
  const auto most = static_cast<unsigned>(std::bit_width(longest));
  unsigned levels = 1;
  CUarray level = nullptr;
  while (levels < most && api.cuMipmappedArrayGetLevel(&level, array, levels) == CUDA_SUCCESS) {
    ++levels;
  }
  return levels;
}

}  // namespace

GraphicsResource GraphicsResource::from_gl_buffer(unsigned buffer, const GraphicsUse& use) {
  constexpr const char* function = "cuGraphicsGLRegisterBuffer";
  return GraphicsResource(registered(function, "buffer " + std::to_string(buffer),
                                     [&](const driver::DriverApi& api, CUgraphicsResource* made) {
                                       if (api.cuGraphicsGLRegisterBuffer == nullptr)
                                         driver::throw_missing_symbol(function, 3000);
                                       return api.cuGraphicsGLRegisterBuffer(made, buffer,
                                                                             flags_of(use));
                                     }));
}

GraphicsResource GraphicsResource::from_gl_image(unsigned image, unsigned target,
                                                 const GraphicsUse& use) {
  constexpr const char* function = "cuGraphicsGLRegisterImage";
  return GraphicsResource(registered(
      function, "image " + std::to_string(image) + ", target " + error::format_address(target),
      [&](const driver::DriverApi& api, CUgraphicsResource* made) {
        if (api.cuGraphicsGLRegisterImage == nullptr) driver::throw_missing_symbol(function, 3000);
        return api.cuGraphicsGLRegisterImage(made, image, target, flags_of(use));
      }));
}

CUgraphicsResource GraphicsResource::handle() const noexcept {
  return box_ != nullptr ? box_->resource : nullptr;
}
Device GraphicsResource::device() const {
  return Device::from_known_ordinal(opened(*this).context->device);
}
bool GraphicsResource::is_mapped() const {
  if (box_ == nullptr) return false;
  const std::scoped_lock lock(box_->mutex);
  return !box_->mapping.expired();
}

Buffer GraphicsResource::map(const Stream& stream) const {
  auto mapping = new_mapping(*this, stream, "GraphicsResource.map");
  const auto buffer = new_buffer(std::make_shared<MappedGraphicsMemory>(mapping), stream);
  map_on(stream, mapping);
  const ContextCall call(box_->context);
  call.check(call.api().cuGraphicsResourceGetMappedPointer(&buffer->pointer, &buffer->size,
                                                           box_->resource),
             "cuGraphicsResourceGetMappedPointer", [&] { return describe_resource(*box_); });
  return Buffer(buffer);
}

OpaqueArray GraphicsResource::map_array(unsigned layer, unsigned level,
                                        const Stream& stream) const {
  constexpr const char* function = "GraphicsResource.map_array";
  auto array = std::make_shared<owner::ArrayBox>();
  const auto mapping = new_mapping(*this, stream, function);
  array->context = box_->context;
  array->owner = mapping;
  map_on(stream, mapping);
  const ContextCall call(box_->context);
  call.check(
      call.api().cuGraphicsSubResourceGetMappedArray(&array->array, box_->resource, layer, level),
      "cuGraphicsSubResourceGetMappedArray", [&] {
        return "layer " + std::to_string(layer) + ", level " + std::to_string(level) + " of " +
               describe_resource(*box_);
      });
  array->description = description_of(call, array->array, *box_, function);
  return OpaqueArray(std::move(array));
}

MipmappedArray GraphicsResource::map_mipmapped_array(const Stream& stream) const {
  constexpr const char* function = "GraphicsResource.map_mipmapped_array";
  auto array = std::make_shared<owner::MipmapBox>();
  const auto mapping = new_mapping(*this, stream, function);
  array->context = box_->context;
  array->owner = mapping;
  map_on(stream, mapping);
  const ContextCall call(box_->context);
  call.check(call.api().cuGraphicsResourceGetMappedMipmappedArray(&array->array, box_->resource),
             "cuGraphicsResourceGetMappedMipmappedArray", [&] { return describe_resource(*box_); });
  CUarray level_0 = nullptr;
  call.check(call.api().cuMipmappedArrayGetLevel(&level_0, array->array, 0),
             "cuMipmappedArrayGetLevel", [&] { return describe_resource(*box_); });
  array->level_0 = description_of(call, level_0, *box_, function);
  array->levels = count_levels(call.api(), array->array, array->level_0);
  return MipmappedArray(std::move(array));
}

void GraphicsResource::set_unmapping_stream(const Stream& stream) const {
  GraphicsBox& box = opened(*this);
  std::shared_ptr<owner::StreamBox> chosen = stream_for_release(stream);
  const std::scoped_lock lock(box.mutex);
  const std::shared_ptr<GraphicsMapping> mapping = box.mapping.lock();
  if (mapping == nullptr) throw std::invalid_argument("GraphicsResource is not mapped");
  mapping->stream.swap(chosen);
}

}  // namespace cudacore
