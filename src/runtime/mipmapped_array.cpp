// SPDX-License-Identifier: Apache-2.0
#include "cudacore/mipmapped_array.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "owner/texture_boxes.hpp"
#include "runtime/array_shape.hpp"
#include "runtime/close_after_work.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

using owner::MipmapBox;

MipmapBox& open(const MipmappedArray& array) { return require_open(array.box(), "MipmappedArray"); }

/// @throw std::invalid_argument
void require_levels(int levels, const CUDA_ARRAY3D_DESCRIPTOR& level_0) {
  if (levels < 1) {
    throw std::invalid_argument("num_levels must be >= 1, got " + std::to_string(levels));
  }
  const std::size_t longest = std::max({level_0.Width, level_0.Height, level_0.Depth});
  const auto most = static_cast<int>(std::bit_width(longest));
  if (levels > most) {
    throw std::invalid_argument("num_levels is " + std::to_string(levels) + ", but halving " +
                                std::to_string(longest) + " down to 1 gives " +
                                std::to_string(most) + " levels");
  }
}

std::size_t halved(std::size_t length, int times) {
  return length == 0 ? 0 : std::max<std::size_t>(length >> static_cast<unsigned>(times), 1);
}

std::string describe_levels(const MipmapBox& box) {
  return array_text(box.level_0, box.context->device) + ", " + std::to_string(box.levels) +
         " levels";
}

}  // namespace

MipmappedArray::MipmappedArray(const Context& context, const MipmappedArrayOptions& options)
    : box_(std::make_shared<MipmapBox>()) {
  box_->context = context.box();
  box_->level_0 = describe_array(options, context.device(), ArrayKind::mipmapped);
  require_levels(options.num_levels, box_->level_0);
  box_->levels = static_cast<unsigned>(options.num_levels);
  const ContextCall call(box_->context);
  call.check(call.api().cuMipmappedArrayCreate(&box_->array, &box_->level_0, box_->levels),
             "cuMipmappedArrayCreate", [&] { return describe_levels(*box_); });
}

void MipmappedArray::close() { close_after_work(box_); }

CUmipmappedArray MipmappedArray::handle() const noexcept {
  if (box_ == nullptr) return nullptr;
  box_->note_handle();
  return box_->array;
}

Context MipmappedArray::context() const { return Context(open(*this).context); }
Device MipmappedArray::device() const { return context().device(); }

MipmappedArrayOptions MipmappedArray::options() const {
  const MipmapBox& box = open(*this);
  return {options_of(box.level_0), static_cast<int>(box.levels)};
}

OpaqueArray MipmappedArray::get_level(int level) const {
  const MipmapBox& box = open(*this);
  if (level < 0) {
    throw std::invalid_argument("level must be >= 0, got " + std::to_string(level));
  }
  if (static_cast<unsigned>(level) >= box.levels) {
    throw std::invalid_argument("level (" + std::to_string(level) + ") must be < num_levels (" +
                                std::to_string(box.levels) + ")");
  }
  auto made = std::make_shared<owner::ArrayBox>();
  made->context = box.context;
  made->mipmap = box_;
  made->description = box.level_0;
  made->description.Width = halved(box.level_0.Width, level);
  made->description.Height = halved(box.level_0.Height, level);
  made->description.Depth = halved(box.level_0.Depth, level);
  const ContextCall call(made->context);
  call.check(
      call.api().cuMipmappedArrayGetLevel(&made->array, box.array, static_cast<unsigned>(level)),
      "cuMipmappedArrayGetLevel",
      [&] { return "level " + std::to_string(level) + " of " + describe_levels(box); });
  return OpaqueArray(std::move(made));
}

}  // namespace cudacore
