// SPDX-License-Identifier: Apache-2.0
//
// Filling memory with one byte.
#include "simulator/runtime/types.hpp"

namespace cudacore::runtime {

namespace {

Result fill(void* to, int value, std::size_t size, CUstream stream) {
  if (size == 0) return cudaSuccess;
  return cuMemsetD8Async(reinterpret_cast<CUdeviceptr>(to), static_cast<unsigned char>(value), size,
                         stream);
}

Result fill_rectangle(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height,
                      CUstream stream) {
  if (width == 0 || height == 0) return cudaSuccess;
  return cuMemsetD2D8Async(reinterpret_cast<CUdeviceptr>(to), pitch,
                           static_cast<unsigned char>(value), width, height, stream);
}

Result fill_box(const PitchedPointer& to, int value, const Extent& extent, CUstream stream) {
  if (extent.width == 0 || extent.height == 0) return cudaSuccess;
  const std::size_t slice_size = to.pitch * to.height;
  // Filling an empty slice as many times as the depth says might never end.
  if (slice_size == 0 && extent.depth > 1) return cudaErrorInvalidValue;
  auto* slice = static_cast<std::byte*>(to.pointer);
  for (std::size_t z = 0; z < extent.depth; ++z, slice += slice_size) {
    const Result result =
        fill_rectangle(slice, to.pitch, value, extent.width, extent.height, stream);
    if (result.failed()) return result;
  }
  return cudaSuccess;
}

}  // namespace

extern "C" {

CUDACORE_RUNTIME_TWINS(cudaMemset, _ptds, (void* to, int value, std::size_t size),
                       on.wait(fill(to, value, size, on())))
CUDACORE_RUNTIME_TWINS(cudaMemsetAsync, _ptsz,
                       (void* to, int value, std::size_t size, CUstream stream),
                       fill(to, value, size, on(stream)))
CUDACORE_RUNTIME_TWINS(cudaMemset2D, _ptds,
                       (void* to, std::size_t pitch, int value, std::size_t width,
                        std::size_t height),
                       on.wait(fill_rectangle(to, pitch, value, width, height, on())))
CUDACORE_RUNTIME_TWINS(cudaMemset2DAsync, _ptsz,
                       (void* to, std::size_t pitch, int value, std::size_t width,
                        std::size_t height, CUstream stream),
                       fill_rectangle(to, pitch, value, width, height, on(stream)))
CUDACORE_RUNTIME_TWINS(cudaMemset3D, _ptds, (PitchedPointer to, int value, Extent extent),
                       on.wait(fill_box(to, value, extent, on())))
CUDACORE_RUNTIME_TWINS(cudaMemset3DAsync, _ptsz,
                       (PitchedPointer to, int value, Extent extent, CUstream stream),
                       fill_box(to, value, extent, on(stream)))

}  // extern "C"

}  // namespace cudacore::runtime
