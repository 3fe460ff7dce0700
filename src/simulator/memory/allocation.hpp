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

  [[nodiscard]] std::uint64_t end() const noexcept { return address + size; }
};

}  // namespace cudacore::simulator
