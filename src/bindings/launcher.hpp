// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "bindings/collector.hpp"

namespace cudacore::bindings {

/// A kernel bound to a shape and, perhaps, a stream.
struct Launcher {
  Kernel kernel;
  LaunchConfig config;
  std::optional<Stream> stream;  ///< unset: the current stream at each call
};

template <>
struct CollectorTraits<Launcher> {
  static constexpr bool any = true;
  static bool may_keep(const Launcher& launcher) noexcept {
    return launcher.stream && CollectorTraits<Stream>::may_keep(*launcher.stream);
  }
  static int visit(const Launcher& launcher, visitproc visit, void* arg) {
    return launcher.stream ? visit_kept(*launcher.stream, visit, arg) : 0;
  }
};

/// A LaunchConfig or a mapping of its fields.
[[nodiscard]] LaunchConfig to_launch_config(py::handle object);
/// The shape of kernel[grid, block, stream, shmem_size]; the last may be null.
[[nodiscard]] LaunchConfig make_launch_config(py::handle grid, py::handle block,
                                              py::handle shmem_size);

}  // namespace cudacore::bindings
