// SPDX-License-Identifier: Apache-2.0
//
// Selectors of video instructions: which bytes or halves of their operands are meant.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "simulator/ptx/module.hpp"

namespace cudacore::simulator {

/// Elements of a register that a video instruction works on: 1, 2 or 4; 0 for other mnemonics.
[[nodiscard]] unsigned video_elements(std::string_view mnemonic) noexcept;

/// What Instruction::imm2 tells the handler; nothing where a selector is not of the instruction.
/// Of a scalar one: four bits for each operand, 1 to 4 for .b0 to .b3, 5 and 6 for .h0 and .h1, 8
/// more for a minus. Of others, for element k: bit k is set if it is not written; three bits from
/// 4 + 3k on, and from 16 + 3k on, are its place in operand a, and b, xor the usual one.
[[nodiscard]] std::optional<std::uint32_t> video_modifiers(
    unsigned elements, std::span<const ptx::Operand> operands) noexcept;

}  // namespace cudacore::simulator
