// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <variant>

#include <cudacore/buffer.hpp>
#include <cudacore/mipmapped_array.hpp>
#include <cudacore/opaque_array.hpp>

namespace cudacore {

namespace owner {
struct TextureBox;
}

/// What is read at coordinates outside of the texture (CUaddress_mode).
enum class AddressMode : std::uint8_t { wrap, clamp, mirror, border };

/// Whether the nearest element is read, or a mean of the elements around (CUfilter_mode).
enum class FilterMode : std::uint8_t { point, linear };

/// Whether integers are read as they are, or as a float in [0, 1] or [-1, 1].
enum class ReadMode : std::uint8_t { element_type, normalized_float };

/// Elements that follow each other in the memory of a buffer.
struct LinearMemory {
  Buffer buffer{nullptr};
  ArrayFormat format = ArrayFormat::float32;
  int num_channels = 1;
  std::size_t size_bytes = 0;  ///< a multiple of the size of an element
};

/// Rows of elements in the memory of a buffer.
struct PitchedMemory {
  Buffer buffer{nullptr};
  ArrayFormat format = ArrayFormat::float32;
  int num_channels = 1;
  std::size_t width = 0;        ///< elements of a row
  std::size_t height = 0;       ///< rows
  std::size_t pitch_bytes = 0;  ///< from one row to the next
};

/// What a texture reads.
using TextureResource = std::variant<OpaqueArray, MipmappedArray, LinearMemory, PitchedMemory>;

/// How a texture reads it (CUDA_TEXTURE_DESC).
struct TextureObjectOptions {
  /// One for each dimension.
  std::array<AddressMode, 3> address_modes{AddressMode::clamp, AddressMode::clamp,
                                           AddressMode::clamp};
  FilterMode filter_mode = FilterMode::point;
  ReadMode read_mode = ReadMode::element_type;
  bool normalized_coords = false;  ///< from 0 to 1 instead of 0 to the length of the dimension
  bool srgb = false;               ///< values of 8 bits are sRGB, and become linear
  bool disable_trilinear_optimization = false;
  bool seamless_cubemap = false;
  unsigned max_anisotropy = 0;  ///< up to 16; 0 or 1: none
  FilterMode mipmap_filter_mode = FilterMode::point;
  float mipmap_level_bias = 0;
  float min_mipmap_level_clamp = 0;
  float max_mipmap_level_clamp = 0;
  std::array<float, 4> border_color{};  ///< what AddressMode::border reads
};

/// What a kernel takes as cudaTextureObject_t, to read an array or memory with filters.
///
/// Cheap to copy; copies share one CUtexObject, which keeps what it reads. The last one destroys
/// it, after the work that uses it. Pass handle() to launch().
class TextureObject {
 public:
  /// Makes a texture in a context (cuTexObjectCreate).
  /// @throw std::invalid_argument that says what is wrong with the resource or with the options,
  /// without a driver call.
  TextureObject(const Context& context, const TextureResource& resource,
                const TextureObjectOptions& options = {});
  explicit TextureObject(std::shared_ptr<owner::TextureBox> box) noexcept : box_(std::move(box)) {}

  /// Drops this object's share, as OpaqueArray::close() does.
  void close();
  [[nodiscard]] bool is_closed() const noexcept { return box_ == nullptr; }

  /// The CUtexObject; 0 after close(). Once it was read, the last share waits as that of an
  /// OpaqueArray does.
  [[nodiscard]] CUtexObject handle() const noexcept;
  [[nodiscard]] Context context() const;
  [[nodiscard]] Device device() const;

  [[nodiscard]] const std::shared_ptr<owner::TextureBox>& box() const noexcept { return box_; }

 private:
  std::shared_ptr<owner::TextureBox> box_;
};

}  // namespace cudacore
