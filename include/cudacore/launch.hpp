// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include <cudacore/argument.hpp>
#include <cudacore/kernel.hpp>
#include <cudacore/launch_attributes.hpp>
#include <cudacore/stream.hpp>

namespace cudacore {

/// Extents in x, y and z.
using Dim3 = std::array<unsigned, 3>;

/// The shape of a launch.
///
/// With `cluster`, the grid counts clusters, as in cuda.core.
struct LaunchConfig {
  Dim3 grid{1, 1, 1};
  Dim3 block{1, 1, 1};
  std::optional<Dim3> cluster{};                   ///< blocks in a cluster (compute capability 9.0)
  std::size_t shmem_size = 0;                      ///< bytes of dynamic shared memory per block
  bool is_cooperative = false;                     ///< all blocks run at once and can sync the grid
  bool programmatic_stream_serialization = false;  ///< may start before its predecessor ends
  std::optional<int> priority{};                   ///< overrides the stream's priority
  /// Everything else, from prepare().
  std::shared_ptr<const launching::AttributeBox> attributes{};
};

/// Queues a kernel on a stream with arguments that are already packed: `arguments[i]` points at the
/// bytes of parameter i and has exactly its size (cuLaunchKernelEx).
///
/// Checks the shape against the device, opts in to large shared memory, and records the launch for
/// later error messages.
/// @throw std::invalid_argument that names the limit, LaunchError, ContextLostError.
void launch_packed(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                   void** arguments);

/// Queues a kernel on a stream. Each argument is checked against the kernel's signature and
/// converted to exactly the type that the signature declares.
/// @throw TypeMismatchError if an argument doesn't fit, std::overflow_error or
/// std::invalid_argument, which name the kernel and the parameter; also what launch_packed()
/// throws.
template <typename... Arguments>
void launch(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
            const Arguments&... arguments) {
  const std::array<Argument, sizeof...(Arguments)> list{Argument(arguments)...};
  launch_arguments(stream, config, kernel, list);
}

/// Like launch(), with the arguments as a list.
void launch_arguments(const Stream& stream, const LaunchConfig& config, const Kernel& kernel,
                      std::span<const Argument> arguments);

}  // namespace cudacore
