// SPDX-License-Identifier: Apache-2.0
//
// A piece of memory that is in use.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cudacore::simulator {

enum class MemoryKind : std::uint8_t { device, pinned, managed, registered };

struct Allocation {
  std::uint64_t address = 0;
  std::size_t size = 0;
  std::byte* host = nullptr;  ///< the byte at address, as the host accesses it
  int device = -1;  ///< the owner's ordinal; -1: host memory, which every device can access
  MemoryKind kind = MemoryKind::device;
  bool read_only = false;      ///< for kernels (constants)
  std::uint64_t id = 0;        ///< unique in the process (CU_POINTER_ATTRIBUTE_BUFFER_ID)
  const void* heap = nullptr;  ///< the heap that malloc in a kernel took it from
  /// Whether it was mapped by cuMemMap: what the masks say is then all that may access it.
  bool is_mapped = false;
  std::uint64_t readers = 0;  ///< a bit for each ordinal
  std::uint64_t writers = 0;
  bool host_access = false;

  [[nodiscard]] std::uint64_t end() const noexcept { return address + size; }
  /// Whether a device may read it; `readable` has a bit for each device whose own memory it reads.
  [[nodiscard]] bool is_readable(int by, std::uint64_t readable) const noexcept {
    if (is_mapped) return (readers >> by & 1) != 0;
    return device < 0 || (device < 64 && (readable >> device & 1) != 0);
  }
  [[nodiscard]] bool is_writable(int by) const noexcept {
    return is_mapped ? (writers >> by & 1) != 0 : !read_only;
  }
  [[nodiscard]] bool has_same_access(const Allocation& other) const noexcept {
    return readers == other.readers && writers == other.writers;
  }
};

}  // namespace cudacore::simulator
