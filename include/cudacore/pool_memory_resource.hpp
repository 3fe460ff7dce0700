// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <cudacore/memory_resource.hpp>

namespace cudacore {

namespace owner {
struct PoolBox;
}
class PoolShares;

/// What stands for a pool of another process: a file descriptor, which stays the caller's.
struct PoolDescriptor {
  int number = -1;
};

/// What another process that has imported a pool needs to map memory from it.
struct PointerShare {
  std::array<std::byte, 64> data{};
  std::size_t size = 0;
};

/// The counters and settings of a memory pool (CUmemPool_attribute).
enum class PoolAttribute : int {
  reuse_follow_event_dependencies = 1,
  reuse_allow_opportunistic = 2,
  reuse_allow_internal_dependencies = 3,
  release_threshold = 4,
  reserved_mem_current = 5,
  reserved_mem_high = 6,
  used_mem_current = 7,
  used_mem_high = 8,
};

/// A resource that uses a stream-ordered memory pool (cuMemAllocFromPoolAsync, cuMemFreeAsync).
class PoolMemoryResource : public MemoryResource {
 public:
  [[nodiscard]] Buffer allocate(std::size_t size, const std::optional<Stream>& stream) override;
  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override;

  [[nodiscard]] CUmemoryPool handle() const noexcept;
  /// Whether the pool is destroyed with this object.
  [[nodiscard]] bool is_handle_owned() const noexcept;
  /// Reads a counter or a setting (cuMemPoolGetAttribute).
  [[nodiscard]] std::uint64_t attribute(PoolAttribute attribute) const;
  /// Changes a setting; the two high-water marks take only 0 (cuMemPoolSetAttribute).
  void set_attribute(PoolAttribute attribute, std::uint64_t value) const;
  /// Ends allocation: allocate() throws std::invalid_argument from now on. A pool that this object
  /// owns no longer keeps free memory; existing buffers stay usable.
  void close();
  [[nodiscard]] bool is_closed() const noexcept {
    return is_closed_.load(std::memory_order_relaxed);
  }
  /// Whether other processes may map the memory.
  [[nodiscard]] bool is_ipc_enabled() const noexcept { return shares_ != nullptr; }
  /// Whether another process has made the pool. It then allocates nothing: map_shared() maps what
  /// that process has allocated.
  [[nodiscard]] bool is_mapped() const noexcept;
  /// A descriptor that stands for the pool, for the caller to close
  /// (cuMemPoolExportToShareableHandle).
  /// @throw NotSupportedError unless other processes may map the memory, and this one made it.
  [[nodiscard]] int share_pool() const;
  /// What another process needs to map a buffer (cuMemPoolExportPointer). The memory lives only as
  /// long as the buffer in this process.
  /// @throw std::invalid_argument for a buffer of another resource, a slice, and an empty or closed
  /// buffer.
  [[nodiscard]] PointerShare share(const Buffer& buffer);
  /// Maps what share() gave in the process that made the pool (cuMemPoolImportPointer). The share
  /// is not trusted. In one process, buffers of the same share are the same memory at the same
  /// address, and the last to be released unmaps it; in the process that made it, they are the
  /// shared buffer itself.
  /// @throw std::invalid_argument for memory that is not of this pool or has another size;
  /// CUDAError for memory that has been freed.
  [[nodiscard]] Buffer map_shared(const PointerShare& share, const std::optional<Stream>& stream);

  /// Returns unused memory to the system, keeping `min_bytes_to_keep` (cuMemPoolTrimTo).
  void trim(std::size_t min_bytes_to_keep = 0) const;

  [[nodiscard]] bool ends_with_reset() const noexcept override { return true; }
  [[nodiscard]] bool is_device_accessible() const override { return true; }

 protected:
  /// `shares` is null for a pool of this process alone.
  PoolMemoryResource(std::shared_ptr<owner::PoolBox> pool,
                     std::shared_ptr<PoolShares> shares) noexcept
      : pool_(std::move(pool)), shares_(std::move(shares)) {}

 private:
  void unmap(CUdeviceptr pointer, std::size_t size, const std::optional<Stream>& stream);

  std::shared_ptr<owner::PoolBox> pool_;
  std::shared_ptr<PoolShares> shares_;
  std::atomic<bool> is_closed_{false};
};

}  // namespace cudacore
