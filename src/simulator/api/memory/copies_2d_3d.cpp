// SPDX-License-Identifier: Apache-2.0
//
// Copies of rectangles and boxes.
#include <memory>
#include <utility>

#include "simulator/api/context/contexts.hpp"
#include "simulator/api/memory/copy.hpp"
#include "simulator/api/memory/memory_actions.hpp"
#include "simulator/api/stream/capture.hpp"
#include "simulator/api/texture/array.hpp"

using namespace cudacore::simulator;

namespace {

/// One side of a copy, from cuda.h's structures.
struct End {
  CUmemorytype type;
  std::uint64_t host;
  CUdeviceptr device;
  CUarray array;
  std::size_t x;
  std::size_t y;
  std::size_t z;
  std::size_t pitch;
  std::size_t height;  ///< rows per plane
};

struct Found {
  Range range;
  Strides strides;
  std::size_t element_size = 0;  ///< of an array
};

CUresult find_in_array(const End& end, const Box& box, Found& found) {
  const std::shared_ptr<ArrayObject> object = registry().arrays.find(end.array);
  if (object == nullptr) return refuse(CUDA_ERROR_INVALID_VALUE, "the array is not live");
  const Array& array = object->array;
  found.element_size = array.element_size();
  if (end.x % found.element_size != 0 || box.width % found.element_size != 0) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "a copy of parts of an array's elements");
  }
  const auto is_inside = [](std::size_t begin, std::size_t count, std::size_t length) {
    return begin <= length && count <= length - begin;
  };
  if (!is_inside(end.x, box.width, array.row_size()) ||
      !is_inside(end.y, box.height, array.rows()) || !is_inside(end.z, box.depth, array.planes())) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the copy exceeds the array");
  }
  found.strides = {.row = array.row_size(), .plane = array.plane_size()};
  found.range = {
      .bytes = array.bytes + end.z * found.strides.plane + end.y * found.strides.row + end.x,
      .on_device = true,
      .pages = {object->pages}};
  return CUDA_SUCCESS;
}

CUresult find_end(const End& end, const Box& box, Found& found) {
  if (end.type == CU_MEMORYTYPE_ARRAY) return find_in_array(end, box, found);
  if (end.type < CU_MEMORYTYPE_HOST || end.type > CU_MEMORYTYPE_UNIFIED) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::size_t row_end = 0;
  std::size_t plane_end = 0;
  if (__builtin_add_overflow(end.x, box.width, &row_end) ||
      __builtin_add_overflow(end.y, box.height, &plane_end)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const bool one_row = box.height * box.depth <= 1 && end.y == 0 && end.z == 0;
  if (!one_row && end.pitch < row_end) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the pitch is less than a row");
  }
  const bool one_plane = box.depth <= 1 && end.z == 0;
  if (!one_plane && end.height < plane_end) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the height is less than a plane");
  }
  std::size_t plane = 0;
  if (!one_plane && __builtin_mul_overflow(end.pitch, end.height, &plane)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  found.strides = {.row = one_row ? 0 : end.pitch, .plane = plane};
  const auto before =
      span_of({.width = end.x + 1, .height = end.y + 1, .depth = end.z + 1}, found.strides);
  const auto size = span_of(box, found.strides);
  const std::uint64_t base = end.type == CU_MEMORYTYPE_HOST ? end.host : end.device;
  if (!before || !size || *before - 1 > ~base) return CUDA_ERROR_INVALID_VALUE;
  auto range = find_range(base == 0 ? 0 : base + *before - 1, *size,
                          end.type == CU_MEMORYTYPE_DEVICE ? Side::device : Side::any);
  if (!range) return CUDA_ERROR_INVALID_VALUE;
  found.range = std::move(*range);
  return CUDA_SUCCESS;
}

/// Finds both ends of a copy. CUDA_MEMCPY3D and CUDA_MEMCPY3D_PEER both have these members.
template <class Description>
CUresult find_ends(const Description& copy, Box& box, Found& to, Found& from) {
  if (copy.srcLOD != 0 || copy.dstLOD != 0) return CUDA_ERROR_INVALID_VALUE;
  box = {.width = copy.WidthInBytes, .height = copy.Height, .depth = copy.Depth};
  const CUresult result = find_end(
      {copy.dstMemoryType, reinterpret_cast<std::uintptr_t>(copy.dstHost), copy.dstDevice,
       copy.dstArray, copy.dstXInBytes, copy.dstY, copy.dstZ, copy.dstPitch, copy.dstHeight},
      box, to);
  if (result != CUDA_SUCCESS) return result;
  if (to.range.read_only) {
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "the memory mapped there may be read only (cuMemSetAccess)");
  }
  const CUresult source = find_end(
      {copy.srcMemoryType, reinterpret_cast<std::uintptr_t>(copy.srcHost), copy.srcDevice,
       copy.srcArray, copy.srcXInBytes, copy.srcY, copy.srcZ, copy.srcPitch, copy.srcHeight},
      box, from);
  const bool between_arrays = to.element_size != 0 && from.element_size != 0;
  if (source == CUDA_SUCCESS && between_arrays && to.element_size != from.element_size) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the elements of the arrays differ in size");
  }
  return source;
}

/// A copy as a node of a graph describes it.
const CUDA_MEMCPY3D& for_graph(const CUDA_MEMCPY3D& copy) { return copy; }
CUDA_MEMCPY3D for_graph(const CUDA_MEMCPY3D_PEER& copy) {
  CUDA_MEMCPY3D plain{};
  plain.srcXInBytes = copy.srcXInBytes;
  plain.srcY = copy.srcY;
  plain.srcZ = copy.srcZ;
  plain.srcMemoryType = copy.srcMemoryType;
  plain.srcHost = copy.srcHost;
  plain.srcDevice = copy.srcDevice;
  plain.srcArray = copy.srcArray;
  plain.srcPitch = copy.srcPitch;
  plain.srcHeight = copy.srcHeight;
  plain.dstXInBytes = copy.dstXInBytes;
  plain.dstY = copy.dstY;
  plain.dstZ = copy.dstZ;
  plain.dstMemoryType = copy.dstMemoryType;
  plain.dstHost = copy.dstHost;
  plain.dstDevice = copy.dstDevice;
  plain.dstArray = copy.dstArray;
  plain.dstPitch = copy.dstPitch;
  plain.dstHeight = copy.dstHeight;
  plain.WidthInBytes = copy.WidthInBytes;
  plain.Height = copy.Height;
  plain.Depth = copy.Depth;
  return plain;
}
CUDA_MEMCPY3D box_of(const CUDA_MEMCPY2D& copy) {
  CUDA_MEMCPY3D box{};
  box.srcXInBytes = copy.srcXInBytes;
  box.srcY = copy.srcY;
  box.srcMemoryType = copy.srcMemoryType;
  box.srcHost = copy.srcHost;
  box.srcDevice = copy.srcDevice;
  box.srcArray = copy.srcArray;
  box.srcPitch = copy.srcPitch;
  box.srcHeight = copy.srcY + copy.Height;
  box.dstXInBytes = copy.dstXInBytes;
  box.dstY = copy.dstY;
  box.dstMemoryType = copy.dstMemoryType;
  box.dstHost = copy.dstHost;
  box.dstDevice = copy.dstDevice;
  box.dstArray = copy.dstArray;
  box.dstPitch = copy.dstPitch;
  box.dstHeight = copy.dstY + copy.Height;
  box.WidthInBytes = copy.WidthInBytes;
  box.Height = copy.Height;
  box.Depth = 1;
  return box;
}

template <class Description>
CUresult copy_3d_in(const Stream& stream, const Description& description, Synchrony synchrony) {
  Box box;
  Found to;
  Found from;
  const CUresult result = find_ends(description, box, to, from);
  if (result != CUDA_SUCCESS) return result;
  if (synchrony == Synchrony::asynchronous && stream.is_capturing()) {
    const bool is_empty = box.width == 0 || box.height == 0 || box.depth == 0;
    return is_empty ? CUDA_SUCCESS : capture_copy(stream, for_graph(description));
  }
  return copy(stream, std::move(to.range), to.strides, std::move(from.range), from.strides, box,
              synchrony);
}

CUresult copy_2d(const CUDA_MEMCPY2D* copy, CUstream handle, Synchrony synchrony) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    return copy != nullptr ? copy_3d_in(*stream, box_of(*copy), synchrony)
                           : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult copy_3d(const CUDA_MEMCPY3D* copy, CUstream handle, Synchrony synchrony) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    return copy != nullptr ? copy_3d_in(*stream, *copy, synchrony) : CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult copy_3d_peer(const CUDA_MEMCPY3D_PEER* copy, CUstream handle, Synchrony synchrony) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (copy == nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (CUcontext context : {copy->srcContext, copy->dstContext}) {
      CUresult status = CUDA_SUCCESS;
      if (find_context(context, status) == nullptr) return status;
    }
    return copy_3d_in(*stream, *copy, synchrony);
  });
}

}  // namespace

namespace cudacore::simulator {

CUresult find_copy(const CUDA_MEMCPY3D& copy, std::unique_ptr<Work>& work) {
  Box box;
  Found to;
  Found from;
  const CUresult result = find_ends(copy, box, to, from);
  if (result != CUDA_SUCCESS) return result;
  if (box.width == 0 || box.height == 0 || box.depth == 0) return CUDA_SUCCESS;
  work = make_copy(box, std::move(to.range), to.strides, std::move(from.range), from.strides);
  return CUDA_SUCCESS;
}

}  // namespace cudacore::simulator

extern "C" {

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D* copy) {
  return copy_2d(copy, nullptr, Synchrony::synchronous);
}
CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) {
  return copy_2d(copy, nullptr, Synchrony::synchronous);
}
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return copy_2d(copy, stream, Synchrony::asynchronous);
}

CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) {
  return copy_3d(copy, nullptr, Synchrony::synchronous);
}
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return copy_3d(copy, stream, Synchrony::asynchronous);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER* copy) {
  return copy_3d_peer(copy, nullptr, Synchrony::synchronous);
}
CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER* copy, CUstream stream) {
  return copy_3d_peer(copy, stream, Synchrony::asynchronous);
}

}  // extern "C"
