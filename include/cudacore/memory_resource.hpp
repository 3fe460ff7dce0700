// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include <cudacore/buffer.hpp>
#include <cudacore/handles.hpp>
#include <cudacore/stream.hpp>

namespace cudacore {

/// Allocates buffers and takes them back. Derive from it to provide your own allocator.
///
/// Held by shared_ptr: every buffer keeps its resource alive.
class MemoryResource : public std::enable_shared_from_this<MemoryResource> {
 public:
  MemoryResource() = default;
  MemoryResource(const MemoryResource&) = delete;
  MemoryResource& operator=(const MemoryResource&) = delete;
  virtual ~MemoryResource() = default;

  /// Allocates `size` bytes, usable on `stream` at once; resources that are not stream-ordered
  /// ignore the stream.
  [[nodiscard]] virtual Buffer allocate(std::size_t size, const std::optional<Stream>& stream) = 0;
  /// The same, but only if it takes no call of the driver and no wait: a host language need not
  /// prepare for either. Unset otherwise, and on everything that allocate() refuses.
  [[nodiscard]] virtual std::optional<Buffer> try_allocate(std::size_t /*size*/,
                                                           const Stream& /*stream*/) {
    return std::nullopt;
  }
  /// Takes memory back. The last Buffer calls this. It may throw, but the Buffer's destructor only
  /// reports the exception.
  virtual void deallocate(CUdeviceptr pointer, std::size_t size,
                          const std::optional<Stream>& stream) = 0;

  [[nodiscard]] virtual bool is_device_accessible() const = 0;
  [[nodiscard]] virtual bool is_host_accessible() const = 0;
  [[nodiscard]] virtual bool is_managed() const { return false; }
  /// The device that owns the memory, or -1 if it belongs to none.
  [[nodiscard]] virtual int device_id() const = 0;
  /// Whether kernels on another device than device_id() may access its memory at an address.
  [[nodiscard]] virtual bool is_accessible_by_peer(CUdeviceptr /*pointer*/, int /*device*/) const {
    return false;
  }
  /// Whether the driver owns the memory, so that simulator::reset() frees it automatically: nothing
  /// is deallocated then.
  [[nodiscard]] virtual bool ends_with_reset() const noexcept { return false; }
};

}  // namespace cudacore
