// SPDX-License-Identifier: Apache-2.0
//
// The memory of one simulated device: a fixed number of bytes, allocated in pieces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "simulator/memory/address_space.hpp"

namespace cudacore::simulator {

/// A device's memory, reserved at once and touched only where it is used. It is mapped twice: at
/// the addresses of device pointers, where the host cannot access it (it faults, as with a real
/// device), and where the engine reads and writes. There is a gap between pieces, so that an access
/// past the end of one doesn't reach another. Live pieces are registered in AddressSpace. Freed
/// pieces are held back (quarantined) until the memory is needed, so that a use after free is
/// noticed.
class DeviceMemory {
 public:
  /// @throws std::system_error if the host has no address space left.
  DeviceMemory(int device, std::size_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// Allocates size bytes, aligned to at least 256 bytes; returns nothing if there is too little
  /// free memory. The content is undefined. size is at least 1.
  [[nodiscard]] std::optional<Allocation> allocate(std::size_t size, std::size_t align = 256,
                                                   bool read_only = false,
                                                   const void* heap = nullptr);
  /// Frees the piece that begins at the address; returns false if there is none.
  bool free(std::uint64_t address);

  /// Counts bytes that are stored elsewhere as memory of this device; returns false if that many
  /// are not free.
  [[nodiscard]] bool charge(std::size_t size);
  void discharge(std::size_t size) noexcept;

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// Bytes that are not allocated; a quarantined piece counts as free.
  [[nodiscard]] std::size_t available() const;
  [[nodiscard]] bool contains(std::uint64_t address) const noexcept;

 private:
  struct Quarantined {
    std::uint64_t address;
    std::size_t size;
  };

  void release(std::uint64_t address, std::size_t size);
  void release_oldest();
  void add_free(std::uint64_t address, std::size_t size);
  void remove_free(std::map<std::uint64_t, std::size_t>::iterator piece);
  [[nodiscard]] std::optional<std::uint64_t> take(std::size_t size, std::size_t align);

  int device_;
  std::size_t capacity_;
  std::size_t span_;  ///< bytes of address space: more than capacity, because gaps are free
  std::byte* reservation_ = nullptr;
  std::size_t reserved_ = 0;
  std::byte* addresses_ = nullptr;  ///< the first device pointer
  std::byte* bytes_ = nullptr;      ///< the same bytes for the engine
  mutable std::mutex mutex_;
  std::map<std::uint64_t, std::size_t> free_;                     ///< size by address
  std::set<std::pair<std::size_t, std::uint64_t>> free_by_size_;  ///< the same
  std::map<std::uint64_t, std::size_t> used_;
  std::deque<Quarantined> quarantine_;
  std::size_t quarantined_ = 0;  ///< bytes
  std::size_t in_use_ = 0;
};

}  // namespace cudacore::simulator
