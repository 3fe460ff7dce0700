// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "cudacore/launch.hpp"
#include "driver/driver_api.hpp"
#include "error/context_box.hpp"
#include "launch/kernel_box.hpp"
#include "owner/owned_handles.hpp"

// The launch, below argument conversion: what the C++ and the Python launchers share. Neither locks
// nor allocates once a kernel has been launched on a device.

namespace cudacore {

/// A launch configuration as the driver takes it; lives on the stack of the call.
struct DriverLaunch {
  CUlaunchConfig config{};
  std::array<CUlaunchAttribute, 4> attributes;  // only the first config.numAttrs are filled

  DriverLaunch(const LaunchConfig& shape, CUstream stream) noexcept;
  DriverLaunch(const DriverLaunch&) = delete;
  DriverLaunch& operator=(const DriverLaunch&) = delete;
};

/// Compares the shape with the limits of the device and the kernel.
/// @throw std::invalid_argument that names the limit; NotSupportedError for clusters and
/// cooperative launches on a device without them.
void check_shape(const LaunchConfig& config, const handle::ContextBox& context,
                 const handle::KernelOnDevice& state, const handle::KernelBox& kernel);

/// Opts in to as much dynamic shared memory as the device has, where `size` needs more than the
/// kernel may use so far (cuKernelSetAttribute). Always the most there is: two threads that opt in
/// at once then cannot lower each other's limit.
void allow_shared_memory(const driver::DriverApi& api, const handle::ContextBox& context,
                         handle::KernelBox& kernel, handle::KernelOnDevice& state,
                         std::size_t size);

/// Checks the shape, opts in to large shared memory and queues the kernel (cuLaunchKernelEx) in
/// `context`, the stream's work_context(); `parameters[i]` points at the bytes of parameter i.
/// Notes the launch in the context's history. Touches no Python; may block while the stream's queue
/// is full.
/// @return what the driver said; hand a failure to throw_launch_error().
/// @throw as check_shape(); ContextLostError.
[[nodiscard]] CUresult enqueue(const driver::DriverApi& api, const handle::StreamBox& stream,
                               handle::ContextBox& context, handle::KernelBox& kernel,
                               const LaunchConfig& config, void** parameters);

/// Raises the exception for a failed enqueue(), with the kernel, the shape and the device in it.
[[noreturn]] void throw_launch_error(CUresult result, const handle::StreamBox& stream,
                                     handle::ContextBox& context, handle::KernelBox& kernel,
                                     const LaunchConfig& config);

}  // namespace cudacore
