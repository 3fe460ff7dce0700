// SPDX-License-Identifier: Apache-2.0
#include "cudacore/tensor_map.hpp"

#include <algorithm>
#include <stdexcept>
#include <string_view>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

constexpr std::size_t most_dimensions = 5;

struct TypeFacts {
  const char* name;
  std::size_t size;
  bool is_floating;
};

/// By TensorMapDataType, which has the driver's numbers.
constexpr auto type_facts = std::to_array<TypeFacts>({
    {"UINT8", 1, false},
    {"UINT16", 2, false},
    {"UINT32", 4, false},
    {"INT32", 4, false},
    {"UINT64", 8, false},
    {"INT64", 8, false},
    {"FLOAT16", 2, true},
    {"FLOAT32", 4, true},
    {"FLOAT64", 8, true},
    {"BFLOAT16", 2, true},
    {"FLOAT32_FTZ", 4, true},
    {"TFLOAT32", 4, true},
    {"TFLOAT32_FTZ", 4, true},
});
static_assert(type_facts.size() == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ + 1);

const TypeFacts& facts_of(TensorMapDataType type) {
  return type_facts.at(static_cast<std::size_t>(type));
}

[[noreturn]] void refuse_tensor(const std::string& why) { throw std::invalid_argument(why); }

std::string item_name(std::string_view name, std::size_t index) {
  return std::string(name) + "[" + std::to_string(index) + "]";
}

void require_range(const std::string& what, std::int64_t value, std::int64_t least,
                   std::int64_t most) {
  if (value >= least && value <= most) return;
  refuse_tensor(what + " must be in [" + std::to_string(least) + ", " + std::to_string(most) +
                "], got " + std::to_string(value));
}

void require_count(std::string_view name, std::size_t count, std::size_t wanted,
                   std::string_view why) {
  if (count == wanted) return;
  refuse_tensor(std::string(name) + " must have " + std::to_string(wanted) + " elements (" +
                std::string(why) + "), got " + std::to_string(count));
}

std::size_t alignment_of(TensorMapInterleave interleave) {
  return interleave == TensorMapInterleave::bytes_32 ? 32 : 16;
}

void require_aligned(CUdeviceptr address, TensorMapInterleave interleave) {
  const std::size_t alignment = alignment_of(interleave);
  if (address % alignment == 0) return;
  refuse_tensor("Global memory address must be " + std::to_string(alignment) +
                "-byte aligned, got address " + error::format_address(address));
}

/// The tensor as the driver takes it: the innermost dimension first.
struct Layout {
  CUtensorMapDataType type{};
  cuuint32_t rank = 0;
  std::array<cuuint64_t, most_dimensions> lengths{};
  std::array<cuuint64_t, most_dimensions> strides{};  ///< bytes, of all dimensions but the first
  std::array<cuuint32_t, most_dimensions> steps{};
  CUtensorMapInterleave interleave{};
  CUtensorMapSwizzle swizzle{};
  CUtensorMapL2promotion l2_promotion{};
  CUtensorMapFloatOOBfill oob_fill{};
};

/// The strides in elements; in C order if none are given.
std::vector<std::int64_t> strides_of(const TensorMapTensor& tensor) {
  if (!tensor.strides.empty()) return tensor.strides;
  std::vector<std::int64_t> strides(tensor.shape.size(), 1);
  for (std::size_t i = strides.size() - 1; i-- > 0;) {
    if (__builtin_mul_overflow(strides[i + 1], tensor.shape[i + 1], &strides[i])) {
      refuse_tensor("the tensor has too many elements");
    }
  }
  return strides;
}

void check_strides(const TensorMapTensor& tensor, const std::vector<std::int64_t>& strides,
                   TensorMapInterleave interleave) {
  const auto size = static_cast<std::int64_t>(size_of(tensor.data_type));
  const auto unit = static_cast<std::int64_t>(alignment_of(interleave));
  const std::size_t last = strides.size() - 1;
  if (strides[last] != 1 && tensor.shape[last] != 1) {
    refuse_tensor("the last dimension must be contiguous, but its elements are " +
                  std::to_string(strides[last]) + " apart");
  }
  for (std::size_t i = 0; i < last; ++i) {
    constexpr std::int64_t end = std::int64_t{1} << 40;
    std::int64_t bytes = 0;
    const bool overflows = __builtin_mul_overflow(strides[i], size, &bytes);
    if (overflows || bytes < 0 || bytes >= end) {
      refuse_tensor(item_name("strides", i) +
                    " must be less than 2**40 bytes and not negative, got " +
                    std::to_string(strides[i]) + " elements of " + std::to_string(size) + " bytes");
    }
    if (bytes % unit != 0) {
      refuse_tensor(item_name("strides", i) + " must be a multiple of " + std::to_string(unit) +
                    " bytes, got " + std::to_string(bytes));
    }
  }
}

/// Checks all that the kinds of descriptors have in common.
Layout checked_layout(const TensorMapTensor& tensor, const TensorMapOptions& options,
                      const char* tensor_name, std::size_t least_rank) {
  const std::size_t rank = tensor.shape.size();
  if (rank < least_rank || rank > most_dimensions) {
    refuse_tensor(std::string(tensor_name) + " rank must be between " + std::to_string(least_rank) +
                  " and " + std::to_string(most_dimensions) + ", got " + std::to_string(rank));
  }
  if (options.interleave != TensorMapInterleave::none && rank < 3) {
    refuse_tensor("an interleaved tensor must have at least 3 dimensions, got " +
                  std::to_string(rank));
  }
  require_aligned(tensor.address, options.interleave);
  for (std::size_t i = 0; i < rank; ++i) {
    require_range(item_name("shape", i), tensor.shape[i], 1, std::int64_t{1} << 32);
  }
  if (!tensor.strides.empty()) require_count("strides", tensor.strides.size(), rank, "the rank");
  const std::vector<std::int64_t> strides = strides_of(tensor);
  check_strides(tensor, strides, options.interleave);
  if (!options.element_strides.empty()) {
    require_count("element_strides", options.element_strides.size(), rank, "same as tensor rank");
  }
  const TypeFacts& type = facts_of(tensor.data_type);
  if (options.oob_fill != TensorMapOOBFill::none && !type.is_floating) {
    refuse_tensor(std::string("oob_fill NAN_REQUEST_ZERO_FMA needs a floating-point type, not ") +
                  type.name);
  }
  if (options.interleave == TensorMapInterleave::bytes_32 &&
      options.swizzle != TensorMapSwizzle::bytes_32) {
    refuse_tensor("interleave INTERLEAVE_32B needs swizzle SWIZZLE_32B");
  }
  Layout layout{.type = static_cast<CUtensorMapDataType>(tensor.data_type),
                .rank = static_cast<cuuint32_t>(rank),
                .interleave = static_cast<CUtensorMapInterleave>(options.interleave),
                .swizzle = static_cast<CUtensorMapSwizzle>(options.swizzle),
                .l2_promotion = static_cast<CUtensorMapL2promotion>(options.l2_promotion),
                .oob_fill = static_cast<CUtensorMapFloatOOBfill>(options.oob_fill)};
  for (std::size_t i = 0; i < rank; ++i) {
    const std::size_t from = rank - 1 - i;
    const std::int64_t step = options.element_strides.empty() ? 1 : options.element_strides[from];
    require_range(item_name("element_strides", from), step, 1, 8);
    layout.lengths[i] = static_cast<cuuint64_t>(tensor.shape[from]);
    layout.steps[i] = static_cast<cuuint32_t>(step);
    if (i != 0) layout.strides[i - 1] = static_cast<cuuint64_t>(strides[from]) * type.size;
  }
  return layout;
}

constexpr auto swizzle_names =
    std::to_array<const char*>({"NONE", "SWIZZLE_32B", "SWIZZLE_64B", "SWIZZLE_128B"});

/// Checks how many bytes a copy moves of the innermost dimension.
void check_row(std::string_view name, std::int64_t elements, const TensorMapTensor& tensor,
               const TensorMapOptions& options) {
  const auto size = static_cast<std::int64_t>(size_of(tensor.data_type));
  const std::int64_t bytes = elements * size;
  const std::string got =
      ", got " + std::to_string(elements) + " elements of " + std::to_string(size) + " bytes";
  if (bytes % 16 != 0) refuse_tensor(std::string(name) + " must be a multiple of 16 bytes" + got);
  if (options.swizzle == TensorMapSwizzle::none ||
      options.interleave != TensorMapInterleave::none) {
    return;
  }
  const auto swizzle = static_cast<std::size_t>(options.swizzle);
  const std::int64_t span = std::int64_t{16} << swizzle;
  if (bytes > span) {
    refuse_tensor(std::string(name) + " must be at most " + std::to_string(span) +
                  " bytes with swizzle " + swizzle_names.at(swizzle) + got);
  }
}

void check_pixels(const TensorMapPixels& pixels, const TensorMapTensor& tensor,
                  const TensorMapOptions& options) {
  require_range("channels_per_pixel", pixels.channels_per_pixel, 1, 256);
  require_range("pixels_per_column", pixels.pixels_per_column, 1, 1024);
  check_row("channels_per_pixel", pixels.channels_per_pixel, tensor, options);
}

/// The corners' offsets for one dimension.
void check_corners(const TensorMapPixels& pixels, const TensorMapTensor& tensor, std::size_t i,
                   std::size_t dimension, std::int64_t most) {
  require_range(item_name("pixel_box_lower_corner", i), pixels.lower_corner[i], -most - 1, most);
  require_range(item_name("pixel_box_upper_corner", i), pixels.upper_corner[i], -most - 1, most);
  if (tensor.shape[dimension] + pixels.upper_corner[i] - pixels.lower_corner[i] <= 0) {
    refuse_tensor("the pixel box is empty: dimension " + std::to_string(dimension) + " has " +
                  std::to_string(tensor.shape[dimension]) + " pixels, less " +
                  std::to_string(pixels.lower_corner[i] - pixels.upper_corner[i]) +
                  " by its corners");
  }
}

CUtensorMap* map_of(TensorMapDescriptor::Bytes& bytes) {
  static_assert(sizeof(CUtensorMap) == sizeof(TensorMapDescriptor::Bytes));
  return reinterpret_cast<CUtensorMap*>(&bytes);
}

void* as_pointer(CUdeviceptr address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

/// Calls one of the driver's functions in a context.
template <typename Encode>
void call_encoder(const Context& context, const char* function, Encode encode) {
  const ContextCall call(context.box());
  call.check(encode(call.api()), function,
             [&] { return error::describe_device(context.device().id()); });
}

}  // namespace

std::size_t size_of(TensorMapDataType type) noexcept {
  return type_facts[static_cast<std::size_t>(type)].size;  // NOLINT(*-constant-array-index)
}

TensorMapDescriptor::TensorMapDescriptor(const TensorMapTensor& tensor,
                                         const TensorMapOptions& options, const char* method)
    : context_(Context::current()),
      memory_(tensor.memory),
      method_(method),
      rank_(tensor.shape.size()),
      data_type_(tensor.data_type),
      interleave_(options.interleave),
      swizzle_(options.swizzle) {
  const Device device = context_.device();
  if (device.attribute(CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED) != 0) return;
  throw NotSupportedError(error::describe_device(device.id()) +
                          " has no Tensor Memory Accelerator: tensor maps need compute "
                          "capability 9.0 or newer");
}

TensorMapDescriptor TensorMapDescriptor::tiled(const TensorMapTensor& tensor,
                                               std::span<const std::int64_t> box_dim,
                                               const TensorMapOptions& options) {
  const Layout layout = checked_layout(tensor, options, "Tensor", 1);
  const std::size_t rank = layout.rank;
  require_count("box_dim", box_dim.size(), rank, "same as tensor rank");
  std::array<cuuint32_t, most_dimensions> box{};
  for (std::size_t i = 0; i < rank; ++i) {
    require_range(item_name("box_dim", i), box_dim[i], 1, 256);
    box.at(rank - 1 - i) = static_cast<cuuint32_t>(box_dim[i]);
  }
  check_row(item_name("box_dim", rank - 1), box_dim[rank - 1], tensor, options);
  TensorMapDescriptor made(tensor, options, "tiled");
  call_encoder(made.context_, "cuTensorMapEncodeTiled", [&](const driver::DriverApi& api) {
    return api.cuTensorMapEncodeTiled(
        map_of(made.bytes_), layout.type, layout.rank, as_pointer(tensor.address),
        layout.lengths.data(), layout.strides.data(), box.data(), layout.steps.data(),
        layout.interleave, layout.swizzle, layout.l2_promotion, layout.oob_fill);
  });
  return made;
}

TensorMapDescriptor TensorMapDescriptor::im2col(const TensorMapTensor& tensor,
                                                const TensorMapPixels& pixels,
                                                const TensorMapOptions& options) {
  const Layout layout = checked_layout(tensor, options, "Im2col tensor", 3);
  const std::size_t count = layout.rank - 2;
  require_count("pixel_box_lower_corner", pixels.lower_corner.size(), count, "rank - 2");
  require_count("pixel_box_upper_corner", pixels.upper_corner.size(), count, "rank - 2");
  constexpr auto most = std::to_array<std::int64_t>({32767, 127, 15});
  std::array<int, most.size()> lower{};
  std::array<int, most.size()> upper{};
  for (std::size_t i = 0; i < count; ++i) {
    check_corners(pixels, tensor, i, i + 1, most.at(count - 1));
    lower.at(count - 1 - i) = static_cast<int>(pixels.lower_corner[i]);
    upper.at(count - 1 - i) = static_cast<int>(pixels.upper_corner[i]);
  }
  check_pixels(pixels, tensor, options);
  TensorMapDescriptor made(tensor, options, "im2col");
  call_encoder(made.context_, "cuTensorMapEncodeIm2col", [&](const driver::DriverApi& api) {
    return api.cuTensorMapEncodeIm2col(
        map_of(made.bytes_), layout.type, layout.rank, as_pointer(tensor.address),
        layout.lengths.data(), layout.strides.data(), lower.data(), upper.data(),
        static_cast<cuuint32_t>(pixels.channels_per_pixel),
        static_cast<cuuint32_t>(pixels.pixels_per_column), layout.steps.data(), layout.interleave,
        layout.swizzle, layout.l2_promotion, layout.oob_fill);
  });
  return made;
}

TensorMapDescriptor TensorMapDescriptor::im2col_wide(const TensorMapTensor& tensor,
                                                     const TensorMapPixels& pixels,
                                                     TensorMapIm2ColWideMode mode,
                                                     const TensorMapOptions& options) {
  const Layout layout = checked_layout(tensor, options, "Im2col-wide tensor", 3);
  require_count("pixel_box_lower_corner", pixels.lower_corner.size(), 1, "of the width");
  require_count("pixel_box_upper_corner", pixels.upper_corner.size(), 1, "of the width");
  check_corners(pixels, tensor, 0, layout.rank - 2, 32767);
  check_pixels(pixels, tensor, options);
  if (options.swizzle != TensorMapSwizzle::bytes_64 &&
      options.swizzle != TensorMapSwizzle::bytes_128) {
    refuse_tensor("im2col-wide needs swizzle SWIZZLE_64B or SWIZZLE_128B");
  }
  TensorMapDescriptor made(tensor, options, "im2col_wide");
  if (const Device device = made.context_.device(); device.compute_capability().major < 10) {
    throw NotSupportedError(error::describe_device(device.id()) +
                            " has no im2col-wide, which needs compute capability 10.0 or newer");
  }
  call_encoder(made.context_, "cuTensorMapEncodeIm2colWide", [&](const driver::DriverApi& api) {
    if (api.cuTensorMapEncodeIm2colWide == nullptr) {
      driver::throw_missing_symbol("cuTensorMapEncodeIm2colWide", 12080);
    }
    return api.cuTensorMapEncodeIm2colWide(
        map_of(made.bytes_), layout.type, layout.rank, as_pointer(tensor.address),
        layout.lengths.data(), layout.strides.data(), static_cast<int>(pixels.lower_corner[0]),
        static_cast<int>(pixels.upper_corner[0]),
        static_cast<cuuint32_t>(pixels.channels_per_pixel),
        static_cast<cuuint32_t>(pixels.pixels_per_column), layout.steps.data(), layout.interleave,
        static_cast<CUtensorMapIm2ColWideMode>(mode), layout.swizzle, layout.l2_promotion,
        layout.oob_fill);
  });
  return made;
}

void TensorMapDescriptor::replace_address(CUdeviceptr address, std::shared_ptr<const void> memory) {
  require_aligned(address, interleave_);
  Bytes changed = bytes_;
  call_encoder(context_, "cuTensorMapReplaceAddress", [&](const driver::DriverApi& api) {
    return api.cuTensorMapReplaceAddress(map_of(changed), as_pointer(address));
  });
  bytes_ = changed;
  memory_ = std::move(memory);
}

std::string TensorMapDescriptor::str() const {
  return std::string("TensorMapDescriptor(") + method_ + ", rank=" + std::to_string(rank_) +
         ", dtype=" + facts_of(data_type_).name +
         ", swizzle=" + swizzle_names.at(static_cast<std::size_t>(swizzle_)) + ")";
}

}  // namespace cudacore
