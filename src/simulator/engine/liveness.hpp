// SPDX-License-Identifier: Apache-2.0
//
// From where to where in a function each register holds a value that is still needed.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "simulator/engine/opcode_key.hpp"
#include "simulator/ptx/module.hpp"

namespace cudacore::simulator {

/// The instructions from the first to the last at which a register is in use; both included. Every
/// path that the value takes lies between them.
struct Life {
  std::uint32_t begin = ~std::uint32_t{0};
  std::uint32_t end = 0;

  [[nodiscard]] bool is_used() const noexcept { return begin <= end; }
  void extend(std::uint32_t at) noexcept {
    begin = at < begin ? at : begin;
    end = at > end ? at : end;
  }
};

/// Instructions that a label or a table names, by index; one more for the function's end.
[[nodiscard]] std::vector<bool> targets_of(const ptx::Function& function);

/// Lives of a function's registers, by index.
///
/// @param opcodes of its instructions
[[nodiscard]] std::vector<Life> lives_of(const ptx::Function& function,
                                         std::span<const Opcode* const> opcodes,
                                         const std::vector<bool>& targets);

}  // namespace cudacore::simulator
