// SPDX-License-Identifier: Apache-2.0
//
// Where the variables of a program lie: on the device, and in the shared memory of blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "simulator/engine/call_graph.hpp"
#include "simulator/engine/image.hpp"
#include "simulator/engine/linker.hpp"

namespace cudacore::simulator {

/// Gives each .global and .const variable its memory and its first value.
///
/// @param functions by index: what function pointers are addresses of.
/// @throws LoadError
void place_globals(ModuleLinker& linker, const Image::Allocate& allocate,
                   std::span<const std::unique_ptr<Function>> functions);

/// Static shared memory of every kernel, and where its dynamic memory begins.
class SharedLayout {
 public:
  /// Places the .shared variables: no two that a kernel reaches overlap, and each has one address
  /// for all kernels, since the code that names it may be called by several.
  ///
  /// @throws LoadError where a kernel has more than a block may have.
  SharedLayout(ModuleLinker& linker, const CallGraph& graph, const Target& target);

  /// Bytes before the dynamic ones, by function; 0 for what is no kernel.
  [[nodiscard]] std::uint32_t static_bytes(std::uint32_t function) const {
    return bytes_[function];
  }
  /// Address of dynamic shared memory as a function sees it; 0 where that depends on the kernel.
  [[nodiscard]] std::uint32_t dynamic_begin(std::uint32_t function) const {
    return dynamic_[function];
  }
  /// Address of the memory at `reserved_shared_name`; 0 where no kernel reaches it.
  [[nodiscard]] std::uint32_t reserved_begin() const { return reserved_begin_; }

 private:
  std::uint32_t reserved_begin_ = 0;
  std::vector<std::uint32_t> bytes_;
  std::vector<std::uint32_t> dynamic_;
};

}  // namespace cudacore::simulator
