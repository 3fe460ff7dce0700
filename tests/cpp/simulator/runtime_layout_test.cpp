// SPDX-License-Identifier: Apache-2.0
//
// Compares the structs of the simulated runtime with those in CUDA's own headers, if these are
// complete: the wheels have them in two packages.
#include <gtest/gtest.h>

#if __has_include(<crt/host_defines.h>) && __has_include(<driver_types.h>)
#include <cstddef>

#include <driver_types.h>
#include <texture_types.h>

#include "simulator/runtime/texture_types.hpp"

namespace {

using namespace cudacore;

static_assert(sizeof(runtime::Dim3) == sizeof(dim3));
static_assert(sizeof(runtime::Extent) == sizeof(cudaExtent));
static_assert(sizeof(runtime::PitchedPointer) == sizeof(cudaPitchedPtr));
static_assert(offsetof(runtime::PitchedPointer, width) == offsetof(cudaPitchedPtr, xsize));
static_assert(sizeof(runtime::Copy3D) == sizeof(cudaMemcpy3DParms));
static_assert(offsetof(runtime::Copy3D, target) == offsetof(cudaMemcpy3DParms, dstPtr));
static_assert(offsetof(runtime::Copy3D, kind) == offsetof(cudaMemcpy3DParms, kind));
static_assert(sizeof(runtime::PeerCopy3D) == sizeof(cudaMemcpy3DPeerParms));
static_assert(offsetof(runtime::PeerCopy3D, extent) == offsetof(cudaMemcpy3DPeerParms, extent));
static_assert(sizeof(runtime::FunctionAttributes) == sizeof(cudaFuncAttributes));
static_assert(offsetof(runtime::FunctionAttributes, non_portable_cluster_allowed) ==
              offsetof(cudaFuncAttributes, nonPortableClusterSizeAllowed));
static_assert(offsetof(runtime::PointerAttributes, host_pointer) ==
              offsetof(cudaPointerAttributes, hostPointer));
static_assert(sizeof(runtime::LaunchConfiguration) == sizeof(cudaLaunchConfig_t));
static_assert(sizeof(CUlaunchAttribute) == sizeof(cudaLaunchAttribute));
static_assert(sizeof(CUmemPoolProps) == sizeof(cudaMemPoolProps));
static_assert(sizeof(CUmemAccessDesc) == sizeof(cudaMemAccessDesc));
static_assert(sizeof(CUmemLocation) == sizeof(cudaMemLocation));
static_assert(sizeof(CUmemcpyAttributes) == sizeof(cudaMemcpyAttributes));
static_assert(sizeof(runtime::ChannelFormat) == sizeof(cudaChannelFormatDesc));
static_assert(sizeof(runtime::ResourceDescription) == sizeof(cudaResourceDesc));
static_assert(offsetof(runtime::ResourceDescription, linear.size) ==
              offsetof(cudaResourceDesc, res.linear.sizeInBytes));
static_assert(offsetof(runtime::ResourceDescription, pitched.pitch) ==
              offsetof(cudaResourceDesc, res.pitch2D.pitchInBytes));
static_assert(offsetof(runtime::ResourceDescription, flags) == offsetof(cudaResourceDesc, flags));
static_assert(sizeof(runtime::TextureDescription) == sizeof(cudaTextureDesc));
static_assert(offsetof(runtime::TextureDescription, is_normalized) ==
              offsetof(cudaTextureDesc, normalizedCoords));
static_assert(offsetof(runtime::TextureDescription, is_seamless) ==
              offsetof(cudaTextureDesc, seamlessCubemap));
static_assert(sizeof(CUDA_RESOURCE_VIEW_DESC) == sizeof(cudaResourceViewDesc));
static_assert(sizeof(cudaDeviceProp) == 1008);

TEST(RuntimeLayout, EveryErrorHasTheCodeOfCuda) {
#define CUDACORE_RUNTIME_ERROR(name, code, text) EXPECT_EQ(int{runtime::name}, int{::name});
#include "simulator/runtime/errors.def"
#undef CUDACORE_RUNTIME_ERROR
}

}  // namespace
#else
TEST(RuntimeLayout, NeedsTheHeadersOfTheRuntime) {
  GTEST_SKIP() << "crt/host_defines.h is not beside cuda.h";
}
#endif
