// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "cudacore/device.hpp"
#include "owner/virtual_memory.hpp"

namespace cudacore {

/// Addresses that nothing else has, to stand in for the memory of an argument while work on it is
/// captured: whatever has such an address comes from the argument. The driver takes them for memory
/// of the device, but a little memory is behind all of them, over and over.
class StandInMemory : driver::NotCopied {
 public:
  /// @throw Error; NotSupportedError if the device has no virtual memory.
  StandInMemory(Device device, std::size_t size, std::size_t offset);

  /// Differs from a multiple of 256 by `offset`, which is less than that.
  [[nodiscard]] CUdeviceptr address() const noexcept { return address_; }
  /// Where the addresses begin and end; there is room around the memory.
  [[nodiscard]] CUdeviceptr begin() const noexcept { return block_.address(); }
  [[nodiscard]] CUdeviceptr end() const noexcept { return block_.address() + block_.size(); }

  static constexpr std::size_t alignment = 256;

 private:
  owner::VirtualBlock block_;
  CUdeviceptr address_ = 0;
};

}  // namespace cudacore
