// SPDX-License-Identifier: Apache-2.0
//
// Memory of cuMemCreate: without an address, to be mapped at addresses and shared with other
// processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "simulator/api/objects.hpp"
#include "simulator/memory/memory_file.hpp"

namespace cudacore::simulator {

/// Sizes and addresses of mappings are multiples of this.
inline constexpr std::size_t mapping_granule = std::size_t{2} << 20U;

/// Owned by its handles and by its mappings.
struct PhysicalMemory {
  CUmemAllocationProp properties{};
  Device* device = nullptr;  ///< null for host memory
  std::shared_ptr<const MemoryFile> file;
  bool is_charged = false;  ///< whether it counts as memory of the device; imported memory doesn't

  PhysicalMemory() = default;
  ~PhysicalMemory();
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return file->size(); }
};

/// The live handles. Unlike other handles, they count how many times they must be released.
class MemoryHandles {
 public:
  static MemoryHandles& instance() noexcept;

  /// A new handle, or the live one of this memory, which must be released once more.
  CUmemGenericAllocationHandle give(const std::shared_ptr<PhysicalMemory>& memory);
  [[nodiscard]] std::shared_ptr<PhysicalMemory> find(CUmemGenericAllocationHandle handle) const;
  /// Memory of this process that a file is; null if there is none.
  [[nodiscard]] std::shared_ptr<PhysicalMemory> find(const MemoryFile& file) const;
  /// Returns false for a handle that is not live.
  bool release(CUmemGenericAllocationHandle handle);

 private:
  struct Entry {
    std::shared_ptr<PhysicalMemory> memory;
    std::size_t references = 0;
  };
  mutable std::mutex mutex_;
  std::unordered_map<CUmemGenericAllocationHandle, Entry> entries_;
  std::vector<std::weak_ptr<PhysicalMemory>> known_;  ///< also memory that is only mapped
  CUmemGenericAllocationHandle next_ = 0x10001;
};

/// The device of a location whose memory can be created, or that can be given access; null for the
/// host.
CUresult find_location(const CUmemLocation& location, Device*& device);

}  // namespace cudacore::simulator
