// SPDX-License-Identifier: Apache-2.0
//
// Reserved ranges of addresses, and the physical memory that is mapped there.
//
// A range exists twice, like the memory of a device: where its addresses are, which the host can
// access only if it was given access, and where the engine reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "simulator/api/memory/memory_object.hpp"
#include "simulator/api/memory/physical_memory.hpp"

namespace cudacore::simulator {

class VirtualMemory {
 public:
  static VirtualMemory& instance() noexcept;

  CUresult reserve(std::uint64_t& address, std::size_t size, std::size_t align, std::uint64_t hint);
  CUresult free(std::uint64_t address, std::size_t size);
  CUresult map(std::uint64_t address, std::size_t size, std::shared_ptr<PhysicalMemory> memory);
  CUresult unmap(std::uint64_t address, std::size_t size);
  CUresult set_access(std::uint64_t address, std::size_t size,
                      const std::vector<CUmemAccessDesc>& entries);
  CUresult get_access(CUmemAccess_flags& flags, const CUmemLocation& location,
                      std::uint64_t address) const;
  /// The memory that is mapped at an address; null if there is none.
  [[nodiscard]] std::shared_ptr<PhysicalMemory> memory_at(std::uint64_t address) const;
  /// Whether the address is in a reserved range, mapped or not.
  [[nodiscard]] bool contains(std::uint64_t address) const;

 private:
  struct Mapping {
    std::size_t size = 0;
    std::byte* bytes = nullptr;
    std::shared_ptr<PhysicalMemory> memory;
    std::uint64_t readers = 0;
    std::uint64_t writers = 0;
    bool host_access = false;
  };
  struct Reservation {
    std::size_t size = 0;
    std::shared_ptr<const HostPages> addresses;
    std::shared_ptr<const HostPages> bytes;  ///< queued work shares them
  };
  using Mappings = std::map<std::uint64_t, Mapping>;

  /// Takes the addresses there if nothing else has them.
  void take_at(std::uint64_t address, Reservation& range);
  Reservation* find_reservation(std::uint64_t address, std::size_t size);
  [[nodiscard]] bool is_anything_mapped(std::uint64_t address, std::size_t size) const;
  /// Whether whole mappings fill the range without a gap.
  [[nodiscard]] bool is_mapped_whole(std::uint64_t address, std::size_t size) const;

  mutable std::mutex mutex_;
  std::map<std::uint64_t, Reservation> reservations_;
  Mappings mappings_;
  /// Ranges that were freed lately: an instruction that found its bytes before may still use them.
  std::deque<Reservation> freed_;
  std::uint64_t next_ = std::uint64_t{0x20} << 40U;  ///< where nothing has been reserved yet
};

}  // namespace cudacore::simulator
