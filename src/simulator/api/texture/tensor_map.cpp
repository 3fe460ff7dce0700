// SPDX-License-Identifier: Apache-2.0
//
// Tensor maps: checks them by the driver's rules, and writes what kernels read.
#include "simulator/ops/tensor_map.hpp"

#include <cstring>
#include <span>
#include <string>

#include "simulator/api/entry.hpp"

using namespace cudacore::simulator;

namespace {

CUresult refuse_map(const std::string& why) {
  return refuse(CUDA_ERROR_INVALID_VALUE, "tensor map: " + why);
}

/// What both kinds are made of.
struct Common {
  CUtensorMap* to;
  CUtensorMapDataType type;
  cuuint32_t rank;
  void* address;
  const cuuint64_t* lengths;
  const cuuint64_t* strides;
  const cuuint32_t* steps;
  CUtensorMapInterleave interleave;
  CUtensorMapSwizzle swizzle;
  CUtensorMapL2promotion l2_promotion;
  CUtensorMapFloatOOBfill fill;
};

bool is_aligned(const void* pointer, std::uint64_t alignment) {
  return reinterpret_cast<std::uintptr_t>(pointer) % alignment == 0;
}

unsigned alignment_of(unsigned interleave) { return interleave == 32 ? 32 : 16; }

/// What is the same for each dimension.
CUresult check_dimensions(const Common& from, const TensorMap& map) {
  const unsigned unit = alignment_of(map.interleave);
  for (std::size_t i = 0; i < map.rank; ++i) {
    const std::string number = std::to_string(i);
    if (from.lengths[i] == 0 || from.lengths[i] > std::uint64_t{1} << 32) {
      return refuse_map("globalDim[" + number + "] is 0 or above 2^32");
    }
    if (from.steps[i] == 0 || from.steps[i] > 8) {
      return refuse_map("elementStrides[" + number + "] is not in 1 to 8");
    }
    if (i + 1 == map.rank) continue;
    if (from.strides[i] % unit != 0 || from.strides[i] >= std::uint64_t{1} << 40) {
      return refuse_map("globalStrides[" + number + "] is not a multiple of " +
                        std::to_string(unit) + " below 2^40");
    }
  }
  return CUDA_SUCCESS;
}

CUresult start_map(const Common& from, TensorMap& map) {
  if (from.to == nullptr || from.lengths == nullptr || from.steps == nullptr ||
      (from.strides == nullptr && from.rank > 1)) {
    return refuse_map("a pointer is null");
  }
  if (from.type < CU_TENSOR_MAP_DATA_TYPE_UINT8 ||
      from.type > CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B) {
    return refuse_map("there is no such data type");
  }
  if (from.type > CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ) {
    return refuse(CUDA_ERROR_NOT_SUPPORTED, "tensor map: packed types are not simulated");
  }
  if (from.swizzle < CU_TENSOR_MAP_SWIZZLE_NONE ||
      from.swizzle > CU_TENSOR_MAP_SWIZZLE_128B_ATOM_64B) {
    return refuse_map("there is no such swizzle");
  }
  if (from.swizzle > CU_TENSOR_MAP_SWIZZLE_128B) {
    return refuse(CUDA_ERROR_NOT_SUPPORTED,
                  "tensor map: swizzles of pieces other than 16 bytes are not simulated");
  }
  if (from.interleave < CU_TENSOR_MAP_INTERLEAVE_NONE ||
      from.interleave > CU_TENSOR_MAP_INTERLEAVE_32B ||
      from.l2_promotion < CU_TENSOR_MAP_L2_PROMOTION_NONE ||
      from.l2_promotion > CU_TENSOR_MAP_L2_PROMOTION_L2_256B ||
      from.fill < CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE ||
      from.fill > CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA) {
    return refuse_map("there is no such interleave, l2Promotion or oobFill");
  }
  map.type = static_cast<TensorType>(from.type);
  map.interleave = static_cast<std::uint8_t>(16 * from.interleave);
  map.swizzle = from.swizzle == 0 ? 0 : static_cast<std::uint8_t>(16U << from.swizzle);
  map.fills_with_nan = from.fill != CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
  if (map.fills_with_nan && !is_floating(map.type)) {
    return refuse_map("oobFill is a NaN, but the type is not floating-point");
  }
  const cuuint32_t least = map.interleave != 0 || map.mode == TensorMode::im2col ? 3 : 1;
  if (from.rank < least || from.rank > TensorMap::most_dimensions) {
    return refuse_map("tensorRank is not in " + std::to_string(least) + " to 5");
  }
  map.rank = static_cast<std::uint8_t>(from.rank);
  map.address = reinterpret_cast<std::uintptr_t>(from.address);
  if (map.address % alignment_of(map.interleave) != 0) {
    return refuse_map("globalAddress is not aligned to " +
                      std::to_string(alignment_of(map.interleave)) + " bytes");
  }
  if (const CUresult result = check_dimensions(from, map); result != CUDA_SUCCESS) return result;
  for (std::size_t i = 0; i < map.rank; ++i) {
    map.lengths.at(i) = from.lengths[i];
    map.steps.at(i) = i == 0 && map.interleave == 0 ? 1 : static_cast<std::uint8_t>(from.steps[i]);
    if (i + 1 < map.rank) map.strides.at(i) = from.strides[i];
  }
  return CUDA_SUCCESS;
}

/// Checks how many elements of the innermost dimension a copy moves.
CUresult check_row(const TensorMap& map, std::uint64_t elements, const char* name) {
  if (elements == 0 || elements > 256) {
    return refuse_map(std::string(name) + " is not in 1 to 256");
  }
  const std::uint64_t bytes = elements * size_of(map.type);
  if (bytes % 16 != 0) return refuse_map(std::string(name) + " is not a multiple of 16 bytes");
  if (map.interleave == 0 && map.swizzle != 0 && bytes > map.swizzle) {
    return refuse_map(std::string(name) + " is more than the swizzle's " +
                      std::to_string(map.swizzle) + " bytes");
  }
  return CUDA_SUCCESS;
}

CUresult finish_map(const Common& from, TensorMap& map) {
  map.tag = TensorMap::valid;
  std::memcpy(from.to, &map, sizeof(map));
  return CUDA_SUCCESS;
}

CUresult encode_tiled(const Common& from, const cuuint32_t* box) {
  TensorMap map;
  if (const CUresult result = start_map(from, map); result != CUDA_SUCCESS) return result;
  if (box == nullptr) return refuse_map("a pointer is null");
  for (std::size_t i = 0; i < map.rank; ++i) {
    if (box[i] == 0 || box[i] > 256) {
      return refuse_map("boxDim[" + std::to_string(i) + "] is not in 1 to 256");
    }
    map.box.at(i) = static_cast<std::uint16_t>(box[i]);
  }
  if (const CUresult result = check_row(map, box[0], "boxDim[0]"); result != CUDA_SUCCESS) {
    return result;
  }
  return finish_map(from, map);
}

CUresult encode_im2col(const Common& from, const int* lower, const int* upper, cuuint32_t channels,
                       cuuint32_t pixels) {
  TensorMap map;
  map.mode = TensorMode::im2col;
  if (const CUresult result = start_map(from, map); result != CUDA_SUCCESS) return result;
  if (lower == nullptr || upper == nullptr) return refuse_map("a pointer is null");
  const std::size_t count = map.rank - std::size_t{2};
  constexpr std::array<int, 3> most{32767, 127, 15};
  for (std::size_t i = 0; i < count; ++i) {
    const int limit = most.at(count - 1);
    if (lower[i] < -limit - 1 || lower[i] > limit || upper[i] < -limit - 1 || upper[i] > limit) {
      return refuse_map("corner " + std::to_string(i) + " of the pixel box is out of range");
    }
    if (static_cast<std::int64_t>(map.lengths.at(i + 1)) + upper[i] - lower[i] <= 0) {
      return refuse_map("the pixel box is empty");
    }
    map.lower.at(i) = static_cast<std::int16_t>(lower[i]);
    map.upper.at(i) = static_cast<std::int16_t>(upper[i]);
  }
  if (pixels == 0 || pixels > 1024) return refuse_map("pixelsPerColumn is not in 1 to 1024");
  if (const CUresult result = check_row(map, channels, "channelsPerPixel");
      result != CUDA_SUCCESS) {
    return result;
  }
  map.channels = static_cast<std::uint16_t>(channels);
  map.pixels = static_cast<std::uint16_t>(pixels);
  return finish_map(from, map);
}

}  // namespace

extern "C" {

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                void* address, const cuuint64_t* lengths, const cuuint64_t* strides,
                                const cuuint32_t* box, const cuuint32_t* steps,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion l2_promotion, CUtensorMapFloatOOBfill fill) {
  return driver_call([&] {
    return encode_tiled({map, type, rank, address, lengths, strides, steps, interleave, swizzle,
                         l2_promotion, fill},
                        box);
  });
}

CUresult cuTensorMapEncodeIm2col(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank,
                                 void* address, const cuuint64_t* lengths,
                                 const cuuint64_t* strides, const int* lower, const int* upper,
                                 cuuint32_t channels, cuuint32_t pixels, const cuuint32_t* steps,
                                 CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                 CUtensorMapL2promotion l2_promotion,
                                 CUtensorMapFloatOOBfill fill) {
  return driver_call([&] {
    return encode_im2col({map, type, rank, address, lengths, strides, steps, interleave, swizzle,
                          l2_promotion, fill},
                         lower, upper, channels, pixels);
  });
}

CUresult cuTensorMapReplaceAddress(CUtensorMap* map, void* address) {
  return driver_call([&] {
    TensorMap changed;
    if (map == nullptr || address == nullptr) return refuse_map("a pointer is null");
    std::memcpy(static_cast<void*>(&changed), map, sizeof(changed));
    if (changed.tag != TensorMap::valid) return refuse_map("nothing was encoded there");
    if (!is_aligned(address, alignment_of(changed.interleave))) {
      return refuse_map("globalAddress is not aligned");
    }
    changed.address = reinterpret_cast<std::uintptr_t>(address);
    std::memcpy(map, &changed, sizeof(changed));
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
