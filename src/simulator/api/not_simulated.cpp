// SPDX-License-Identifier: Apache-2.0
//
// The driver's functions that are not simulated: each says so, whatever it is given. They are
// declared here without their types, which <cuda.h> has.
#include "simulator/api/not_simulated.hpp"

#include <atomic>
#include <string>

// C functions that look at no argument may be called with any.
#define CUDACORE_SIMULATOR_NOT_SIMULATED(name)                        \
  extern "C" [[gnu::visibility("default")]] int name() {              \
    static std::atomic<bool> is_said{false};                          \
    return cudacore::simulator::refuse_not_simulated(#name, is_said); \
  }
#include "simulator/api/not_simulated.def"
#undef CUDACORE_SIMULATOR_NOT_SIMULATED
