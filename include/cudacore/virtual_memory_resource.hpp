// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <cudacore/device.hpp>
#include <cudacore/memory_resource.hpp>

// Memory whose addresses and bytes are managed apart from each other, so that a buffer can grow and
// keep its contents, and its address if the addresses behind it are free.
//
// Nothing here is ordered on a stream: memory is usable at once, and before it is released, the
// buffer's deallocation stream is waited for.

namespace cudacore {

namespace owner {
struct VirtualBlock;
}

enum class VirtualAllocation : std::uint8_t { pinned, managed };
enum class VirtualLocation : std::uint8_t { device, host, host_numa, host_numa_current };
/// What physical memory can be exported as.
enum class VirtualHandle : std::uint8_t { none, posix_fd, win32_kmt, fabric };
enum class VirtualGranularity : std::uint8_t { minimum, recommended };
enum class VirtualAccess : std::uint8_t { none, read, read_write };

struct VirtualMemoryResourceOptions {
  VirtualAllocation allocation_type = VirtualAllocation::pinned;
  VirtualLocation location_type = VirtualLocation::device;
  VirtualHandle handle_type = VirtualHandle::posix_fd;
  VirtualGranularity granularity = VirtualGranularity::recommended;
  bool gpu_direct_rdma = false;
  std::optional<std::size_t> addr_hint =
      0;  ///< where to reserve addresses if they are free; 0: anywhere
  std::optional<std::size_t> addr_align{};  ///< a power of two; the granularity if unset
  std::vector<int> peers{};                 ///< devices that may access the memory as well
  VirtualAccess self_access = VirtualAccess::read_write;  ///< of the device, or the host
  VirtualAccess peer_access = VirtualAccess::read_write;

  bool operator==(const VirtualMemoryResourceOptions&) const = default;
};

/// Memory that another process can map, by a descriptor of a file.
struct MemoryShare {
  int descriptor = -1;
  std::size_t size = 0;
};

/// Allocates virtual memory (cuMemCreate, cuMemAddressReserve, cuMemMap, cuMemSetAccess).
class VirtualMemoryResource final : public MemoryResource {
 public:
  /// @throw NotSupportedError if the device lacks what the options ask for; std::invalid_argument
  /// for options that contradict each other.
  explicit VirtualMemoryResource(Device device, VirtualMemoryResourceOptions options = {});

  /// Allocates at least `size` bytes: a multiple of the granularity. If anything fails, nothing
  /// stays allocated.
  [[nodiscard]] Buffer allocate(std::size_t size, const std::optional<Stream>& stream) override;
  /// Releases memory that allocate() or modify_allocation() gave, after the work on the stream.
  /// Buffers call it.
  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override;
  /// Gives a buffer of at least `new_size` bytes, and at least the buffer's, that begins with the
  /// same memory: at the same address if the addresses behind are free, otherwise at a new one.
  /// Nothing is copied. Both buffers stay usable, and the memory lives until both are closed.
  ///
  /// `options` replace this resource's: new memory is made by them, and access to the whole buffer
  /// becomes what they say. If anything fails, everything is as before.
  /// @throw std::invalid_argument if the buffer is not from this resource, is a slice, or is
  /// closed, and for another location.
  [[nodiscard]] Buffer modify_allocation(
      const Buffer& buffer, std::size_t new_size,
      const std::optional<VirtualMemoryResourceOptions>& options = std::nullopt);

  /// The parts of a buffer's memory, in the order of addresses (cuMemExportToShareableHandle). The
  /// caller closes the descriptors. It takes handle_type posix_fd.
  [[nodiscard]] std::vector<MemoryShare> share(const Buffer& buffer) const;
  /// Maps what share() gave in another process, or in this one (cuMemImportFromShareableHandle).
  /// The descriptors stay the caller's. They are not trusted: what doesn't come from a driver, or
  /// has another size, is refused.
  [[nodiscard]] Buffer map_shared(const std::vector<MemoryShare>& parts,
                                  const std::optional<Stream>& stream);
  /// Whether a buffer comes from map_shared(), or has grown from one that does.
  [[nodiscard]] bool is_mapped(const Buffer& buffer) const;

  /// The device that the memory belongs to, or, if it is the host's, that options are checked for.
  [[nodiscard]] Device device() const noexcept { return device_; }
  /// A copy of the options in use.
  [[nodiscard]] VirtualMemoryResourceOptions options() const;

  [[nodiscard]] bool is_device_accessible() const override;
  [[nodiscard]] bool is_host_accessible() const override;
  /// -1 for host memory.
  [[nodiscard]] int device_id() const override;
  [[nodiscard]] bool is_accessible_by_peer(CUdeviceptr pointer, int device) const override;

 private:
  using Key = std::pair<CUdeviceptr, std::size_t>;

  Buffer make_buffer(std::shared_ptr<owner::VirtualBlock> block,
                     const std::optional<Stream>& stream);
  /// Null for an empty buffer.
  [[nodiscard]] std::shared_ptr<owner::VirtualBlock> find_block(const Buffer& buffer,
                                                                const char* function) const;

  Device device_;
  std::mutex growing_;        ///< held while a buffer grows; taken before the other one
  mutable std::mutex mutex_;  ///< guards everything below
  VirtualMemoryResourceOptions options_;
  std::map<Key, std::shared_ptr<owner::VirtualBlock>> blocks_;
};

}  // namespace cudacore
