// SPDX-License-Identifier: Apache-2.0
#include "cudacore/surface_object.hpp"

#include <stdexcept>

#include "owner/texture_boxes.hpp"
#include "runtime/array_shape.hpp"
#include "runtime/close_after_work.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

using owner::SurfaceBox;

SurfaceBox& open(const SurfaceObject& surface) {
  return require_open(surface.box(), "SurfaceObject");
}

}  // namespace

SurfaceObject::SurfaceObject(const OpaqueArray& array) : box_(std::make_shared<SurfaceBox>()) {
  const owner::ArrayBox& from = require_open(array.box(), "OpaqueArray");
  if ((from.description.Flags & CUDA_ARRAY3D_SURFACE_LDST) == 0) {
    throw std::invalid_argument(
        "OpaqueArray must be created with is_surface_load_store=True to be bound as a "
        "SurfaceObject");
  }
  box_->context = from.context;
  box_->array = array.box();
  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = from.array;
  const ContextCall call(box_->context);
  call.check(call.api().cuSurfObjectCreate(&box_->surface, &resource), "cuSurfObjectCreate",
             [&] { return array_text(from.description, from.context->device); });
}

void SurfaceObject::close() { close_after_work(box_); }

CUsurfObject SurfaceObject::handle() const noexcept {
  if (box_ == nullptr) return 0;
  box_->note_handle();
  return box_->surface;
}

Context SurfaceObject::context() const { return Context(open(*this).context); }
Device SurfaceObject::device() const { return context().device(); }

}  // namespace cudacore
