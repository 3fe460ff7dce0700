// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "simulator/api/entry.hpp"
#include "simulator/api/texture/array.hpp"
#include "simulator/engine/texture.hpp"

using namespace cudacore::simulator;

namespace {

struct SurfaceObject : Surface {
  CUarray handle = nullptr;
};

CUresult refuse_surface(const char* why) { return refuse(CUDA_ERROR_INVALID_VALUE, why); }

CUresult create_surface(const Context& context, CUsurfObject* handle,
                        const CUDA_RESOURCE_DESC& resource) {
  if (resource.flags != 0) return refuse_surface("surface: the resource's flags are not 0");
  if (resource.resType != CU_RESOURCE_TYPE_ARRAY) {
    return refuse_surface("surface: the resource is not an array");
  }
  const auto array = registry().arrays.find(resource.res.array.hArray);
  if (array == nullptr) return refuse_surface("surface: the array is not live");
  if (!array->array.has_surfaces) {
    return refuse_surface("surface: the array was made without CUDA_ARRAY3D_SURFACE_LDST");
  }
  const auto object = std::make_shared<SurfaceObject>();
  object->array = std::shared_ptr<const Array>(array, &array->array);
  object->context = &context;
  object->handle = resource.res.array.hArray;
  *handle = surfaces().insert(object);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuSurfObjectCreate(CUsurfObject* handle, const CUDA_RESOURCE_DESC* resource) {
  return context_call([&](const Context& context) {
    if (handle == nullptr || resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
    return create_surface(context, handle, *resource);
  });
}

CUresult cuSurfObjectDestroy(CUsurfObject handle) {
  Context* context = nullptr;
  if (const CUresult status = current_context_even_broken(context); status != CUDA_SUCCESS) {
    return status;
  }
  return driver_call([&] {
    return surfaces().erase(handle) ? CUDA_SUCCESS
                                    : refuse_surface("the surface object is not live");
  });
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* resource, CUsurfObject handle) {
  return context_call([&](Context&) {
    if (resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto surface = surfaces().find(handle);
    if (surface == nullptr) return refuse_surface("the surface object is not live");
    *resource = {};
    resource->resType = CU_RESOURCE_TYPE_ARRAY;
    resource->res.array.hArray = static_cast<const SurfaceObject&>(*surface).handle;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
