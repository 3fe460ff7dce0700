// SPDX-License-Identifier: Apache-2.0
#include "cudacore/simulator.hpp"

#include "cudacore/error.hpp"
#include "driver/driver_api.hpp"
#include "driver/shared_library.hpp"
#include "error/check.hpp"
#include "error/sticky.hpp"
#include "owner/callback.hpp"

namespace cudacore::simulator {

void enable(const Options& options) {
  driver::use_simulator({options.devices, options.major, options.minor, options.memory});
}

void reset() {
  if (!driver::simulator_chosen()) {
    throw Error("no simulated device is in use: only that can be reset", 0, {}, {});
  }
  if (owner::in_callback()) {
    throw Error(
        "cudacore.simulator.reset() cannot be called in a host callback, which it waits for", 0, {},
        {});
  }
  const driver::DriverApi* const api = driver::api_for_cleanup();
  if (api == nullptr) return;
  using Reset = CUresult (*)();
  const auto function =
      reinterpret_cast<Reset>(driver::open_simulator().symbol("cudacoreSimulatorReset"));
  // Any thread that uses an old context meanwhile gets the error that it is lost, not that a handle
  // is wrong.
  error::forget_contexts("cudacore.simulator.reset()");
  error::check(function(), "cudacoreSimulatorReset");
  error::forget_ended_contexts("cudacore.simulator.reset()");
}

bool is_enabled() { return driver::simulator_chosen(); }
std::filesystem::path library() { return driver::open_simulator().path; }

}  // namespace cudacore::simulator
