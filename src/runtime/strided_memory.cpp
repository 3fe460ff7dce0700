// SPDX-License-Identifier: Apache-2.0
#include "cudacore/strided_memory.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/context_call.hpp"
#include "runtime/strided_copies.hpp"
#include "runtime/strided_shape.hpp"

namespace cudacore {
namespace {

[[noreturn]] void refuse_strides(const char* function, const std::string& why) {
  throw NotSupportedError(std::string(function) + ": " + why + "; use a kernel, or several calls");
}

/// One array as cuMemcpy3D takes it: planes are a whole number of rows apart.
struct PitchedSide {
  std::size_t pitch = 0;
  std::size_t height = 0;
};

/// The side `i` of a copy of rows and planes; a height of 0 if it is none.
PitchedSide pitched(const StridedDimension& rows, const StridedDimension& planes, std::size_t row,
                    std::size_t i) {
  const auto pitch = static_cast<std::size_t>(rows.strides[i]);
  const auto plane = static_cast<std::size_t>(planes.strides[i]);
  if (pitch < row || plane % pitch != 0) return {};
  const std::size_t height = plane / pitch;
  return height < static_cast<std::size_t>(rows.length) ? PitchedSide{}
                                                        : PitchedSide{pitch, height};
}

/// Fills in rows and planes, if they are that in both arrays.
bool set_planes(CUDA_MEMCPY3D& copy, const StridedDimension& rows, const StridedDimension& planes) {
  const PitchedSide to = pitched(rows, planes, copy.WidthInBytes, 0);
  const PitchedSide from = pitched(rows, planes, copy.WidthInBytes, 1);
  if (to.height == 0 || from.height == 0) return false;
  copy.Height = static_cast<std::size_t>(rows.length);
  copy.Depth = static_cast<std::size_t>(planes.length);
  copy.dstPitch = to.pitch;
  copy.dstHeight = to.height;
  copy.srcPitch = from.pitch;
  copy.srcHeight = from.height;
  return true;
}

/// The copy of all rows, of which `shape` has the dimensions.
CUDA_MEMCPY3D describe_copy(const char* function, const StridedShape& shape, std::size_t row) {
  CUDA_MEMCPY3D copy{};
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = shape.addresses[0];
  copy.srcDevice = shape.addresses[1];
  copy.WidthInBytes = row;
  const auto& dimensions = shape.dimensions;
  if (dimensions.size() > 2) {
    refuse_strides(function, "the elements are rows in " + std::to_string(dimensions.size()) +
                                 " more dimensions, of which the driver copies two");
  }
  if (dimensions.size() == 2) {
    if (set_planes(copy, dimensions[1], dimensions[0]) ||
        set_planes(copy, dimensions[0], dimensions[1])) {
      return copy;
    }
    refuse_strides(function,
                   "the driver copies planes that are a whole number of rows apart in both arrays, "
                   "and rows that don't overlap");
  }
  const StridedDimension& rows = dimensions.front();
  if (rows.strides[1] < static_cast<std::int64_t>(row)) {
    refuse_strides(function, "rows of the source share memory, which the driver doesn't copy");
  }
  copy.Height = static_cast<std::size_t>(rows.length);
  copy.Depth = 1;
  copy.dstPitch = static_cast<std::size_t>(rows.strides[0]);
  copy.srcPitch = static_cast<std::size_t>(rows.strides[1]);
  copy.dstHeight = copy.Height;
  copy.srcHeight = copy.Height;
  return copy;
}

void require_pitch(const char* function, const ContextCall& call, std::size_t pitch) {
  const int most =
      Device::from_known_ordinal(call.context()->device).attribute(CU_DEVICE_ATTRIBUTE_MAX_PITCH);
  if (most == 0 || pitch <= static_cast<std::size_t>(most)) return;
  refuse_strides(function, "rows are " + std::to_string(pitch) + " bytes apart, and the device's " +
                               "max_pitch is " + std::to_string(most));
}

/// A row of equal words, or several.
void fill_rows(const char* function, const StreamCall& call, CUdeviceptr address, std::size_t pitch,
               unsigned value, std::size_t word, std::size_t width, std::size_t height) {
  const driver::DriverApi& api = call.api();
  if (height > 1) require_pitch(function, call, pitch);
  if (word == 1) {
    call.check(api.cuMemsetD2D8Async(address, pitch, static_cast<unsigned char>(value), width,
                                     height, call.stream()),
               "cuMemsetD2D8Async");
  } else if (word == 2) {
    call.check(api.cuMemsetD2D16Async(address, pitch, static_cast<unsigned short>(value), width,
                                      height, call.stream()),
               "cuMemsetD2D16Async");
  } else {
    call.check(api.cuMemsetD2D32Async(address, pitch, value, width, height, call.stream()),
               "cuMemsetD2D32Async");
  }
}

/// The largest of 1, 2 and 4 bytes that an element is a multiple of.
std::size_t word_of(std::size_t item_size) {
  return item_size % 4 == 0 ? 4 : item_size % 2 == 0 ? 2 : 1;
}

/// Whether an element is one word, again and again.
bool repeats(std::span<const std::byte> item, std::size_t word) {
  return std::equal(item.begin() + static_cast<std::ptrdiff_t>(word), item.end(), item.begin());
}

unsigned value_of(std::span<const std::byte> word) {
  unsigned value = 0;
  std::memcpy(&value, word.data(), word.size());
  return value;
}

}  // namespace

void copy_strided_for(const char* function, const StridedMemory& destination,
                      const StridedMemory& source, std::size_t item_size, const Stream& stream) {
  StridedShape shape(function, destination, source, item_size);
  const StreamCall call(require_open(stream.box(), "Stream"));
  if (shape.is_empty) return;
  const std::size_t row = shape.take_row(item_size);
  if (shape.dimensions.empty()) {
    call.check(call.api().cuMemcpyAsync(shape.addresses[0], shape.addresses[1], row, call.stream()),
               "cuMemcpyAsync");
  } else {
    const CUDA_MEMCPY3D copy = describe_copy(function, shape, row);
    require_pitch(function, call, std::max(copy.dstPitch, copy.srcPitch));
    call.check(call.api().cuMemcpy3DAsync(&copy, call.stream()), "cuMemcpy3DAsync");
  }
  keep_if_captured(stream, {destination.buffer, source.buffer});
}

void fill_strided_for(const char* function, const StridedMemory& destination,
                      std::span<const std::byte> item, const Stream& stream) {
  StridedShape shape(function, destination, destination, item.size());
  const StreamCall call(require_open(stream.box(), "Stream"));
  if (shape.is_empty) return;
  const std::size_t word = word_of(item.size());
  const CUdeviceptr address = shape.addresses[0];
  if (address % word != 0) {
    throw std::invalid_argument(std::string(function) + ": the elements must be aligned to " +
                                std::to_string(word) + " bytes");
  }
  const bool is_word = repeats(item, word);
  const std::size_t row = is_word ? shape.take_row(item.size()) : item.size();
  if (shape.dimensions.size() > 1) {
    refuse_strides(function, std::string("the elements are rows in ") +
                                 std::to_string(shape.dimensions.size()) +
                                 " more dimensions, of which the driver fills one");
  }
  const bool is_one_row = shape.dimensions.empty();
  const std::size_t height = is_one_row ? 1 : static_cast<std::size_t>(shape.dimensions[0].length);
  const std::size_t pitch =
      is_one_row ? row : static_cast<std::size_t>(shape.dimensions[0].strides[0]);
  if (pitch % word != 0) {
    refuse_strides(function, "rows are " + std::to_string(pitch) + " bytes apart, which is no " +
                                 "multiple of " + std::to_string(word));
  }
  if (is_word) {
    fill_rows(function, call, address, pitch, value_of(item.first(word)), word, row / word, height);
  } else {
    for (std::size_t at = 0; at < item.size(); at += word) {
      fill_rows(function, call, address + at, pitch, value_of(item.subspan(at, word)), word, 1,
                height);
    }
  }
  keep_if_captured(stream, {destination.buffer});
}

void copy_strided(const StridedMemory& destination, const StridedMemory& source,
                  std::size_t item_size, const Stream& stream) {
  copy_strided_for("copy_strided", destination, source, item_size, stream);
}

void fill_strided(const StridedMemory& destination, std::span<const std::byte> item,
                  const Stream& stream) {
  fill_strided_for("fill_strided", destination, item, stream);
}

}  // namespace cudacore
