// SPDX-License-Identifier: Apache-2.0
//
// In which part of a function each register holds a value that is still needed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/engine/opcode_key.hpp"
#include "simulator/ptx/module.hpp"

namespace cudacore::simulator {

/// From the first to the last instruction at which a register is in use, both included. Every path
/// that the value takes is between them.
struct Life {
  std::uint32_t begin = ~std::uint32_t{0};
  std::uint32_t end = 0;

  [[nodiscard]] bool is_used() const noexcept { return begin <= end; }
  void extend(std::uint32_t at) noexcept {
    begin = at < begin ? at : begin;
    end = at > end ? at : end;
  }
};

/// Instructions that a label or a table refers to, by index; one more for the function's end.
[[nodiscard]] std::vector<bool> targets_of(const ptx::Function& function);

/// The lives of a function's registers, by index.
///
/// @param opcodes those of its instructions
[[nodiscard]] std::vector<Life> lives_of(const ptx::Function& function,
                                         std::span<const Opcode* const> opcodes,
                                         const std::vector<bool>& targets);

}  // namespace cudacore::simulator
