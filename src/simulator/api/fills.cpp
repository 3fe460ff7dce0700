// SPDX-License-Identifier: Apache-2.0
//
// Fills of memory with a value of 1, 2 or 4 bytes.
#include <cstdint>
#include <memory>
#include <utility>

#include "simulator/api/copy.hpp"

using namespace cudacore::simulator;

namespace {

template <class T>
CUresult fill_rows(CUdeviceptr to, std::size_t pitch, T value, std::size_t width,
                   std::size_t height, CUstream handle, Synchrony synchrony) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    if (width == 0 || height == 0) return stream->check_context();
    if (to % sizeof(T) != 0 || (height > 1 && pitch % sizeof(T) != 0)) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "the address or the pitch is not aligned");
    }
    Box box{.height = height};
    if (__builtin_mul_overflow(width, sizeof(T), &box.width) || (height > 1 && pitch < box.width)) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "the pitch is less than a row");
    }
    const auto size = span_of(box, {.row = pitch});
    if (!size) return CUDA_ERROR_INVALID_VALUE;
    auto range = find_range(to, *size, Side::device);
    if (!range) return CUDA_ERROR_INVALID_VALUE;
    return fill(*stream, std::move(*range), pitch, box, value, sizeof(T), synchrony);
  });
}

}  // namespace

/// The four fills with values of a width.
#define CUDACORE_SIMULATOR_FILLS(bits, Value)                                                 \
  CUresult cuMemsetD##bits##_v2(CUdeviceptr to, Value value, std::size_t count) {             \
    return fill_rows(to, 0, value, count, 1, nullptr, Synchrony::synchronous);                \
  }                                                                                           \
  CUresult cuMemsetD##bits##Async(CUdeviceptr to, Value value, std::size_t count,             \
                                  CUstream stream) {                                          \
    return fill_rows(to, 0, value, count, 1, stream, Synchrony::asynchronous);                \
  }                                                                                           \
  CUresult cuMemsetD2D##bits##_v2(CUdeviceptr to, std::size_t pitch, Value value,             \
                                  std::size_t width, std::size_t height) {                    \
    return fill_rows(to, pitch, value, width, height, nullptr, Synchrony::synchronous);       \
  }                                                                                           \
  CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, std::size_t pitch, Value value,           \
                                    std::size_t width, std::size_t height, CUstream stream) { \
    return fill_rows(to, pitch, value, width, height, stream, Synchrony::asynchronous);       \
  }

extern "C" {
CUDACORE_SIMULATOR_FILLS(8, unsigned char)
CUDACORE_SIMULATOR_FILLS(16, unsigned short)
CUDACORE_SIMULATOR_FILLS(32, unsigned int)
}  // extern "C"
