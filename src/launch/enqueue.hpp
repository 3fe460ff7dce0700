// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cudacore/launch.hpp"
#include "driver/driver_api.hpp"
#include "launch/attribute_box.hpp"
#include "launch/kernel_box.hpp"

// The launch, after arguments have been converted: what the C++ and the Python launchers share.
// Doesn't lock or allocate once a kernel has been launched on a device.

namespace cudacore::launching {

/// A launch configuration in the driver's form; lives on the stack of the call.
struct DriverLaunch : driver::NotCopied {
  CUlaunchConfig config{};
  /// Those of the shape, then the others. Only the first config.numAttrs are used.
  std::array<CUlaunchAttribute, 4 + AttributeBox::most> attributes;

  DriverLaunch(const LaunchConfig& shape, CUstream stream) noexcept;
};

/// Opts in to as much dynamic shared memory as the device has, if `size` exceeds what the kernel
/// may use so far (cuKernelSetAttribute). Always sets the maximum, so that two threads that opt in
/// at the same time cannot lower each other's limit.
void allow_shared_memory(const driver::DriverApi& api, const error::ContextBox& context,
                         KernelBox& kernel, KernelOnDevice& state, std::size_t size);

/// Checks the shape, opts in to large shared memory and queues the kernel (cuLaunchKernelEx) in
/// `context`, the stream's work_context(); `parameters[i]` points at the bytes of parameter i.
/// Records the launch in the context's history. Doesn't touch Python; may block while the stream's
/// queue is full.
/// @return the driver's result code; pass a failure to throw_launch_error().
/// @throw what check_shape() throws; ContextLostError.
[[nodiscard]] CUresult enqueue(const driver::DriverApi& api, const owner::StreamBox& stream,
                               error::ContextBox& context, KernelBox& kernel,
                               const LaunchConfig& config, void** parameters);

/// Throws the exception for a failed enqueue(), which names the kernel, the shape and the device.
[[noreturn]] void throw_launch_error(CUresult result, const owner::StreamBox& stream,
                                     error::ContextBox& context, KernelBox& kernel,
                                     const LaunchConfig& config);

}  // namespace cudacore::launching
