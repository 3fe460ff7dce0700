// SPDX-License-Identifier: Apache-2.0
//
// The memory of one simulated device: a fixed number of bytes, given out in pieces.
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

/// A device's memory, reserved at once and touched only where used. It has addresses twice: where
/// device pointers point nothing can be read by the host (it faults, as with a real one), and where
/// the engine reads and writes. There is a gap between pieces, so that a step past the end of one
/// is no step into another. Pieces are filed in AddressSpace while they live; freed ones are held
/// back (quarantine) until the memory is needed, so that a use after free is seen.
class DeviceMemory {
 public:
  /// @throws std::system_error where the host gives no address space.
  DeviceMemory(int device, std::size_t capacity);
  ~DeviceMemory();
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;

  /// A piece of size bytes, at least 256-byte aligned; nothing where too little is free. Its
  /// content is undefined. size is at least 1.
  [[nodiscard]] std::optional<Allocation> allocate(std::size_t size, std::size_t align = 256,
                                                   bool read_only = false,
                                                   const void* heap = nullptr);
  /// Gives back the piece that begins at the address; false where none does.
  bool free(std::uint64_t address);

  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// Bytes not given out; a quarantined piece counts as free.
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
  std::size_t span_;  ///< bytes of addresses: more than capacity, as gaps cost none
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
