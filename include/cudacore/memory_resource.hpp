// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <cudacore/buffer.hpp>
#include <cudacore/device.hpp>
#include <cudacore/handles.hpp>
#include <cudacore/stream.hpp>

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

struct DeviceMemoryResourceOptions {
  bool ipc_enabled = false;  ///< other processes may map the memory
  std::size_t max_size = 0;  ///< maximum size of the pool in bytes; 0 for the device's own limit
};

/// A pool of device memory. Without options, it is the device's current pool, set to keep freed
/// memory; with options, a new pool.
class DeviceMemoryResource : public PoolMemoryResource {
 public:
  explicit DeviceMemoryResource(Device device,
                                const std::optional<DeviceMemoryResourceOptions>& options = {});
  /// Imports a pool of another process (cuMemPoolImportFromShareableHandle). The descriptor is not
  /// trusted.
  /// @throw CUDAError unless it stands for a pool.
  DeviceMemoryResource(Device device, PoolDescriptor descriptor);
  [[nodiscard]] bool is_host_accessible() const override { return false; }
  [[nodiscard]] int device_id() const override { return device_.id(); }
  [[nodiscard]] bool is_accessible_by_peer(CUdeviceptr pointer, int device) const override;

  /// The other devices that may access the memory, in order (cuMemPoolGetAccess).
  [[nodiscard]] std::vector<int> peers() const;
  /// Changes which other devices may access the memory, also that of existing buffers, in one call
  /// (cuMemPoolSetAccess). The pool's own device is left out.
  /// @throw NotSupportedError for a device that cannot access memory of the pool's: nothing is
  /// changed then. std::invalid_argument for a device that does not exist.
  void change_peers(const std::vector<int>& allowed, const std::vector<int>& denied) const;

 private:
  Device device_;
};

struct PinnedMemoryResourceOptions {
  bool ipc_enabled = false;  ///< other processes may map the memory
  std::size_t max_size = 0;  ///< maximum size of the pool in bytes; 0 for no limit
  /// The host NUMA node; any node if unset, or, with ipc_enabled, that of the current device.
  std::optional<int> numa_id{};
};

/// A pool of page-locked host memory that every device can access.
class PinnedMemoryResource final : public PoolMemoryResource {
 public:
  explicit PinnedMemoryResource(PinnedMemoryResourceOptions options = {});
  /// Imports a pool of another process; see DeviceMemoryResource.
  explicit PinnedMemoryResource(PoolDescriptor descriptor);
  [[nodiscard]] bool is_host_accessible() const override { return true; }
  [[nodiscard]] int device_id() const override { return -1; }
  /// The NUMA node, or -1 if none was specified.
  [[nodiscard]] int numa_id() const noexcept { return numa_id_; }

 private:
  int numa_id_;
};

/// The preferred location of managed memory.
enum class ManagedLocation : std::uint8_t { none, device, host, host_numa };

struct ManagedMemoryResourceOptions {
  /// Device or NUMA node. Without a type: a device, or -1 for the host. If a NUMA node is needed
  /// but not specified, the current device's node is used.
  std::optional<int> preferred_location{};
  ManagedLocation preferred_location_type = ManagedLocation::none;
};

/// A pool of managed memory, which moves automatically between host and devices (driver 13.0).
class ManagedMemoryResource final : public PoolMemoryResource {
 public:
  explicit ManagedMemoryResource(ManagedMemoryResourceOptions options = {});
  [[nodiscard]] bool is_host_accessible() const override { return true; }
  [[nodiscard]] bool is_managed() const override { return true; }
  [[nodiscard]] int device_id() const override;
  [[nodiscard]] const ManagedMemoryResourceOptions& options() const noexcept { return options_; }

 private:
  ManagedMemoryResourceOptions options_;
};

/// Page-locked host memory directly from cuMemAllocHost; not stream-ordered.
class LegacyPinnedMemoryResource final : public MemoryResource {
 public:
  [[nodiscard]] Buffer allocate(std::size_t size, const std::optional<Stream>& stream) override;
  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override;
  [[nodiscard]] bool is_device_accessible() const override { return true; }
  [[nodiscard]] bool is_host_accessible() const override { return true; }
  [[nodiscard]] int device_id() const override { return -1; }
  [[nodiscard]] bool ends_with_reset() const noexcept override { return true; }
};

/// Device memory directly from cuMemAlloc, for devices without pools; not stream-ordered.
class SynchronousMemoryResource final : public MemoryResource {
 public:
  explicit SynchronousMemoryResource(Device device) : device_(device) {}
  [[nodiscard]] Buffer allocate(std::size_t size, const std::optional<Stream>& stream) override;
  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override;
  [[nodiscard]] bool is_device_accessible() const override { return true; }
  [[nodiscard]] bool is_host_accessible() const override { return false; }
  [[nodiscard]] int device_id() const override { return device_.id(); }
  [[nodiscard]] bool ends_with_reset() const noexcept override { return true; }

 private:
  Device device_;
};

}  // namespace cudacore
