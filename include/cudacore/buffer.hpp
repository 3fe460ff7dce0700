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

namespace handle {
struct BufferBox;
}

class MemoryResource;

/// A range of memory that a device, the host, or both can reach.
///
/// A cheap value; copies share one allocation, which goes back to its memory resource with the last
/// of them, ordered on the deallocation stream. Not copied implicitly between devices.
class Buffer {
 public:
  /// Wraps memory that somebody else allocated. With `resource`, its deallocate() is called at the
  /// end; else `owner` is kept alive until then and nothing is freed.
  [[nodiscard]] static Buffer from_handle(CUdeviceptr pointer, std::size_t size,
                                          std::shared_ptr<MemoryResource> resource = nullptr,
                                          std::shared_ptr<void> owner = nullptr,
                                          std::optional<Stream> stream = std::nullopt);
  explicit Buffer(std::shared_ptr<handle::BufferBox> box) noexcept : box_(std::move(box)) {}

  /// A part of this memory, as a buffer of its own: it keeps the whole, which goes back with the
  /// last share of any part.
  /// @throw std::out_of_range where it reaches past the end.
  [[nodiscard]] Buffer slice(std::size_t offset, std::size_t size) const;

  /// Drops this object's share; the last share frees the memory, ordered on `stream` where given,
  /// else on the stream of the allocation or of set_deallocation_stream().
  void close(const std::optional<Stream>& stream = std::nullopt);
  [[nodiscard]] bool is_closed() const noexcept { return box_ == nullptr; }
  /// The stream that the memory's release will be ordered on.
  void set_deallocation_stream(const Stream& stream) const;

  /// The address; 0 after close().
  [[nodiscard]] CUdeviceptr handle() const noexcept;
  /// Bytes; 0 after close().
  [[nodiscard]] std::size_t size() const noexcept;
  /// The device that owns the memory, -1 where none does. Wrapped memory that the driver knows,
  /// page-locked memory too, belongs to the device it was made on.
  [[nodiscard]] int device_id() const;
  [[nodiscard]] bool is_device_accessible() const;
  [[nodiscard]] bool is_host_accessible() const;
  [[nodiscard]] bool is_managed() const;
  [[nodiscard]] std::shared_ptr<MemoryResource> memory_resource() const;
  /// The host address of memory that the host can reach.
  /// @throw std::invalid_argument where it cannot.
  [[nodiscard]] std::byte* host_pointer() const;

  /// Copies size() bytes of `source`, which must be as large, into this buffer (cuMemcpyAsync).
  void copy_from(const Buffer& source, const Stream& stream) const;
  /// Copies from the host. Pageable memory is staged by the driver before this returns; pinned
  /// memory must live until the stream has passed the copy.
  /// @throw std::invalid_argument where the sizes differ.
  void copy_from(std::span<const std::byte> source, const Stream& stream) const;
  /// Copies to the host; see copy_from().
  void copy_to(std::span<std::byte> destination, const Stream& stream) const;
  /// Fills with a repeated 1, 2 or 4 byte pattern (cuMemsetD8Async, D16, D32).
  /// @throw std::invalid_argument where the size is no multiple of the width.
  void fill(std::uint32_t value, std::size_t width, const Stream& stream) const;

  [[nodiscard]] const std::shared_ptr<handle::BufferBox>& box() const noexcept { return box_; }

 private:
  std::shared_ptr<handle::BufferBox> box_;
};

}  // namespace cudacore
