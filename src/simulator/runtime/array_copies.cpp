// SPDX-License-Identifier: Apache-2.0
//
// Copies to and from arrays.
#include <algorithm>

#include "simulator/runtime/texture_types.hpp"

namespace cudacore::runtime {

namespace {

/// A place in an array: bytes in a row, and rows.
struct Place {
  CUarray array;
  std::size_t x;
  std::size_t y;
};

void copy_from(CUDA_MEMCPY2D& copy, const Place& place) {
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = place.array;
  copy.srcXInBytes = place.x;
  copy.srcY = place.y;
}
void copy_to(CUDA_MEMCPY2D& copy, const Place& place) {
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = place.array;
  copy.dstXInBytes = place.x;
  copy.dstY = place.y;
}
void copy_from(CUDA_MEMCPY2D& copy, const void* pointer, std::size_t pitch) {
  copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = reinterpret_cast<CUdeviceptr>(pointer);
  copy.srcPitch = pitch;
}
void copy_to(CUDA_MEMCPY2D& copy, void* pointer, std::size_t pitch) {
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = reinterpret_cast<CUdeviceptr>(pointer);
  copy.dstPitch = pitch;
}

Result run(CUDA_MEMCPY2D& copy, std::size_t width, std::size_t height, CUstream stream) {
  if (width == 0 || height == 0) return cudaSuccess;
  copy.WidthInBytes = width;
  copy.Height = height;
  return cuMemcpy2DAsync(&copy, stream);
}

Result rectangle_to_array(const Place& to, const void* from, std::size_t pitch, std::size_t width,
                          std::size_t height, CUstream stream) {
  if (pitch < width) return cudaErrorInvalidPitchValue;
  CUDA_MEMCPY2D copy{};
  copy_to(copy, to);
  copy_from(copy, from, pitch);
  return run(copy, width, height, stream);
}

Result rectangle_from_array(void* to, std::size_t pitch, const Place& from, std::size_t width,
                            std::size_t height, CUstream stream) {
  if (pitch < width) return cudaErrorInvalidPitchValue;
  CUDA_MEMCPY2D copy{};
  copy_to(copy, to, pitch);
  copy_from(copy, from);
  return run(copy, width, height, stream);
}

Result rectangle_between_arrays(const Place& to, const Place& from, std::size_t width,
                                std::size_t height, CUstream stream) {
  CUDA_MEMCPY2D copy{};
  copy_to(copy, to);
  copy_from(copy, from);
  return run(copy, width, height, stream);
}

Result row_size(CUarray array, std::size_t& size) {
  CUDA_ARRAY3D_DESCRIPTOR description{};
  const CUresult result = cuArray3DGetDescriptor(&description, array);
  if (result != CUDA_SUCCESS) return result;
  const ChannelFormat format = runtime_format(description.Format, description.NumChannels);
  size = description.Width * description.NumChannels * static_cast<std::size_t>(format.x) / 8;
  return cudaSuccess;
}

/// Copies bytes that go on in the next row: the rest of a row, whole rows, and the rest.
/// Result copy(place, offset, width, height).
template <class Copy>
Result copy_flowing(Place place, std::size_t count, const Copy& copy) {
  std::size_t row = 0;
  const Result found = row_size(place.array, row);
  if (found.failed()) return found;
  if (place.x >= row) return cudaErrorInvalidValue;
  std::size_t offset = 0;
  while (offset < count) {
    const std::size_t left = count - offset;
    const std::size_t width = std::min(left, row - place.x);
    const std::size_t height = width == row ? left / row : 1;
    const Result result = copy(place, offset, width, height);
    if (result.failed()) return result;
    offset += width * height;
    place.x = 0;
    place.y += height;
  }
  return cudaSuccess;
}

Result bytes_to_array(const Place& to, const void* from, std::size_t count, CUstream stream) {
  return copy_flowing(
      to, count,
      [&](const Place& place, std::size_t offset, std::size_t width, std::size_t height) {
        return rectangle_to_array(place, static_cast<const char*>(from) + offset, width, width,
                                  height, stream);
      });
}

Result bytes_from_array(void* to, const Place& from, std::size_t count, CUstream stream) {
  return copy_flowing(
      from, count,
      [&](const Place& place, std::size_t offset, std::size_t width, std::size_t height) {
        return rectangle_from_array(static_cast<char*>(to) + offset, width, place, width, height,
                                    stream);
      });
}

}  // namespace

extern "C" {

CUDACORE_RUNTIME_TWINS(cudaMemcpy2DToArray, _ptds,
                       (CUarray to, std::size_t x, std::size_t y, const void* from,
                        std::size_t pitch, std::size_t width, std::size_t height, MemcpyKind),
                       on.wait(rectangle_to_array({to, x, y}, from, pitch, width, height, on())))
CUDACORE_RUNTIME_TWINS(cudaMemcpy2DToArrayAsync, _ptsz,
                       (CUarray to, std::size_t x, std::size_t y, const void* from,
                        std::size_t pitch, std::size_t width, std::size_t height, MemcpyKind,
                        CUstream stream),
                       rectangle_to_array({to, x, y}, from, pitch, width, height, on(stream)))
CUDACORE_RUNTIME_TWINS(cudaMemcpy2DFromArray, _ptds,
                       (void* to, std::size_t pitch, CUarray from, std::size_t x, std::size_t y,
                        std::size_t width, std::size_t height, MemcpyKind),
                       on.wait(rectangle_from_array(to, pitch, {from, x, y}, width, height, on())))
CUDACORE_RUNTIME_TWINS(cudaMemcpy2DFromArrayAsync, _ptsz,
                       (void* to, std::size_t pitch, CUarray from, std::size_t x, std::size_t y,
                        std::size_t width, std::size_t height, MemcpyKind, CUstream stream),
                       rectangle_from_array(to, pitch, {from, x, y}, width, height, on(stream)))
CUDACORE_RUNTIME_TWINS(cudaMemcpy2DArrayToArray, _ptds,
                       (CUarray to, std::size_t to_x, std::size_t to_y, CUarray from,
                        std::size_t from_x, std::size_t from_y, std::size_t width,
                        std::size_t height, MemcpyKind),
                       on.wait(rectangle_between_arrays({to, to_x, to_y}, {from, from_x, from_y},
                                                        width, height, on())))

CUDACORE_RUNTIME_TWINS(cudaMemcpyToArray, _ptds,
                       (CUarray to, std::size_t x, std::size_t y, const void* from,
                        std::size_t count, MemcpyKind),
                       on.wait(bytes_to_array({to, x, y}, from, count, on())))
CUDACORE_RUNTIME_TWINS(cudaMemcpyToArrayAsync, _ptsz,
                       (CUarray to, std::size_t x, std::size_t y, const void* from,
                        std::size_t count, MemcpyKind, CUstream stream),
                       bytes_to_array({to, x, y}, from, count, on(stream)))
CUDACORE_RUNTIME_TWINS(cudaMemcpyFromArray, _ptds,
                       (void* to, CUarray from, std::size_t x, std::size_t y, std::size_t count,
                        MemcpyKind),
                       on.wait(bytes_from_array(to, {from, x, y}, count, on())))
CUDACORE_RUNTIME_TWINS(cudaMemcpyFromArrayAsync, _ptsz,
                       (void* to, CUarray from, std::size_t x, std::size_t y, std::size_t count,
                        MemcpyKind, CUstream stream),
                       bytes_from_array(to, {from, x, y}, count, on(stream)))

}  // extern "C"

}  // namespace cudacore::runtime
