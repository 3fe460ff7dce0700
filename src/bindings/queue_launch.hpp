// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

#include "bindings/conversions.hpp"
#include "bindings/launch_arrays.hpp"

namespace cudacore::bindings {

/// Checks and packs arguments, and queues the kernel. `used` are the objects that the arguments
/// came from, often themselves. The stream must outlast the call, even if it is closed, and all
/// else be held by the caller; a LaunchConfig and a Kernel never change.
void launch_from_python(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                        std::span<PyObject* const> args, std::span<PyObject* const> used);

/// Queues a kernel whose arguments are packed; `places[i]` points at the bytes of parameter i.
/// Every launch from Python ends here. `arrays` was made for the stream and its work_context(),
/// `context`. A graph that the launch becomes part of keeps `used`. Runs no Python code before the
/// kernel is queued.
void queue_launch(const owner::StreamBox& stream, error::ContextBox& context,
                  const LaunchConfig& config, const Kernel& kernel, void** places,
                  LaunchArrays& arrays, std::span<PyObject* const> used);

}  // namespace cudacore::bindings
