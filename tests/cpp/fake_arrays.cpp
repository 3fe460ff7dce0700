// SPDX-License-Identifier: Apache-2.0
#include "fake_driver.hpp"

namespace cudacore::testing {

/// Arrays, textures and surfaces that are only numbers. A level of a mipmapped array is a number
/// behind that of the array.
struct FakeArrays {
  static FakeDriver& fake() { return FakeDriver::get(); }
  static std::uintptr_t next(const char* kind) {
    std::uintptr_t handle = 0;
    {
      const std::scoped_lock lock(fake().mutex_);
      handle = fake().next_handle_ += 16;
    }
    fake().add(kind, reinterpret_cast<const void*>(handle));
    return handle;
  }
  static CUresult end(const char* function, const char* kind, std::uintptr_t handle) {
    const CUresult fault = fake().enter(function);
    fake().ended_in = FakeDriver::current();
    if (!fake().remove(kind, reinterpret_cast<const void*>(handle))) {
      return CUDA_ERROR_INVALID_HANDLE;
    }
    return fault;
  }

  static CUresult create_array(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* description) {
    if (const CUresult fault = fake().enter("cuArray3DCreate")) return fault;
    fake().last_array = *description;
    *array = reinterpret_cast<CUarray>(next("array"));
    return CUDA_SUCCESS;
  }
  static CUresult create_mipmap(CUmipmappedArray* array, const CUDA_ARRAY3D_DESCRIPTOR* description,
                                unsigned) {
    if (const CUresult fault = fake().enter("cuMipmappedArrayCreate")) return fault;
    fake().last_array = *description;
    *array = reinterpret_cast<CUmipmappedArray>(next("mipmapped array"));
    return CUDA_SUCCESS;
  }
  static CUresult get_level(CUarray* level, CUmipmappedArray array, unsigned index) {
    if (const CUresult fault = fake().enter("cuMipmappedArrayGetLevel")) return fault;
    *level = reinterpret_cast<CUarray>(reinterpret_cast<std::uintptr_t>(array) + 1 + index);
    return CUDA_SUCCESS;
  }
  static CUresult create_texture(CUtexObject* texture, const CUDA_RESOURCE_DESC* resource,
                                 const CUDA_TEXTURE_DESC* reads, const CUDA_RESOURCE_VIEW_DESC*) {
    if (const CUresult fault = fake().enter("cuTexObjectCreate")) return fault;
    fake().last_resource = *resource;
    fake().last_texture = *reads;
    *texture = next("texture");
    return CUDA_SUCCESS;
  }
  static CUresult create_surface(CUsurfObject* surface, const CUDA_RESOURCE_DESC* resource) {
    if (const CUresult fault = fake().enter("cuSurfObjectCreate")) return fault;
    fake().last_resource = *resource;
    *surface = next("surface");
    return CUDA_SUCCESS;
  }
  static CUresult copy(const CUDA_MEMCPY3D* copy, CUstream) {
    if (const CUresult fault = fake().enter("cuMemcpy3DAsync")) return fault;
    fake().last_copy = *copy;
    return CUDA_SUCCESS;
  }
};

void fill_arrays(driver::DriverApi& table) {
  using Fake = FakeArrays;
  table.cuArray3DCreate = &Fake::create_array;
  table.cuMipmappedArrayCreate = &Fake::create_mipmap;
  table.cuMipmappedArrayGetLevel = &Fake::get_level;
  table.cuTexObjectCreate = &Fake::create_texture;
  table.cuSurfObjectCreate = &Fake::create_surface;
  table.cuMemcpy3DAsync = &Fake::copy;
  table.cuArrayDestroy = [](CUarray array) {
    return Fake::end("cuArrayDestroy", "array", reinterpret_cast<std::uintptr_t>(array));
  };
  table.cuMipmappedArrayDestroy = [](CUmipmappedArray array) {
    return Fake::end("cuMipmappedArrayDestroy", "mipmapped array",
                     reinterpret_cast<std::uintptr_t>(array));
  };
  table.cuTexObjectDestroy = [](CUtexObject texture) {
    return Fake::end("cuTexObjectDestroy", "texture", texture);
  };
  table.cuSurfObjectDestroy = [](CUsurfObject surface) {
    return Fake::end("cuSurfObjectDestroy", "surface", surface);
  };
}

}  // namespace cudacore::testing
