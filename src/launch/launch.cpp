// SPDX-License-Identifier: Apache-2.0
#include "cudacore/launch.hpp"

#include "launch/enqueue.hpp"
#include "launch/packed_arguments.hpp"
#include "owner/require_open.hpp"

namespace cudacore {

void launch_packed(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                   void** arguments) {
  const owner::StreamBox& queue = owner::require_open(stream.box(), "Stream");
  launching::KernelBox& box = *kernel.box();
  error::ContextBox& context = *queue.work_context();
  const CUresult result = enqueue(driver::api(), queue, context, box, config, arguments);
  if (result != CUDA_SUCCESS) [[unlikely]]
    throw_launch_error(result, queue, context, box, config);
}

void launch_arguments(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                      std::span<const Argument> arguments) {
  const launching::KernelBox& box = *kernel.box();
  launching::PackedArguments packed(
      box, arguments.size(), [&](std::size_t i) { return exact_param(box, i, arguments[i]); });
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    pack_argument(box, i, packed.slots()[i], arguments[i], packed.places()[i]);
  }
  launch_packed(stream, config, kernel, packed.places());
}

}  // namespace cudacore
