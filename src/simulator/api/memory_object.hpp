// SPDX-License-Identifier: Apache-2.0
//
// What the driver knows of each allocation beyond its place in the address space.
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

/// Pages of the host, zeroed.
class HostPages {
 public:
  /// Null where the host has too little.
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

/// Who made an allocation, and so who may free it.
enum class Origin : std::uint8_t { device, pool, host, registered, managed, variable };

/// What cuMemAdvise and cuMemPrefetchAsync left with a part of managed memory.
struct Advice {
  bool read_mostly = false;
  CUmemLocation preferred{CU_MEM_LOCATION_TYPE_INVALID, {0}};
  CUmemLocation prefetched{CU_MEM_LOCATION_TYPE_INVALID, {0}};
  std::uint64_t accessed_by = 0;  ///< bit for each ordinal
  bool accessed_by_host = false;
};

struct MemoryObject {
  Allocation allocation;
  Origin origin = Origin::device;
  std::shared_ptr<Context> context;  ///< null for pools'
  Device* device = nullptr;          ///< owner; of host memory the device of the context
  std::shared_ptr<MemoryPool> pool;
  std::shared_ptr<const HostPages> pages;  ///< null for a device's; queued work shares them
  unsigned flags = 0;                      ///< as given to the call that made it
  std::atomic<bool> sync_memops{false};

  std::mutex mutex;                        ///< guards what follows
  std::map<std::uint64_t, Advice> advice;  ///< by where each part begins; empty: none was given
};

/// All live allocations by where they begin. Any thread may call anything.
class MemoryTable {
 public:
  static MemoryTable& instance() noexcept;

  void insert(std::shared_ptr<MemoryObject> object);
  [[nodiscard]] std::shared_ptr<MemoryObject> find(std::uint64_t address) const;
  /// Takes it out where accept(object) says so: one caller gets it, all others null.
  template <class Accept>
  std::shared_ptr<MemoryObject> take(std::uint64_t address, Accept&& accept) {
    const std::scoped_lock lock(mutex_);
    const auto found = objects_.find(address);
    if (found == objects_.end() || !accept(*found->second)) return nullptr;
    std::shared_ptr<MemoryObject> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }
  /// Takes out all that belongs to a context.
  std::vector<std::shared_ptr<MemoryObject>> take_all(const Context& context);
  /// Takes out all that belongs to pools.
  std::vector<std::shared_ptr<MemoryObject>> take_all_of_pools();

 private:
  template <class Accept>
  std::vector<std::shared_ptr<MemoryObject>> take_where(const Accept& accept);

  mutable std::mutex mutex_;
  std::unordered_map<std::uint64_t, std::shared_ptr<MemoryObject>> objects_;
};

/// Memory of a device; null where there is too little. Not yet in the table.
std::shared_ptr<MemoryObject> make_device_memory(Device& device, std::size_t size,
                                                 std::size_t align, bool read_only,
                                                 Context* context);
/// Pages of the host that devices read, too. Not yet in the table.
std::shared_ptr<MemoryObject> make_host_memory(MemoryKind kind, std::size_t size, Context* context);
/// Gives the bytes of what was taken out of the table back. Work on them must have ended.
void release_memory(MemoryObject& object) noexcept;

/// The object that holds the byte at an address, with its allocation as it stands now.
std::shared_ptr<MemoryObject> find_object(const Allocation& allocation);

/// Bytes of a device that are spoken for, beyond what DeviceMemory gave out.
struct DeviceUse {
  std::atomic<std::size_t> pool_reserve{0};  ///< reserved by pools, and not used
  std::atomic<std::size_t> managed{0};
};
DeviceUse& device_use(const Device& device) noexcept;
/// Bytes of a device that can still be allocated.
std::size_t free_bytes(const Device& device);

}  // namespace cudacore::simulator
