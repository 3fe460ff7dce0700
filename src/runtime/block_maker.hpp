// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "owner/virtual_memory.hpp"
#include "runtime/context_call.hpp"
#include "runtime/virtual_memory_options.hpp"

// How blocks of virtual memory are made. If a call fails, what was made before is given back.

namespace cudacore {

/// The driver calls for memory of some options, which must outlive it.
class BlockMaker {
 public:
  BlockMaker(const VirtualMemoryResourceOptions& options, Device device);

  /// Memory that is not shared with any other block.
  [[nodiscard]] std::shared_ptr<owner::VirtualBlock> make(std::size_t size) const;
  /// A block of the same memory and more: behind it if possible, otherwise with everything mapped
  /// anew, and with addresses for the next growth.
  [[nodiscard]] std::shared_ptr<owner::VirtualBlock> grow(const owner::VirtualBlock& block,
                                                          std::size_t more) const;
  /// What another process shares, or this one. Nothing that it says is taken for granted.
  [[nodiscard]] std::shared_ptr<owner::VirtualBlock> import_shared(
      const std::vector<MemoryShare>& parts) const;
  /// Changes access to a block's memory; if that fails, to what it was before. The caller notes it
  /// in the mappings.
  void change_access(const owner::VirtualBlock& block) const;
  /// Who may access memory of these options.
  [[nodiscard]] const std::vector<CUmemAccessDesc>& access() const noexcept { return access_; }

 private:
  [[nodiscard]] std::shared_ptr<owner::PhysicalBox> create(std::size_t size) const;
  [[nodiscard]] std::shared_ptr<owner::RangeBox> reserve(std::size_t size, std::size_t hint) const;
  [[nodiscard]] std::shared_ptr<owner::RangeBox> reserve_behind(const owner::MappingBox& last,
                                                                std::size_t size) const;
  void require_same_place(const owner::PhysicalBox& memory) const;
  void map(owner::VirtualBlock& block, const std::shared_ptr<owner::RangeBox>& range,
           const std::shared_ptr<owner::PhysicalBox>& memory) const;
  void allow(CUdeviceptr address, std::size_t size) const;
  /// One driver call, for a mapping.
  [[nodiscard]] CUresult set_access(const owner::MappingBox& mapping,
                                    const std::vector<CUmemAccessDesc>& before,
                                    const std::vector<CUmemAccessDesc>& after) const;
  [[nodiscard]] std::size_t rounded(std::size_t size) const;
  void check(CUresult result, const char* function, std::size_t size) const;

  const VirtualMemoryResourceOptions& options_;
  Device device_;
  ContextCall call_;
  CUmemAllocationProp properties_;
  std::vector<CUmemAccessDesc> access_;
  std::size_t granularity_ = 0;
};

/// Descriptors of a block's memory, in the order of addresses, for the caller to close.
[[nodiscard]] std::vector<MemoryShare> share_block(const owner::VirtualBlock& block);

}  // namespace cudacore
