// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <utility>

#include <cudacore/buffer.hpp>
#include <cudacore/device.hpp>
#include <cudacore/handles.hpp>

namespace cudacore {

namespace owner {
struct ExternalMemoryBox;
}

/// Memory that Vulkan, or another API, allocated and exported, imported into a device.
///
/// Cheap to copy. The import ends when the last copy, and all buffers mapped from it, are gone.
class ExternalMemory {
 public:
  /// Imports memory into the current context (cuImportExternalMemory).
  /// @param fd an opaque file descriptor, such as VkGetMemoryFdKHR gives; it stays the caller's
  /// @param size the bytes that were allocated
  /// @param is_dedicated whether they are one image's or buffer's own, as in
  /// VkMemoryDedicatedAllocateInfo
  /// @throw std::invalid_argument if `fd` is not an open file or `size` is 0; Error
  [[nodiscard]] static ExternalMemory from_fd(int fd, std::size_t size, bool is_dedicated = false);

  explicit ExternalMemory(std::shared_ptr<owner::ExternalMemoryBox> box) noexcept
      : box_(std::move(box)) {}

  /// Drops this object's share; using it later throws std::invalid_argument.
  void close() noexcept { box_.reset(); }
  [[nodiscard]] bool is_closed() const noexcept { return box_ == nullptr; }

  [[nodiscard]] CUexternalMemory handle() const;
  [[nodiscard]] std::size_t size() const;
  [[nodiscard]] Device device() const;
  /// A part as a buffer (cuExternalMemoryGetMappedBuffer). It keeps the import. When its last copy
  /// is gone, it is unmapped (cuMemFree) once the device has done its work.
  /// @throw std::out_of_range if the part reaches past the end; std::invalid_argument if it is
  /// empty
  [[nodiscard]] Buffer map_buffer(std::size_t offset, std::size_t size) const;

  [[nodiscard]] const std::shared_ptr<owner::ExternalMemoryBox>& box() const noexcept {
    return box_;
  }

 private:
  std::shared_ptr<owner::ExternalMemoryBox> box_;
};

}  // namespace cudacore
