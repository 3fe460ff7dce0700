// SPDX-License-Identifier: Apache-2.0
//
// The runtime functions that are not simulated: each one says so, whatever its arguments. They are
// defined here without their types, which are in the runtime's headers.
#include <atomic>

#include "simulator/runtime/call.hpp"

namespace cudacore::runtime {

namespace {

cudaError_t refuse_not_simulated(const char* function, std::atomic<bool>& is_said) noexcept {
  return driver_call([&]() -> Result {
    if (is_said.exchange(true)) return cudaErrorNotSupported;
    return refuse(cudaErrorNotSupported, std::string(function) + " is not simulated");
  });
}

}  // namespace

// C functions that ignore their arguments can be called with any.
#define CUDACORE_RUNTIME_NOT_SIMULATED(name)     \
  extern "C" cudaError_t name() {                \
    static std::atomic<bool> is_said{false};     \
    return refuse_not_simulated(#name, is_said); \
  }
#include "simulator/runtime/not_simulated.def"
#undef CUDACORE_RUNTIME_NOT_SIMULATED

}  // namespace cudacore::runtime
