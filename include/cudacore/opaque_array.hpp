// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <cudacore/buffer.hpp>
#include <cudacore/context.hpp>
#include <cudacore/handles.hpp>

namespace cudacore {

namespace owner {
struct ArrayBox;
}

/// The type of the channels of an element (CUarray_format).
enum class ArrayFormat : std::uint8_t {
  uint8,
  uint16,
  uint32,
  int8,
  int16,
  int32,
  float16,
  float32,
};

/// The size of a channel in bytes.
[[nodiscard]] std::size_t size_of(ArrayFormat format) noexcept;

/// What an array is.
struct OpaqueArrayOptions {
  /// The width, or the width and the height, or these and the depth, in elements.
  std::vector<std::int64_t> shape{};
  ArrayFormat format = ArrayFormat::float32;
  int num_channels = 1;                ///< of an element: 1, 2 or 4
  bool is_surface_load_store = false;  ///< kernels may write it, through a SurfaceObject
};

/// Memory in an order of the driver's, in which neighbors in all dimensions are close: a CUarray.
/// It has no address. Kernels reach it through a TextureObject or a SurfaceObject, and everything
/// else by copies.
///
/// Cheap to copy; copies share one CUarray. The last one destroys it, after the work on it.
class OpaqueArray {
 public:
  /// Allocates an array in a context (cuArray3DCreate).
  /// @throw std::invalid_argument that says what is wrong with the options, without a driver call;
  /// OutOfMemoryError
  OpaqueArray(const Context& context, const OpaqueArrayOptions& options);
  explicit OpaqueArray(std::shared_ptr<owner::ArrayBox> box) noexcept : box_(std::move(box)) {}

  /// Drops this object's share. The last share waits for the work that uses it, and destroys the
  /// array; the interrupt hook can end the wait, and a background thread then destroys it.
  void close();
  [[nodiscard]] bool is_closed() const noexcept { return box_ == nullptr; }

  /// The CUarray; null after close(). Nobody knows what uses it once it was read, on which stream:
  /// the last share then waits for all work of the context.
  [[nodiscard]] CUarray handle() const noexcept;
  [[nodiscard]] Context context() const;
  [[nodiscard]] Device device() const;
  [[nodiscard]] OpaqueArrayOptions options() const;
  /// The size of an element, with all its channels, in bytes.
  [[nodiscard]] std::size_t element_bytes() const;
  /// The size of all elements in bytes, which is what copies move.
  [[nodiscard]] std::size_t size_bytes() const;

  /// Copies all elements from memory, where rows, and planes of rows, follow each other without
  /// gaps (cuMemcpy3DAsync). The source must have size_bytes() bytes.
  /// @throw std::invalid_argument if it has more or fewer, or if anything is closed.
  void copy_from(const Buffer& source, const Stream& stream) const;
  void copy_from(std::span<const std::byte> source, const Stream& stream) const;
  /// Copies all elements to memory in that order.
  /// @throw std::invalid_argument as copy_from()
  void copy_to(const Buffer& destination, const Stream& stream) const;
  void copy_to(std::span<std::byte> destination, const Stream& stream) const;

  [[nodiscard]] const std::shared_ptr<owner::ArrayBox>& box() const noexcept { return box_; }

 private:
  std::shared_ptr<owner::ArrayBox> box_;
};

}  // namespace cudacore
