// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cudacore/context.hpp>

namespace cudacore {

/// The element types that the Tensor Memory Accelerator (TMA) knows (CUtensorMapDataType).
enum class TensorMapDataType : std::uint8_t {
  uint8,
  uint16,
  uint32,
  int32,
  uint64,
  int64,
  float16,
  float32,
  float64,
  bfloat16,
  float32_ftz,   ///< float32 whose subnormal numbers become zero
  tfloat32,      ///< float32, of which TF32's bits are copied
  tfloat32_ftz,  ///< the same, with subnormal numbers becoming zero
};

/// Whether the innermost dimension is split into slices of 16 or 32 bytes (CUtensorMapInterleave).
enum class TensorMapInterleave : std::uint8_t { none, bytes_16, bytes_32 };

/// The spans of shared memory within which pieces of 16 bytes change places, so that columns
/// cause no bank conflicts (CUtensorMapSwizzle).
enum class TensorMapSwizzle : std::uint8_t { none, bytes_32, bytes_64, bytes_128 };

/// How much the L2 cache fetches at once (CUtensorMapL2promotion).
enum class TensorMapL2Promotion : std::uint8_t { none, bytes_64, bytes_128, bytes_256 };

/// What is read outside of the tensor: zeros, or a special NaN (CUtensorMapFloatOOBfill).
enum class TensorMapOOBFill : std::uint8_t { none, nan_request_zero_fma };

/// Which pixels im2col-wide loads (CUtensorMapIm2ColWideMode).
enum class TensorMapIm2ColWideMode : std::uint8_t { w, w128 };

/// The tensor in memory that a descriptor describes. As in C and NumPy, the last dimension is the
/// innermost one; the driver's functions and PTX count from the other end.
struct TensorMapTensor {
  CUdeviceptr address = 0;
  std::vector<std::int64_t> shape{};
  std::vector<std::int64_t> strides{};  ///< in elements; empty: C order
  TensorMapDataType data_type = TensorMapDataType::uint8;
  std::shared_ptr<const void> memory{};  ///< lives as long as the descriptor; may be null
};

/// What all kinds of descriptors have in common.
struct TensorMapOptions {
  std::vector<std::int64_t> element_strides{};  ///< steps, for each dimension; empty: 1
  TensorMapInterleave interleave = TensorMapInterleave::none;
  TensorMapSwizzle swizzle = TensorMapSwizzle::none;
  TensorMapL2Promotion l2_promotion = TensorMapL2Promotion::none;
  TensorMapOOBFill oob_fill = TensorMapOOBFill::none;
};

/// The pixels that an im2col descriptor loads of a tensor of shape (N, ..., C).
struct TensorMapPixels {
  std::vector<std::int64_t> lower_corner{};  ///< for each dimension but N and C
  std::vector<std::int64_t> upper_corner{};
  std::int64_t channels_per_pixel = 0;
  std::int64_t pixels_per_column = 0;
};

/// Describes a tensor to TMA, for devices of compute capability 9.0 and newer: the 128 bytes that
/// a kernel takes as `const __grid_constant__ CUtensorMap`.
///
/// A plain value: pass bytes() to launch(). It shares the tensor's memory, and belongs to the
/// context that was current when it was made. All is checked before the driver is asked; the
/// functions throw std::invalid_argument that says what is wrong, and NotSupportedError for a
/// device without TMA.
class TensorMapDescriptor {
 public:
  /// What the kernel takes. Opaque; only the driver and PTX know what it means.
  struct alignas(64) Bytes {
    std::array<std::uint64_t, 16> opaque{};
  };

  /// A descriptor whose copies move boxes of `box_dim` elements, a number for each dimension
  /// (cuTensorMapEncodeTiled).
  [[nodiscard]] static TensorMapDescriptor tiled(const TensorMapTensor& tensor,
                                                 std::span<const std::int64_t> box_dim,
                                                 const TensorMapOptions& options = {});
  /// A descriptor whose copies load columns of pixels, as convolutions need them
  /// (cuTensorMapEncodeIm2col).
  [[nodiscard]] static TensorMapDescriptor im2col(const TensorMapTensor& tensor,
                                                  const TensorMapPixels& pixels,
                                                  const TensorMapOptions& options = {});
  /// The same along the dimension W only, of which `pixels` has the corners. It needs compute
  /// capability 10.0, a driver for CUDA 12.8, and swizzling of 64 or 128 bytes
  /// (cuTensorMapEncodeIm2colWide).
  [[nodiscard]] static TensorMapDescriptor im2col_wide(const TensorMapTensor& tensor,
                                                       const TensorMapPixels& pixels,
                                                       TensorMapIm2ColWideMode mode,
                                                       const TensorMapOptions& options);

  /// Describes other memory with the same layout (cuTensorMapReplaceAddress). Launches that were
  /// queued before keep the old address. On failure, nothing changes.
  void replace_address(CUdeviceptr address, std::shared_ptr<const void> memory = nullptr);

  [[nodiscard]] const Bytes& bytes() const noexcept { return bytes_; }
  [[nodiscard]] const Context& context() const noexcept { return context_; }
  [[nodiscard]] const std::shared_ptr<const void>& memory() const noexcept { return memory_; }
  /// "TensorMapDescriptor(tiled, rank=2, dtype=FLOAT32, swizzle=NONE)"
  [[nodiscard]] std::string str() const;

 private:
  TensorMapDescriptor(const TensorMapTensor& tensor, const TensorMapOptions& options,
                      const char* method);

  Bytes bytes_;
  Context context_;
  std::shared_ptr<const void> memory_;
  const char* method_;
  std::size_t rank_;
  TensorMapDataType data_type_;
  TensorMapInterleave interleave_;
  TensorMapSwizzle swizzle_;
};

/// The size of an element in bytes.
[[nodiscard]] std::size_t size_of(TensorMapDataType type) noexcept;

}  // namespace cudacore
