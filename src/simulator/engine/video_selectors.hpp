// SPDX-License-Identifier: Apache-2.0
//
// Selectors of video instructions: which bytes or halves of the operands to use.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "simulator/ptx/module.hpp"

namespace cudacore::simulator {

/// Instruction::imm2 for the handler; nothing if a selector doesn't belong to the instruction. For
/// a scalar instruction: four bits for each operand, 1 to 4 for .b0 to .b3, 5 and 6 for .h0 and
/// .h1, plus 8 for a minus. For others, for element k: bit k is set if it is not written; three
/// bits from 4 + 3k on, and from 16 + 3k on, are its positions in operands a and b, xor the usual
/// ones.
[[nodiscard]] std::optional<std::uint32_t> video_modifiers(
    unsigned elements, std::span<const ptx::Operand> operands) noexcept;

}  // namespace cudacore::simulator
