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

template <class T>
CUresult fill_now(CUdeviceptr to, T value, std::size_t count) {
  return fill_rows<T>(to, 0, value, count, 1, nullptr, Synchrony::synchronous);
}

template <class T>
CUresult fill_later(CUdeviceptr to, T value, std::size_t count, CUstream stream) {
  return fill_rows<T>(to, 0, value, count, 1, stream, Synchrony::asynchronous);
}

template <class T>
CUresult fill_2d_now(CUdeviceptr to, std::size_t pitch, T value, std::size_t width,
                     std::size_t height) {
  return fill_rows<T>(to, pitch, value, width, height, nullptr, Synchrony::synchronous);
}

template <class T>
CUresult fill_2d_later(CUdeviceptr to, std::size_t pitch, T value, std::size_t width,
                       std::size_t height, CUstream stream) {
  return fill_rows<T>(to, pitch, value, width, height, stream, Synchrony::asynchronous);
}

}  // namespace

extern "C" {

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, std::size_t count) {
  return fill_now(to, value, count);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return fill_later(to, value, count, stream);
}

CUresult cuMemsetD2D8_v2(CUdeviceptr to, std::size_t pitch, unsigned char value, std::size_t width,
                         std::size_t height) {
  return fill_2d_now(to, pitch, value, width, height);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, std::size_t pitch, unsigned char value,
                           std::size_t width, std::size_t height, CUstream stream) {
  return fill_2d_later(to, pitch, value, width, height, stream);
}

CUresult cuMemsetD16_v2(CUdeviceptr to, unsigned short value, std::size_t count) {
  return fill_now(to, value, count);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return fill_later(to, value, count, stream);
}

CUresult cuMemsetD2D16_v2(CUdeviceptr to, std::size_t pitch, unsigned short value,
                          std::size_t width, std::size_t height) {
  return fill_2d_now(to, pitch, value, width, height);
}
CUresult cuMemsetD2D16Async(CUdeviceptr to, std::size_t pitch, unsigned short value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return fill_2d_later(to, pitch, value, width, height, stream);
}

CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned int value, std::size_t count) {
  return fill_now(to, value, count);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned int value, std::size_t count, CUstream stream) {
  return fill_later(to, value, count, stream);
}

CUresult cuMemsetD2D32_v2(CUdeviceptr to, std::size_t pitch, unsigned int value, std::size_t width,
                          std::size_t height) {
  return fill_2d_now(to, pitch, value, width, height);
}
CUresult cuMemsetD2D32Async(CUdeviceptr to, std::size_t pitch, unsigned int value,
                            std::size_t width, std::size_t height, CUstream stream) {
  return fill_2d_later(to, pitch, value, width, height, stream);
}

}  // extern "C"
