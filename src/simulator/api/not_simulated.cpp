// SPDX-License-Identifier: Apache-2.0
//
// The driver functions that are not simulated: each one says so, whatever its arguments. They are
// declared here without their types, which are in <cuda.h>.
#include "simulator/api/not_simulated.hpp"

#include <atomic>
#include <string>

// C functions that ignore their arguments can be called with any.
#define CUDACORE_SIMULATOR_SYMBOL(name, version, since)                        \
  extern "C" [[gnu::visibility("default")]] int name##version() {              \
    static std::atomic<bool> is_said{false};                                   \
    return cudacore::simulator::refuse_not_simulated(#name #version, is_said); \
  }
#define CUDACORE_SIMULATOR_TWINS(name, version, since, suffix, arity) \
  CUDACORE_SIMULATOR_SYMBOL(name, version, since)                     \
  CUDACORE_SIMULATOR_SYMBOL(name, version##suffix, since)
#include "simulator/api/not_simulated.def"
#undef CUDACORE_SIMULATOR_TWINS
#undef CUDACORE_SIMULATOR_SYMBOL
