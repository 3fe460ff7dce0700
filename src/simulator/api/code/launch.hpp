// SPDX-License-Identifier: Apache-2.0
//
// Launches that were checked: what streams, captures and graphs do with a kernel.
#pragma once

#include <cstdint>
#include <memory>

#include "simulator/api/code/launch_shape.hpp"
#include "simulator/api/stream/command_queue.hpp"
#include "simulator/engine/parameter_bytes.hpp"

namespace cudacore::simulator {

struct CheckedLaunch {
  std::shared_ptr<FunctionObject> function;
  LaunchShape shape;
  std::uint32_t resident_blocks = 0;
  ParameterBytes parameters;
};

/// Checks the shape, and copies the parameters. The function is already in the launch.
CUresult check_launch(CheckedLaunch& launch, void** values, void** extra);

/// The work of a launch, in the context of its function.
std::unique_ptr<Work> make_launch(CheckedLaunch launch);

}  // namespace cudacore::simulator
