// SPDX-License-Identifier: Apache-2.0
//
// What the driver knows about each allocation in addition to its address range.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "simulator/api/objects.hpp"

namespace cudacore::simulator {

/// Zeroed host pages.
class HostPages {
 public:
  /// Null if the host has too little memory.
  static std::shared_ptr<const HostPages> allocate(std::size_t size);
  HostPages(std::byte* bytes, std::size_t size) noexcept : bytes_(bytes), size_(size) {}
  ~HostPages();
  HostPages(const HostPages&) = delete;
  HostPages& operator=(const HostPages&) = delete;

  [[nodiscard]] std::byte* bytes() const noexcept { return bytes_; }

 private:
  std::byte* bytes_;
  std::size_t size_;
};

/// What made an allocation, and therefore what may free it.
enum class Origin : std::uint8_t {
  device,
  pool,
  host,
  registered,
  managed,
  variable,
  graph,
  mapped
};

/// What cuMemAdvise and cuMemPrefetchAsync set for a part of managed memory.
struct Advice {
  bool read_mostly = false;
  CUmemLocation preferred{CU_MEM_LOCATION_TYPE_INVALID, {0}};
  CUmemLocation prefetched{CU_MEM_LOCATION_TYPE_INVALID, {0}};
  std::uint64_t accessed_by = 0;  ///< a bit for each ordinal
  bool accessed_by_host = false;
};

struct MemoryObject {
  Allocation allocation;
  Origin origin = Origin::device;
  std::shared_ptr<Context> context;  ///< null for memory of pools
  Device* device = nullptr;          ///< owner; for host memory, the device of the context
  std::shared_ptr<MemoryPool> pool;
  std::shared_ptr<const HostPages> pages;  ///< null for device memory; queued work shares them
  /// As passed to the call that made it; for mapped memory, the types of handles it may have.
  unsigned flags = 0;
  std::atomic<bool> sync_memops{false};

  std::mutex mutex;                        ///< guards everything below
  std::map<std::uint64_t, Advice> advice;  ///< by the start of each part; empty if none was given
};

/// All live allocations, by start address. Any thread may call any function.
class MemoryTable {
 public:
  static MemoryTable& instance() noexcept;

  void insert(std::shared_ptr<MemoryObject> object);
  [[nodiscard]] std::shared_ptr<MemoryObject> find(std::uint64_t address) const;
  /// Removes it if accept(object) returns true. One caller gets it, all others get null.
  template <class Accept>
  std::shared_ptr<MemoryObject> take(std::uint64_t address, Accept&& accept) {
    const std::scoped_lock lock(mutex_);
    const auto found = objects_.find(address);
    if (found == objects_.end() || !accept(*found->second)) return nullptr;
    std::shared_ptr<MemoryObject> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  /// Removes everything that belongs to a context.
  std::vector<std::shared_ptr<MemoryObject>> take_all(const Context& context);
  /// Removes everything that belongs to pools.
  std::vector<std::shared_ptr<MemoryObject>> take_all_of_pools();

 private:
  template <class Accept>
  std::vector<std::shared_ptr<MemoryObject>> take_where(const Accept& accept);

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<MemoryObject>> objects_;
};

/// Allocates device memory; null if there is too little. Not yet in the table.
std::shared_ptr<MemoryObject> make_device_memory(Device& device, std::size_t size,
                                                 std::size_t align, bool read_only,
                                                 Context* context);
/// Allocates host pages that devices can access, too. Not yet in the table.
std::shared_ptr<MemoryObject> make_host_memory(MemoryKind kind, std::size_t size, Context* context);
/// Frees the bytes of an object that was removed from the table. Work on them must have ended.
void release_memory(MemoryObject& object) noexcept;

/// The object for an allocation, with its current extent.
std::shared_ptr<MemoryObject> find_object(const Allocation& allocation);

/// Bytes of a device that are reserved, in addition to what DeviceMemory handed out.
struct DeviceUse {
  std::atomic<std::size_t> pool_reserve{0};  ///< reserved by pools, and unused
  std::atomic<std::size_t> managed{0};
};
DeviceUse& device_use(const Device& device) noexcept;
/// How many bytes of a device can still be allocated.
std::size_t free_bytes(const Device& device);

}  // namespace cudacore::simulator
