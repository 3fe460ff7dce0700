// SPDX-License-Identifier: Apache-2.0
//
// How messages name the code that runs.
#pragma once

#include <string>
#include <string_view>

#include "simulator/engine/image.hpp"
#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {

/// "saxpy(float, float*)": a C++ name as it was written; other names unchanged.
[[nodiscard]] std::string demangle(const std::string& name);

/// "block (1,0,0)"
[[nodiscard]] std::string describe_block(const Block& block);

/// "ld.global.f32 at PTX line 24 (saxpy.cu:3)"
[[nodiscard]] std::string describe_place(const Function& function, const Instruction& instruction);

}  // namespace cudacore::simulator
