// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulator/api/module.hpp"

namespace cudacore::simulator {

/// A kernel on a device, as attributes, occupancy and launches see it.
struct FunctionOnDevice {
  const Function& entry;
  FunctionSettings& settings;
  const DeviceProperties& device;

  /// For each thread. What a GPU's compiler would take, but never so much that max_threads() of
  /// them don't fit, as the estimate is no reason to refuse a launch.
  [[nodiscard]] unsigned registers() const noexcept;
  [[nodiscard]] unsigned max_threads() const noexcept;
  /// Bytes of dynamic shared memory that a launch may ask for.
  [[nodiscard]] std::size_t max_dynamic_shared() const noexcept;
  /// Blocks that a cluster may have.
  [[nodiscard]] unsigned max_cluster_blocks() const noexcept;
  /// The shape of its clusters, from the code or cuFuncSetAttribute; zeros where none is required.
  [[nodiscard]] Dim3 required_cluster() const noexcept;

  CUresult get(CUfunction_attribute attribute, int& value) const;
  CUresult set(CUfunction_attribute attribute, int value);
};

/// A function on the device of its context.
FunctionOnDevice on_device(const FunctionObject& function);
/// Where a parameter lies. INVALID_VALUE past the last; size may be null.
CUresult parameter_of(const Function& entry, std::size_t index, std::size_t* offset,
                      std::size_t* size);
[[nodiscard]] bool is_cache_config(CUfunc_cache config) noexcept;

}  // namespace cudacore::simulator
