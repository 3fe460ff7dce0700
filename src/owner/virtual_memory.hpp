// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <vector>

#include "driver/driver_api.hpp"
#include "driver/not_copied.hpp"

// The owners of virtual memory. Buffers that share memory share mappings:
//
//   BufferBox → VirtualBlock → MappingBox → RangeBox
//                                         → PhysicalBox

namespace cudacore::owner {

/// Memory without an address (cuMemCreate).
struct PhysicalBox : driver::NotCopied {
  CUmemGenericAllocationHandle handle = 0;
  std::size_t size = 0;  ///< 0 until the handle is one
  ~PhysicalBox();
};

/// Reserved addresses (cuMemAddressReserve), which mappings fill from the beginning.
struct RangeBox : driver::NotCopied {
  CUdeviceptr address = 0;
  std::size_t size = 0;
  std::atomic<std::size_t> used{0};  ///< bytes; what follows is free to be mapped
  ~RangeBox();
};

/// Memory at an address (cuMemMap): all of it, the last in its range.
struct MappingBox : driver::NotCopied {
  std::shared_ptr<RangeBox> range;
  std::shared_ptr<PhysicalBox> memory;
  CUdeviceptr address = 0;                ///< 0 until it is mapped
  std::vector<CUmemAccessDesc> access{};  ///< who may access it
  ~MappingBox();

  [[nodiscard]] CUdeviceptr end() const noexcept { return address + memory->size; }
};

/// The memory of a buffer: mappings without gaps. Whoever shares one shares all that precede it in
/// its range, so mappings end from the last to the first.
struct VirtualBlock {
  std::vector<std::shared_ptr<MappingBox>> mappings;
  bool is_imported = false;

  VirtualBlock() = default;
  VirtualBlock(const VirtualBlock&) = default;
  VirtualBlock& operator=(const VirtualBlock&) = delete;
  ~VirtualBlock() { end(); }
  void end() noexcept {
    while (!mappings.empty()) mappings.pop_back();
  }
  [[nodiscard]] CUdeviceptr address() const noexcept { return mappings.front()->address; }
  [[nodiscard]] std::size_t size() const noexcept { return mappings.back()->end() - address(); }
};

}  // namespace cudacore::owner
