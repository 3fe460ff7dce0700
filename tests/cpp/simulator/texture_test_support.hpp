// SPDX-License-Identifier: Apache-2.0
//
// Arrays with known elements, textures and surfaces of them, and kernels of one instruction: each
// thread gives it eight words, and stores the four words that it returns.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "driver_test_support.hpp"

namespace cudacore::simulator {

/// The registers %c0 to %c7 of a thread.
using Words = std::array<std::uint32_t, 8>;
/// Its registers %d0 to %d3, at the end.
using Results = std::array<std::uint32_t, 4>;

inline std::uint32_t word(float value) { return std::bit_cast<std::uint32_t>(value); }
inline float number(std::uint32_t bits) { return std::bit_cast<float>(bits); }

class TextureTest : public DriverTest {
 protected:
  using Shape = CUDA_ARRAY3D_DESCRIPTOR;

  /// Runs instructions that read the handle %t, of a texture or a surface.
  static std::vector<Results> run(const std::string& instructions, std::uint64_t handle,
                                  const std::vector<Words>& words,
                                  CUresult expected = CUDA_SUCCESS) {
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(cuModuleLoadData(&module, kernel_of(instructions).c_str()), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS) << newest_log();
    std::vector<Results> results(words.size());
    CUdeviceptr in = 0;
    CUdeviceptr out = 0;
    const std::size_t out_size = results.size() * sizeof(Results);
    EXPECT_EQ(cuMemAlloc_v2(&in, words.size() * sizeof(Words)), CUDA_SUCCESS);
    EXPECT_EQ(cuMemAlloc_v2(&out, out_size), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoD_v2(in, words.data(), words.size() * sizeof(Words)), CUDA_SUCCESS);
    auto count = static_cast<std::uint32_t>(words.size());
    std::array<void*, 4> arguments{&in, &out, &handle, &count};
    constexpr unsigned block = 64;
    EXPECT_EQ(cuLaunchKernel(function, (count + block - 1) / block, 1, 1, block, 1, 1, 0, nullptr,
                             arguments.data(), nullptr),
              CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSynchronize(), expected) << newest_log();
    if (expected != CUDA_SUCCESS) return results;
    EXPECT_EQ(cuMemcpyDtoH_v2(results.data(), out, out_size), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree_v2(in), CUDA_SUCCESS);
    EXPECT_EQ(cuMemFree_v2(out), CUDA_SUCCESS);
    EXPECT_EQ(cuModuleUnload(module), CUDA_SUCCESS);
    return results;
  }
  static Results run_one(const std::string& instructions, std::uint64_t handle,
                         const Words& words = {}) {
    return run(instructions, handle, {words}).front();
  }
  /// The first channel, as a float.
  static float sample(const std::string& instruction, std::uint64_t handle,
                      const Words& words = {}) {
    return number(run_one(instruction, handle, words)[0]);
  }

  static CUarray make_array(const Shape& shape) {
    CUarray array = nullptr;
    EXPECT_EQ(cuArray3DCreate_v2(&array, &shape), CUDA_SUCCESS);
    return array;
  }
  template <class T>
  static void upload(CUarray array, const std::vector<T>& elements) {
    CUDA_ARRAY3D_DESCRIPTOR shape{};
    EXPECT_EQ(cuArray3DGetDescriptor_v2(&shape, array), CUDA_SUCCESS);
    CUDA_MEMCPY3D copy{};
    copy.Height = std::max<std::size_t>(shape.Height, 1);
    copy.Depth = std::max<std::size_t>(shape.Depth, 1);
    copy.WidthInBytes = elements.size() * sizeof(T) / copy.Height / copy.Depth;
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = elements.data();
    copy.srcPitch = copy.WidthInBytes;
    copy.srcHeight = copy.Height;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = array;
    EXPECT_EQ(cuMemcpy3D_v2(&copy), CUDA_SUCCESS);
  }
  template <class T>
  static std::vector<T> download(CUarray array, std::size_t count) {
    std::vector<T> elements(count);
    CUDA_ARRAY3D_DESCRIPTOR shape{};
    EXPECT_EQ(cuArray3DGetDescriptor_v2(&shape, array), CUDA_SUCCESS);
    CUDA_MEMCPY3D copy{};
    copy.Height = std::max<std::size_t>(shape.Height, 1);
    copy.Depth = std::max<std::size_t>(shape.Depth, 1);
    copy.WidthInBytes = count * sizeof(T) / copy.Height / copy.Depth;
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = array;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = elements.data();
    copy.dstPitch = copy.WidthInBytes;
    copy.dstHeight = copy.Height;
    EXPECT_EQ(cuMemcpy3D_v2(&copy), CUDA_SUCCESS);
    return elements;
  }
  template <class T>
  static CUarray make_array(const Shape& shape, const std::vector<T>& elements) {
    CUarray array = make_array(shape);
    upload(array, elements);
    return array;
  }

  static CUDA_RESOURCE_DESC resource_of(CUarray array) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_ARRAY;
    resource.res.array.hArray = array;
    return resource;
  }
  static CUDA_RESOURCE_DESC resource_of(CUmipmappedArray array) {
    CUDA_RESOURCE_DESC resource{};
    resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    resource.res.mipmap.hMipmappedArray = array;
    return resource;
  }
  static CUDA_TEXTURE_DESC sampler(CUaddress_mode mode, CUfilter_mode filter, unsigned flags = 0) {
    CUDA_TEXTURE_DESC description{};
    std::ranges::fill(description.addressMode, mode);
    description.filterMode = filter;
    description.flags = flags;
    return description;
  }
  static CUtexObject make_texture(const CUDA_RESOURCE_DESC& resource,
                                  const CUDA_TEXTURE_DESC& description =
                                      sampler(CU_TR_ADDRESS_MODE_CLAMP, CU_TR_FILTER_MODE_POINT)) {
    CUtexObject texture = 0;
    EXPECT_EQ(cuTexObjectCreate(&texture, &resource, &description, nullptr), CUDA_SUCCESS)
        << newest_log();
    return texture;
  }
  static CUsurfObject make_surface(CUarray array) {
    CUsurfObject surface = 0;
    const CUDA_RESOURCE_DESC resource = resource_of(array);
    EXPECT_EQ(cuSurfObjectCreate(&surface, &resource), CUDA_SUCCESS) << newest_log();
    return surface;
  }

 private:
  static std::string kernel_of(const std::string& instructions) {
    return R"(.version 8.0
.target sm_75
.address_size 64
.visible .entry k(.param .u64 in, .param .u64 out, .param .u64 handle, .param .u32 count) {
  .reg .b64 %a<6>, %t, %x<4>;
  .reg .b32 %i<4>, %c<8>, %d<4>;
  .reg .b16 %h<4>;
  .reg .pred %p<2>;
  ld.param.u64 %a1, [in];
  ld.param.u64 %a2, [out];
  ld.param.u64 %t, [handle];
  ld.param.u32 %i1, [count];
  mov.u32 %i0, %ctaid.x;
  mov.u32 %i2, %tid.x;
  mad.lo.u32 %i0, %i0, 64, %i2;
  setp.ge.u32 %p0, %i0, %i1;
  @%p0 ret;
  mad.wide.u32 %a1, %i0, 32, %a1;
  mad.wide.u32 %a2, %i0, 16, %a2;
  ld.global.v4.b32 {%c0, %c1, %c2, %c3}, [%a1];
  ld.global.v4.b32 {%c4, %c5, %c6, %c7}, [%a1 + 16];
  mov.b32 %d0, 0;
  mov.b32 %d1, 0;
  mov.b32 %d2, 0;
  mov.b32 %d3, 0;
  )" + instructions +
           R"(
  st.global.v4.b32 [%a2], {%d0, %d1, %d2, %d3};
  ret;
})";
  }
};

}  // namespace cudacore::simulator
