// SPDX-License-Identifier: Apache-2.0
#include "cudacore/simulator.hpp"

#include "driver/driver_api.hpp"
#include "driver/shared_library.hpp"

namespace cudacore::simulator {

void enable(const Options& options) {
  driver::use_simulator({options.devices, options.major, options.minor, options.memory});
}

bool is_enabled() { return driver::simulator_chosen(); }

std::filesystem::path library() { return driver::open_simulator().path; }

}  // namespace cudacore::simulator
