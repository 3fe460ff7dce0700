// SPDX-License-Identifier: Apache-2.0
//
// What tests and benchmarks can query from the simulated device, in addition to the driver's own
// functions.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "simulator/api/cuda_api.hpp"

namespace cudacore::simulator {

/// The counter to which launches add the instructions that their threads ran; nullptr unless
/// CUDACORE_SIMULATOR_COUNT=1.
[[nodiscard]] std::atomic<std::uint64_t>* instruction_counter();

}  // namespace cudacore::simulator

extern "C" {

/// The instruction forms that the device knows, by index; engine/form_table.hpp describes keys and
/// signatures. CUDA_ERROR_NOT_FOUND past the last one. Needs no cuInit.
[[gnu::visibility("default")]] CUresult cudacoreSimulatorForm(std::size_t index, const char** key,
                                                              const char** signature);

/// How many instructions threads have run in this process if CUDACORE_SIMULATOR_COUNT=1; otherwise
/// 0.
[[gnu::visibility("default")]] std::uint64_t cudacoreSimulatorThreadInstructions();

}  // extern "C"
