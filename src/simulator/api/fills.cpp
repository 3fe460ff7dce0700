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
                   std::size_t height, CUstream handle, bool per_thread, Synchrony synchrony) {
  return stream_call(handle, per_thread, [&](const std::shared_ptr<Stream>& stream) {
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

template <class T>
CUresult fill_now(CUdeviceptr to, T value, std::size_t count, bool per_thread) {
  return fill_rows<T>(to, 0, value, count, 1, nullptr, per_thread, Synchrony::synchronous);
}

template <class T>
CUresult fill_later(CUdeviceptr to, T value, std::size_t count, CUstream stream, bool per_thread) {
  return fill_rows<T>(to, 0, value, count, 1, stream, per_thread, Synchrony::asynchronous);
}

template <class T>
CUresult fill_2d_now(CUdeviceptr to, std::size_t pitch, T value, std::size_t width,
                     std::size_t height, bool per_thread) {
  return fill_rows<T>(to, pitch, value, width, height, nullptr, per_thread, Synchrony::synchronous);
}

template <class T>
CUresult fill_2d_later(CUdeviceptr to, std::size_t pitch, T value, std::size_t width,
                       std::size_t height, CUstream stream, bool per_thread) {
  return fill_rows<T>(to, pitch, value, width, height, stream, per_thread, Synchrony::asynchronous);
}

}  // namespace

extern "C" {

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill_now(to, value, count, false);
}
CUresult cuMemsetD8_v2_ptds(CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill_now(to, value, count, true);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return fill_later(to, value, count, stream, false);
}
CUresult cuMemsetD8Async_ptsz(CUdeviceptr to, unsigned char value, std::size_t count,
                              CUstream stream) {
  return fill_later(to, value, count, stream, true);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                         std::size_t height) {
  return fill_2d_now(to, pitch, value, width, height, false);
}
CUresult cuMemsetD2D8_v2_ptds(CUdeviceptr to, std::size_t pitch, unsigned char value,
                              std::size_t width, std::size_t height) {
  return fill_2d_now(to, pitch, value, width, height, true);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  return fill_2d_later(to, pitch, value, width, height, stream, false);
}
CUresult cuMemsetD2D8Async_ptsz(CUdeviceptr to, std::size_t pitch, unsigned char value,
                                std::size_t width, std::size_t height, CUstream stream) {
  return fill_2d_later(to, pitch, value, width, height, stream, true);
}

CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill_now(to, value, count, false);
}
CUresult cuMemsetD16_v2_ptds(CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill_now(to, value, count, true);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return fill_later(to, value, count, stream, false);
}
CUresult cuMemsetD16Async_ptsz(CUdeviceptr to, unsigned short value, std::size_t count,
                               CUstream stream) {
  return fill_later(to, value, count, stream, true);
}

CUresult cuMemsetD2D16_v2(CUdeviceptr to, std::size_t pitch, unsigned short value,
                          std::size_t width, std::size_t height) {
  return fill_2d_now(to, pitch, value, width, height, false);
}
CUresult cuMemsetD2D16_v2_ptds(CUdeviceptr to, std::size_t pitch, unsigned short value,
                               std::size_t width, std::size_t height) {
  return fill_2d_now(to, pitch, value, width, height, true);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return fill_2d_later(to, pitch, value, width, height, stream, false);
}
CUresult cuMemsetD2D16Async_ptsz(CUdeviceptr to, std::size_t pitch, unsigned short value,
                                 std::size_t width, std::size_t height, CUstream stream) {
  return fill_2d_later(to, pitch, value, width, height, stream, true);
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, std::size_t count) {
  return fill_now(to, value, count, false);
}
CUresult cuMemsetD32_v2_ptds(CUdeviceptr to, unsigned int value, std::size_t count) {
  return fill_now(to, value, count, true);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, std::size_t count, CUstream stream) {
  return fill_later(to, value, count, stream, false);
}
CUresult cuMemsetD32Async_ptsz(CUdeviceptr to, unsigned int value, std::size_t count,
                               CUstream stream) {
  return fill_later(to, value, count, stream, true);
}

CUresult cuMemsetD2D32_v2(CUdeviceptr to, std::size_t pitch, unsigned int value, std::size_t width,
                          std::size_t height) {
  return fill_2d_now(to, pitch, value, width, height, false);
}
CUresult cuMemsetD2D32_v2_ptds(CUdeviceptr to, std::size_t pitch, unsigned int value,
                               std::size_t width, std::size_t height) {
  return fill_2d_now(to, pitch, value, width, height, true);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned int value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return fill_2d_later(to, pitch, value, width, height, stream, false);
}
CUresult cuMemsetD2D32Async_ptsz(CUdeviceptr to, std::size_t pitch, unsigned int value,
                                 std::size_t width, std::size_t height, CUstream stream) {
  return fill_2d_later(to, pitch, value, width, height, stream, true);
}

}  // extern "C"
