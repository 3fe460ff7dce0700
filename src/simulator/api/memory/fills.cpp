// SPDX-License-Identifier: Apache-2.0
//
// Fills of memory with a value of 1, 2 or 4 bytes.
#include <cstdint>
#include <memory>
#include <utility>

#include "simulator/api/memory/copy.hpp"
#include "simulator/api/memory/memory_actions.hpp"
#include "simulator/api/stream/capture.hpp"

using namespace cudacore::simulator;

namespace {

struct Rows {
  Range range;
  Box box;
};

CUresult find_rows(const CUDA_MEMSET_NODE_PARAMS& fill, Rows& rows) {
  const std::size_t element = fill.elementSize;
  if (fill.width == 0 || fill.height == 0) return CUDA_SUCCESS;
  if (element != 1 && element != 2 && element != 4) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "elements have 1, 2 or 4 bytes");
  }
  if (fill.dst % element != 0 || (fill.height > 1 && fill.pitch % element != 0)) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the address or the pitch is not aligned");
  }
  rows.box = {.height = fill.height};
  if (__builtin_mul_overflow(fill.width, element, &rows.box.width) ||
      (fill.height > 1 && fill.pitch < rows.box.width)) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the pitch is less than a row");
  }
  const auto size = span_of(rows.box, {.row = fill.pitch});
  if (!size) return CUDA_ERROR_INVALID_VALUE;
  auto range = find_target(fill.dst, *size, Side::device);
  if (!range) return CUDA_ERROR_INVALID_VALUE;
  rows.range = std::move(*range);
  return CUDA_SUCCESS;
}

CUresult fill_rows(const CUDA_MEMSET_NODE_PARAMS& what, CUstream handle, Synchrony synchrony) {
  return stream_call(handle, [&](const std::shared_ptr<Stream>& stream) {
    Rows rows;
    const CUresult result = find_rows(what, rows);
    if (result != CUDA_SUCCESS) return result;
    if (synchrony == Synchrony::asynchronous && stream->is_capturing()) {
      return rows.box.width == 0 ? CUDA_SUCCESS : capture_fill(*stream, what);
    }
    return fill(*stream, std::move(rows.range), what.pitch, rows.box, what.value, what.elementSize,
                synchrony);
  });
}

}  // namespace

namespace cudacore::simulator {

CUresult find_fill(const CUDA_MEMSET_NODE_PARAMS& fill, std::unique_ptr<Work>& work) {
  Rows rows;
  const CUresult result = find_rows(fill, rows);
  if (result != CUDA_SUCCESS || rows.box.width == 0) return result;
  work = make_fill(rows.box, std::move(rows.range), fill.pitch, fill.value, fill.elementSize);
  return CUDA_SUCCESS;
}

}  // namespace cudacore::simulator

/// The four fills with values of a width.
#define CUDACORE_SIMULATOR_FILLS(bits, Value)                                                   \
  CUresult cuMemsetD##bits##_v2(CUdeviceptr to, Value value, std::size_t count) {               \
    return fill_rows({to, 0, value, sizeof(Value), count, 1}, nullptr, Synchrony::synchronous); \
  }                                                                                             \
  CUresult cuMemsetD##bits##Async(CUdeviceptr to, Value value, std::size_t count,               \
                                  CUstream stream) {                                            \
    return fill_rows({to, 0, value, sizeof(Value), count, 1}, stream, Synchrony::asynchronous); \
  }                                                                                             \
  CUresult cuMemsetD2D##bits##_v2(CUdeviceptr to, std::size_t pitch, Value value,               \
                                  std::size_t width, std::size_t height) {                      \
    return fill_rows({to, pitch, value, sizeof(Value), width, height}, nullptr,                 \
                     Synchrony::synchronous);                                                   \
  }                                                                                             \
  CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, std::size_t pitch, Value value,             \
                                    std::size_t width, std::size_t height, CUstream stream) {   \
    return fill_rows({to, pitch, value, sizeof(Value), width, height}, stream,                  \
                     Synchrony::asynchronous);                                                  \
  }

extern "C" {
CUDACORE_SIMULATOR_FILLS(8, unsigned char)
CUDACORE_SIMULATOR_FILLS(16, unsigned short)
CUDACORE_SIMULATOR_FILLS(32, unsigned int)
}  // extern "C"
