// SPDX-License-Identifier: Apache-2.0
//
// The order of modifiers. PTX's manual has one order; assemblers accept any order that starts with
// the instruction's name and keeps modifiers of one kind (types, state spaces, layouts) in their
// relative order.
#pragma once

#include <string>
#include <string_view>

namespace cudacore::simulator {

/// The words at the front that no modifier may separate: "mul.wide", "cp.async.bulk", "add".
[[nodiscard]] std::string_view name_of_instruction(std::string_view opcode) noexcept;

/// A key with its modifiers in a canonical order, which is the same for all equivalent orders.
[[nodiscard]] std::string in_one_order(std::string_view key);

}  // namespace cudacore::simulator
