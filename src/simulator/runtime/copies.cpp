// SPDX-License-Identifier: Apache-2.0
//
// Copies: of bytes, of boxes, of symbols, between devices. Copies that wait are those that don't,
// plus a wait.
#include "simulator/runtime/programs.hpp"
#include "simulator/runtime/texture_types.hpp"

namespace cudacore::runtime {

namespace {

CUdeviceptr as_device(const void* pointer) { return reinterpret_cast<CUdeviceptr>(pointer); }

Result copy(void* to, const void* from, std::size_t size, MemcpyKind kind, CUstream stream) {
  if (size == 0) return cudaSuccess;
  switch (kind) {
    case MemcpyKind::host_to_device:
      return cuMemcpyHtoDAsync(as_device(to), from, size, stream);
    case MemcpyKind::device_to_host:
      return cuMemcpyDtoHAsync(to, as_device(from), size, stream);
    case MemcpyKind::device_to_device:
      return cuMemcpyDtoDAsync(as_device(to), as_device(from), size, stream);
    case MemcpyKind::host_to_host:
    case MemcpyKind::any:
      return cuMemcpyAsync(as_device(to), as_device(from), size, stream);
  }
  return cudaErrorInvalidMemcpyDirection;
}

bool is_kind(MemcpyKind kind) {
  return kind >= MemcpyKind::host_to_host && kind <= MemcpyKind::any;
}

/// The bytes of an array's elements.
Result element_size(CUarray array, std::size_t& size) {
  CUDA_ARRAY3D_DESCRIPTOR description{};
  const CUresult result = cuArray3DGetDescriptor(&description, array);
  if (result != CUDA_SUCCESS) return result;
  const ChannelFormat format = runtime_format(description.Format, description.NumChannels);
  size = static_cast<std::size_t>(format.x) / 8 * description.NumChannels;
  return cudaSuccess;
}

/// Places in arrays and, if there is an array, widths count elements.
Result copy_box(const Copy3D& what, CUstream stream) {
  if (!is_kind(what.kind)) return cudaErrorInvalidMemcpyDirection;
  const auto& [width, height, depth] = what.extent;
  if (width == 0 || height == 0 || depth == 0) return cudaSuccess;
  CUDA_MEMCPY3D copy{};
  std::size_t unit = 1;
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcXInBytes = what.source_position.x;
  copy.dstXInBytes = what.target_position.x;
  if (what.source_array != nullptr) {
    const Result found = element_size(what.source_array, unit);
    if (found.failed()) return found;
    copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.srcArray = what.source_array;
    copy.srcXInBytes *= unit;
  }
  if (what.target_array != nullptr) {
    const Result found = element_size(what.target_array, unit);
    if (found.failed()) return found;
    copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy.dstArray = what.target_array;
    copy.dstXInBytes *= unit;
  }
  copy.srcDevice = as_device(what.source.pointer);
  copy.srcPitch = what.source.pitch;
  copy.srcHeight = what.source.height;
  copy.srcY = what.source_position.y;
  copy.srcZ = what.source_position.z;
  copy.dstDevice = as_device(what.target.pointer);
  copy.dstPitch = what.target.pitch;
  copy.dstHeight = what.target.height;
  copy.dstY = what.target_position.y;
  copy.dstZ = what.target_position.z;
  copy.WidthInBytes = width * unit;
  copy.Height = height;
  copy.Depth = depth;
  return cuMemcpy3DAsync(&copy, stream);
}

Result copy_box(const Copy3D* what, CUstream stream) {
  return what != nullptr ? copy_box(*what, stream) : Result(cudaErrorInvalidValue);
}

Result copy_box(const PeerCopy3D* what, CUstream stream) {
  if (what == nullptr) return cudaErrorInvalidValue;
  return copy_box(
      Copy3D{what->source_array, what->source_position, what->source, what->target_array,
             what->target_position, what->target, what->extent, MemcpyKind::any},
      stream);
}

Result copy_rectangle(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                      std::size_t width, std::size_t height, MemcpyKind kind, CUstream stream) {
  if (!is_kind(kind)) return cudaErrorInvalidMemcpyDirection;
  if (width == 0 || height == 0) return cudaSuccess;
  if (to_pitch < width || from_pitch < width) return cudaErrorInvalidPitchValue;
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = as_device(from);
  copy.srcPitch = from_pitch;
  copy.dstDevice = as_device(to);
  copy.dstPitch = to_pitch;
  copy.WidthInBytes = width;
  copy.Height = height;
  return cuMemcpy2DAsync(&copy, stream);
}

/// The kinds for copies of symbols, in either direction.
bool is_kind_on_device(MemcpyKind kind) {
  return kind == MemcpyKind::device_to_device || kind == MemcpyKind::any;
}

/// Result copy(void*) with the address of a part of a symbol.
template <class Copy>
Result with_symbol(const void* symbol, std::size_t offset, std::size_t size, Copy&& copy) {
  CUdeviceptr address = 0;
  std::size_t whole = 0;
  const Result result = find_symbol(symbol, address, whole);
  if (result.failed()) return result;
  if (offset > whole || size > whole - offset) return cudaErrorInvalidValue;
  return copy(reinterpret_cast<void*>(address + offset));
}

Result copy_to_symbol(const void* symbol, const void* from, std::size_t size, std::size_t offset,
                      MemcpyKind kind, CUstream stream) {
  if (kind != MemcpyKind::host_to_device && !is_kind_on_device(kind)) {
    return cudaErrorInvalidMemcpyDirection;
  }
  return with_symbol(symbol, offset, size,
                     [&](void* to) { return copy(to, from, size, kind, stream); });
}

Result copy_from_symbol(void* to, const void* symbol, std::size_t size, std::size_t offset,
                        MemcpyKind kind, CUstream stream) {
  if (kind != MemcpyKind::device_to_host && !is_kind_on_device(kind)) {
    return cudaErrorInvalidMemcpyDirection;
  }
  return with_symbol(symbol, offset, size,
                     [&](const void* from) { return copy(to, from, size, kind, stream); });
}

Result copy_peer(void* to, int to_device, const void* from, int from_device, std::size_t size,
                 CUstream stream) {
  CUcontext to_context = nullptr;
  CUcontext from_context = nullptr;
  Result result = primary_context(to_device, to_context);
  if (!result.failed()) result = primary_context(from_device, from_context);
  if (result.failed() || size == 0) return result;
  return cuMemcpyPeerAsync(as_device(to), to_context, as_device(from), from_context, size, stream);
}

}  // namespace

extern "C" {

CUDACORE_RUNTIME_TWINS(cudaMemcpy, _ptds,
                       (void* to, const void* from, std::size_t size, MemcpyKind kind),
                       on.wait(copy(to, from, size, kind, on())))
CUDACORE_RUNTIME_TWINS(cudaMemcpyAsync, _ptsz,
                       (void* to, const void* from, std::size_t size, MemcpyKind kind,
                        CUstream stream),
                       copy(to, from, size, kind, on(stream)))

CUDACORE_RUNTIME_TWINS(cudaMemcpy2D, _ptds,
                       (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                        std::size_t width, std::size_t height, MemcpyKind kind),
                       on.wait(copy_rectangle(to, to_pitch, from, from_pitch, width, height, kind,
                                              on())))
CUDACORE_RUNTIME_TWINS(cudaMemcpy2DAsync, _ptsz,
                       (void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                        std::size_t width, std::size_t height, MemcpyKind kind, CUstream stream),
                       copy_rectangle(to, to_pitch, from, from_pitch, width, height, kind,
                                      on(stream)))

CUDACORE_RUNTIME_TWINS(cudaMemcpy3D, _ptds, (const Copy3D* what), on.wait(copy_box(what, on())))
CUDACORE_RUNTIME_TWINS(cudaMemcpy3DAsync, _ptsz, (const Copy3D* what, CUstream stream),
                       copy_box(what, on(stream)))
CUDACORE_RUNTIME_TWINS(cudaMemcpy3DPeer, _ptds, (const PeerCopy3D* what),
                       on.wait(copy_box(what, on())))
CUDACORE_RUNTIME_TWINS(cudaMemcpy3DPeerAsync, _ptsz, (const PeerCopy3D* what, CUstream stream),
                       copy_box(what, on(stream)))

CUDACORE_RUNTIME_TWINS(cudaMemcpyToSymbol, _ptds,
                       (const void* symbol, const void* from, std::size_t size, std::size_t offset,
                        MemcpyKind kind),
                       on.wait(copy_to_symbol(symbol, from, size, offset, kind, on())))
CUDACORE_RUNTIME_TWINS(cudaMemcpyToSymbolAsync, _ptsz,
                       (const void* symbol, const void* from, std::size_t size, std::size_t offset,
                        MemcpyKind kind, CUstream stream),
                       copy_to_symbol(symbol, from, size, offset, kind, on(stream)))
CUDACORE_RUNTIME_TWINS(cudaMemcpyFromSymbol, _ptds,
                       (void* to, const void* symbol, std::size_t size, std::size_t offset,
                        MemcpyKind kind),
                       on.wait(copy_from_symbol(to, symbol, size, offset, kind, on())))
CUDACORE_RUNTIME_TWINS(cudaMemcpyFromSymbolAsync, _ptsz,
                       (void* to, const void* symbol, std::size_t size, std::size_t offset,
                        MemcpyKind kind, CUstream stream),
                       copy_from_symbol(to, symbol, size, offset, kind, on(stream)))

CUDACORE_RUNTIME_TWINS(cudaMemcpyPeer, _ptds,
                       (void* to, int to_device, const void* from, int from_device,
                        std::size_t size),
                       on.wait(copy_peer(to, to_device, from, from_device, size, on())))
CUDACORE_RUNTIME_TWINS(cudaMemcpyPeerAsync, _ptsz,
                       (void* to, int to_device, const void* from, int from_device,
                        std::size_t size, CUstream stream),
                       copy_peer(to, to_device, from, from_device, size, on(stream)))

}  // extern "C"

}  // namespace cudacore::runtime
