// SPDX-License-Identifier: Apache-2.0
//
// The vector instructions of this processor, and all forms with handlers that use them.
#pragma once

#include <cstdint>
#include <string_view>

#include "simulator/engine/form_table.hpp"

namespace cudacore::simulator {

/// The vector instructions that handlers can be compiled for. On arm64, the baseline is NEON.
enum class Isa : std::uint8_t { baseline, avx2, avx512 };

/// The best one that this processor has; CUDACORE_SIMULATOR_ISA=baseline|avx2|avx512 selects a
/// lesser one.
[[nodiscard]] Isa best_isa();
[[nodiscard]] std::string_view name_of(Isa isa) noexcept;

/// Every form, with handlers for an ISA; built once. Returns nullptr if this processor lacks the
/// ISA.
[[nodiscard]] const FormTable* form_table(Isa isa);

/// Every form, with handlers for best_isa().
[[nodiscard]] const FormTable& best_forms();

}  // namespace cudacore::simulator
