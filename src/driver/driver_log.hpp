// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "driver/driver_api.hpp"

namespace cudacore::driver {

/// The newest error that the driver has logged since the last call, without its time
/// (cuLogsDumpToMemory): why it rejected a call, or what a kernel did. Empty if it logged nothing
/// or keeps no log, as before CUDA 12.9.
[[nodiscard]] std::string take_driver_log(const DriverApi& api);

}  // namespace cudacore::driver
