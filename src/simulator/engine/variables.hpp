// SPDX-License-Identifier: Apache-2.0
//
// Where the variables of a program are placed: on the device, and in the shared memory of blocks.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "simulator/engine/call_graph.hpp"
#include "simulator/engine/image.hpp"
#include "simulator/engine/linker.hpp"

namespace cudacore::simulator {

/// Allocates and initializes each .global and .const variable.
///
/// @param functions by index: what function pointers are addresses of.
/// @throws LoadError
void place_globals(ModuleLinker& linker, const Image::Allocate& allocate,
                   std::span<const std::unique_ptr<Function>> functions);

/// The static shared memory of every kernel, and where its dynamic memory begins.
class SharedLayout {
 public:
  /// Places the .shared variables. No two variables that the same kernel reaches overlap, and each
  /// has the same address in all kernels, because several kernels may call the code that refers to
  /// it.
  ///
  /// @throws LoadError if a kernel needs more than a block can have.
  SharedLayout(ModuleLinker& linker, const CallGraph& graph, const Target& target);

  /// Bytes before the dynamic memory, by function; 0 if it is not a kernel.
  [[nodiscard]] std::uint32_t static_bytes(std::uint32_t function) const {
    return bytes_[function];
  }
  /// The address of dynamic shared memory as a function sees it; 0 if that depends on the kernel.
  [[nodiscard]] std::uint32_t dynamic_begin(std::uint32_t function) const {
    return dynamic_[function];
  }
  /// The address of the memory for `reserved_shared_name`; 0 if no kernel reaches it.
  [[nodiscard]] std::uint32_t reserved_begin() const { return reserved_begin_; }

 private:
  std::uint32_t reserved_begin_ = 0;
  std::vector<std::uint32_t> bytes_;
  std::vector<std::uint32_t> dynamic_;
};

}  // namespace cudacore::simulator
