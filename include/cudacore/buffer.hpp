// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>

#include <cudacore/handles.hpp>
#include <cudacore/stream.hpp>

namespace cudacore {

namespace owner {
struct BufferBox;
}

class MemoryResource;
struct CopyOptions;

/// A range of memory that a device, the host, or both can access.
///
/// Cheap to copy. Copies share one allocation; the last copy returns it to its memory resource,
/// ordered on the deallocation stream. Never copied implicitly between devices.
class Buffer {
 public:
  /// Wraps memory that was allocated elsewhere. With `resource`, its deallocate() is called at the
  /// end. Otherwise `owner` is kept alive until then, and nothing is freed.
  [[nodiscard]] static Buffer from_handle(CUdeviceptr pointer, std::size_t size,
                                          std::shared_ptr<MemoryResource> resource = nullptr,
                                          std::shared_ptr<void> owner = nullptr,
                                          const std::optional<Stream>& stream = std::nullopt);
  explicit Buffer(std::shared_ptr<owner::BufferBox> box) noexcept : box_(std::move(box)) {}

  /// A part of this memory, as a separate buffer. It keeps the whole allocation alive, which is
  /// released with the last part.
  /// @throw std::out_of_range if it reaches past the end.
  [[nodiscard]] Buffer slice(std::size_t offset, std::size_t size) const;

  /// Drops this object's share. The last share frees the memory, ordered on `stream` if given,
  /// otherwise on the stream of the allocation or of set_deallocation_stream().
  void close(const std::optional<Stream>& stream = std::nullopt);
  [[nodiscard]] bool is_closed() const noexcept { return box_ == nullptr; }
  /// Sets the stream that the release of the memory is ordered on.
  void set_deallocation_stream(const Stream& stream) const;

  /// The address; 0 after close().
  [[nodiscard]] CUdeviceptr handle() const noexcept;
  /// The size in bytes; 0 after close().
  [[nodiscard]] std::size_t size() const noexcept;
  /// The device that owns the memory, or -1 if none does. Wrapped memory that the driver knows,
  /// including page-locked memory, belongs to the device it was allocated on.
  [[nodiscard]] int device_id() const;
  [[nodiscard]] bool is_device_accessible() const;
  [[nodiscard]] bool is_host_accessible() const;
  [[nodiscard]] bool is_managed() const;
  [[nodiscard]] std::shared_ptr<MemoryResource> memory_resource() const;
  /// The host address of memory that the host can access.
  /// @throw std::invalid_argument if the host cannot access it.
  [[nodiscard]] std::byte* host_pointer() const;

  /// Copies size() bytes from `source`, which must have the same size, into this buffer
  /// (cuMemcpyAsync).
  void copy_from(const Buffer& source, const Stream& stream) const;
  /// The same with options, as a batch of one copy (copy_batch()).
  void copy_from(const Buffer& source, const Stream& stream, const CopyOptions& options) const;
  /// Copies from the host. The driver stages pageable memory before this returns; pinned memory
  /// must live until the stream has executed the copy.
  /// @throw std::invalid_argument if the sizes differ.
  void copy_from(std::span<const std::byte> source, const Stream& stream) const;
  /// Copies to the host; see copy_from().
  void copy_to(std::span<std::byte> destination, const Stream& stream) const;
  /// Fills with a repeated pattern of 1, 2 or 4 bytes (cuMemsetD8Async, D16, D32).
  /// @throw std::invalid_argument if the size is not a multiple of the width.
  void fill(std::uint32_t value, std::size_t width, const Stream& stream) const;

  [[nodiscard]] const std::shared_ptr<owner::BufferBox>& box() const noexcept { return box_; }

 private:
  std::shared_ptr<owner::BufferBox> box_;
};

}  // namespace cudacore
