// SPDX-License-Identifier: Apache-2.0
//
// The order of modifiers. PTX's manual writes one; assemblers take any that keeps the instruction's
// name in front and modifiers of one kind (types, state spaces, layouts) in their order.
#pragma once

#include <string>
#include <string_view>

namespace cudacore::simulator {

/// The words in front that no modifier may stand between: "mul.wide", "cp.async.bulk", "add".
[[nodiscard]] std::string_view name_of_instruction(std::string_view opcode) noexcept;

/// A key with its modifiers in an order of our own, the same for all orders that mean the same.
[[nodiscard]] std::string in_one_order(std::string_view key);

}  // namespace cudacore::simulator
