// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "simulator/api/command_queue.hpp"
#include "simulator/api/memory_object.hpp"

namespace cudacore::simulator {

/// Memory that streams allocate and free in their order. What it reserves is a number: bytes come
/// from the device's memory one by one, and go back to it, so that every access is checked.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  /// Reserved memory grows and shrinks by this, as a real driver's does.
  static constexpr std::size_t chunk = std::size_t{32} << 20U;

  /// Made and known to release_unused(). device is null for memory of the host.
  static std::shared_ptr<MemoryPool> create(const CUmemPoolProps& properties, Device* device,
                                            bool is_default);
  MemoryPool(const CUmemPoolProps& properties, Device* device, bool is_default);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  const CUmemPoolProps properties;
  Device* const device;
  const bool is_default;
  CUmemoryPool handle = nullptr;

  /// Memory that is in use from now on, filed in the table; waits for frees under way where there
  /// is too little. Null where that does not help.
  std::shared_ptr<MemoryObject> allocate(std::size_t size);
  /// Notes that memory will be freed at a point, or is freed there.
  void note_free(Point point, std::size_t size);
  /// Gives memory that was taken out of the table back.
  void release(MemoryObject& object) noexcept;

  CUresult get_attribute(CUmemPool_attribute attribute, void* value) const;
  CUresult set_attribute(CUmemPool_attribute attribute, const void* value);
  /// Gives back what is reserved beyond what is used, and beyond the bytes to keep.
  void trim(std::size_t keep) noexcept;
  /// The same, beyond the release threshold.
  void release_unused() noexcept;

  [[nodiscard]] CUmemAccess_flags access(const Device& by) const;
  void set_access(const Device& by, CUmemAccess_flags flags);

  /// That a pool has memory above its threshold.
  static std::atomic<bool> has_unused;

 private:
  struct PendingFree {
    Point point;
    std::size_t size;
  };

  std::shared_ptr<MemoryObject> try_allocate(std::size_t size);
  [[nodiscard]] std::size_t pending_bytes() const;
  void set_reserved(std::size_t bytes) noexcept;

  mutable std::mutex mutex_;
  std::size_t used_ = 0;
  std::size_t used_high_ = 0;
  std::size_t reserved_ = 0;
  std::size_t reserved_high_ = 0;
  std::size_t unused_ = 0;  // as the device was told
  std::uint64_t threshold_ = 0;
  std::array<int, 3> reuse_{1, 1, 1};
  std::array<CUmemAccess_flags, 64> access_{};
  std::deque<PendingFree> pending_;
};

/// The pool that cuMemAllocAsync takes on a device.
std::shared_ptr<MemoryPool> current_pool(Device& device);
std::shared_ptr<MemoryPool> default_pool(Device& device);

}  // namespace cudacore::simulator
