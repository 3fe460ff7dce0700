// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>

#include "simulator/api/memory/memory_object.hpp"
#include "simulator/api/memory/pool_file.hpp"
#include "simulator/api/stream/command_queue.hpp"

namespace cudacore::simulator {

/// Memory that is allocated and freed in stream order. The reserved size is only a number:
/// allocations come from the device's memory one by one, and go back to it, so that every access is
/// checked. Those of a pool that processes share come from its file.
class MemoryPool : public std::enable_shared_from_this<MemoryPool> {
 public:
  /// Reserved memory grows and shrinks in steps of this size, as with a real driver.
  static constexpr std::size_t chunk = std::size_t{32} << 20U;

  /// Creates a pool that release_unused() knows about. device is null for host memory, file for a
  /// pool of this process alone.
  static std::shared_ptr<MemoryPool> create(const CUmemPoolProps& properties, Device* device,
                                            bool is_default,
                                            std::shared_ptr<PoolFile> file = nullptr);
  MemoryPool(const CUmemPoolProps& properties, Device* device, bool is_default,
             std::shared_ptr<PoolFile> file);
  ~MemoryPool();
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;

  const CUmemPoolProps properties;
  Device* const device;
  const bool is_default;
  const std::shared_ptr<PoolFile> file;
  CUmemoryPool handle = nullptr;
  /// Whether cuMemPoolExportToShareableHandle was called, before which no pointer is exported.
  std::atomic<bool> is_exported = false;

  /// Whether another process allocates the memory.
  [[nodiscard]] bool is_imported() const noexcept { return file != nullptr && file->is_imported; }

  /// Allocates memory and adds it to the table. If there is too little, waits for pending frees;
  /// null if that doesn't help.
  std::shared_ptr<MemoryObject> allocate(std::size_t size);
  /// Adds a piece of the file to the table.
  std::shared_ptr<MemoryObject> add_piece(std::size_t offset, std::size_t size);
  /// Records that memory will be freed at a point, or has been freed there.
  void note_free(Point point, std::size_t size);
  /// Frees memory that was removed from the table.
  void release(MemoryObject& object) noexcept;

  CUresult get_attribute(CUmemPool_attribute attribute, void* value) const;
  CUresult set_attribute(CUmemPool_attribute attribute, const void* value);
  /// Returns reserved but unused memory, except for the bytes to keep.
  void trim(std::size_t keep) noexcept;
  /// The same, for memory above the release threshold.
  void release_unused() noexcept;

  [[nodiscard]] CUmemAccess_flags access(const Device& by) const;
  void set_access(const Device& by, CUmemAccess_flags flags);

  /// Whether a pool has memory above its threshold.
  static std::atomic<bool> has_unused;

 private:
  struct PendingFree {
    Point point;
    std::size_t size;
  };

  std::shared_ptr<MemoryObject> try_allocate(std::size_t size);
  std::shared_ptr<MemoryObject> make_object(std::size_t size, std::size_t takes);
  void add(const std::shared_ptr<MemoryObject>& object);
  std::shared_ptr<MemoryObject> make_piece(std::size_t offset, std::size_t size);
  [[nodiscard]] std::size_t pending_bytes() const;
  void set_reserved(std::size_t bytes) noexcept;

  mutable std::mutex mutex_;
  std::size_t used_ = 0;
  std::size_t used_high_ = 0;
  std::size_t reserved_ = 0;
  std::size_t reserved_high_ = 0;
  std::size_t unused_ = 0;  // as reported to the device
  std::uint64_t threshold_ = 0;
  std::array<int, 3> reuse_{1, 1, 1};
  std::array<CUmemAccess_flags, 64> access_{};
  std::deque<PendingFree> pending_;
};

/// The pool that cuMemAllocAsync uses on a device.
std::shared_ptr<MemoryPool> current_pool(Device& device);
std::shared_ptr<MemoryPool> default_pool(Device& device);
/// A bit for each device some of whose pools have been opened to kernels of another one: its
/// primary context needs them when it is made. The reader's lock must be held.
std::uint64_t devices_open_to(const Device& reader) noexcept;

}  // namespace cudacore::simulator
