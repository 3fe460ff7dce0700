// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <cudacore/opaque_array.hpp>

namespace cudacore {

namespace owner {
struct MipmapBox;
}

/// What a mipmapped array is; the shape is that of level 0.
struct MipmappedArrayOptions : OpaqueArrayOptions {
  int num_levels = 1;
};

/// An image in several sizes, of which each level halves all dimensions of the one before, down to
/// 1: a CUmipmappedArray.
///
/// Cheap to copy; copies, levels and textures share one CUmipmappedArray. The last one destroys it,
/// after the work on it.
class MipmappedArray {
 public:
  /// Allocates all levels in a context (cuMipmappedArrayCreate).
  /// @throw std::invalid_argument that says what is wrong with the options, without a driver call;
  /// OutOfMemoryError
  MipmappedArray(const Context& context, const MipmappedArrayOptions& options);
  explicit MipmappedArray(std::shared_ptr<owner::MipmapBox> box) noexcept : box_(std::move(box)) {}

  /// Drops this object's share, as OpaqueArray::close() does.
  void close();
  [[nodiscard]] bool is_closed() const noexcept { return box_ == nullptr; }

  /// The CUmipmappedArray; null after close(). Once it was read, the last share waits as that of an
  /// OpaqueArray does.
  [[nodiscard]] CUmipmappedArray handle() const noexcept;
  [[nodiscard]] Context context() const;
  [[nodiscard]] Device device() const;
  [[nodiscard]] MipmappedArrayOptions options() const;

  /// A level, as an array of its own, which keeps all levels (cuMipmappedArrayGetLevel).
  /// @throw std::invalid_argument if there is no such level.
  [[nodiscard]] OpaqueArray get_level(int level) const;

  [[nodiscard]] const std::shared_ptr<owner::MipmapBox>& box() const noexcept { return box_; }

 private:
  std::shared_ptr<owner::MipmapBox> box_;
};

}  // namespace cudacore
