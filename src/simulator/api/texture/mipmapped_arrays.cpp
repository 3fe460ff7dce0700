// SPDX-License-Identifier: Apache-2.0
//
// Mipmapped arrays: levels that share one piece of memory.
#include <algorithm>
#include <bit>
#include <memory>
#include <mutex>
#include <utility>

#include "simulator/api/stream/capture.hpp"
#include "simulator/api/stream/stream.hpp"
#include "simulator/api/texture/array.hpp"
#include "simulator/memory/round_up.hpp"

using namespace cudacore::simulator;

namespace {

/// Levels begin at multiples of this.
constexpr std::size_t level_align = 512;

CUDA_ARRAY3D_DESCRIPTOR describe_level(CUDA_ARRAY3D_DESCRIPTOR base, unsigned level) {
  const auto halve = [level](std::size_t& length) {
    if (length != 0) length = std::max<std::size_t>(length >> level, 1);
  };
  halve(base.Width);
  halve(base.Height);
  if ((base.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) == 0) halve(base.Depth);
  return base;
}

/// How many levels there are until each dimension is 1.
unsigned most_levels(const CUDA_ARRAY3D_DESCRIPTOR& base) {
  std::size_t longest = std::max(base.Width, base.Height);
  if ((base.Flags & (CUDA_ARRAY3D_LAYERED | CUDA_ARRAY3D_CUBEMAP)) == 0) {
    longest = std::max(longest, base.Depth);
  }
  return static_cast<unsigned>(std::bit_width(longest));
}

std::size_t size_of_levels(const MipmappedArrayObject& object) {
  std::size_t size = 0;
  for (const auto& level : object.levels) size += round_up(level->array.size(), level_align);
  return size;
}

CUresult create(Context& context, CUmipmappedArray* handle, const CUDA_ARRAY3D_DESCRIPTOR& base,
                unsigned wanted) {
  if (const CUresult status = check_unsafe_call(); status != CUDA_SUCCESS) return status;
  if (const CUresult result = check_array(base, true, context.device); result != CUDA_SUCCESS) {
    return result;
  }
  const unsigned count = std::clamp(wanted, 1U, most_levels(base));
  const auto object = std::make_shared<MipmappedArrayObject>();
  for (unsigned level = 0; level < count; ++level) {
    object->levels.push_back(describe_array(describe_level(base, level), context));
    object->levels.back()->is_level = true;
  }
  object->handles.reserve(count);
  const auto pages = allocate_elements(context, size_of_levels(*object));
  if (pages == nullptr) return refuse(CUDA_ERROR_OUT_OF_MEMORY, "too little memory is free");
  std::size_t begin = 0;
  for (const auto& level : object->levels) {
    level->pages = pages;
    level->array.bytes = pages->bytes() + begin;
    begin += round_up(level->array.size(), level_align);
    object->handles.push_back(registry().arrays.insert(level));
  }
  const CUmipmappedArray made = registry().mipmapped_arrays.insert(object);
  const std::scoped_lock lock(context.mutex);
  context.mipmapped_arrays.insert(made);
  *handle = made;
  return CUDA_SUCCESS;
}

CUresult destroy(Context& current, CUmipmappedArray handle) {
  const std::shared_ptr<MipmappedArrayObject> object = registry().mipmapped_arrays.erase(handle);
  if (object == nullptr) {
    return refuse(CUDA_ERROR_INVALID_HANDLE, "the mipmapped array is not live");
  }
  Context& owner = *object->levels.front()->context;
  {
    const std::scoped_lock lock(owner.mutex);
    owner.mipmapped_arrays.erase(handle);
  }
  CUresult result = synchronize_context(owner);
  if (&owner != &current) result = synchronize_context(current);
  release_levels(*object);
  return result;
}

}  // namespace

namespace cudacore::simulator {

void release_levels(MipmappedArrayObject& object) noexcept {
  for (CUarray level : object.handles) registry().arrays.erase(level);
  for (const auto& level : object.levels) {
    level->array.destroyed.store(true, std::memory_order_release);
  }
  object.levels.front()->context->device.memory.discharge(size_of_levels(object));
}

}  // namespace cudacore::simulator

extern "C" {

CUresult cuMipmappedArrayCreate(CUmipmappedArray* handle,
                                const CUDA_ARRAY3D_DESCRIPTOR* description, unsigned levels) {
  return context_call([&](Context& context) {
    if (handle == nullptr || description == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return create(context, handle, *description, levels);
  });
}

CUresult cuMipmappedArrayGetLevel(CUarray* array, CUmipmappedArray handle, unsigned level) {
  return context_call([&](Context&) {
    if (array == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return with_object(registry().mipmapped_arrays, handle,
                       [&](const MipmappedArrayObject& object) {
                         if (level >= object.handles.size()) {
                           return refuse(CUDA_ERROR_INVALID_VALUE, "there is no such level");
                         }
                         *array = object.handles[level];
                         return CUDA_SUCCESS;
                       });
  });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  Context* context = nullptr;
  if (const CUresult status = current_context_even_broken(context); status != CUDA_SUCCESS) {
    return status;
  }
  return driver_call([&] {
    if (const CUresult status = check_unsafe_call(); status != CUDA_SUCCESS) return status;
    return destroy(*context, handle);
  });
}

}  // extern "C"
