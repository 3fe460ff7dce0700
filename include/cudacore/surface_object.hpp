// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <cudacore/opaque_array.hpp>

namespace cudacore {

namespace owner {
struct SurfaceBox;
}

/// What a kernel takes as cudaSurfaceObject_t, to read and write the elements of an array.
///
/// Cheap to copy; copies share one CUsurfObject, which keeps the array. The last one destroys it,
/// after the work that uses it. Pass handle() to launch().
class SurfaceObject {
 public:
  /// Makes a surface in the context of the array (cuSurfObjectCreate).
  /// @throw std::invalid_argument unless the array was made with is_surface_load_store.
  explicit SurfaceObject(const OpaqueArray& array);
  explicit SurfaceObject(std::shared_ptr<owner::SurfaceBox> box) noexcept : box_(std::move(box)) {}

  /// Drops this object's share, as OpaqueArray::close() does.
  void close();
  [[nodiscard]] bool is_closed() const noexcept { return box_ == nullptr; }

  /// The CUsurfObject; 0 after close(). Once it was read, the last share waits as that of an
  /// OpaqueArray does.
  [[nodiscard]] CUsurfObject handle() const noexcept;
  [[nodiscard]] Context context() const;
  [[nodiscard]] Device device() const;

  [[nodiscard]] const std::shared_ptr<owner::SurfaceBox>& box() const noexcept { return box_; }

 private:
  std::shared_ptr<owner::SurfaceBox> box_;
};

}  // namespace cudacore
