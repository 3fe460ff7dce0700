// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "simulator/api/code/module.hpp"

namespace cudacore::simulator {

/// A kernel on a device, for attributes, occupancy and launches.
struct FunctionOnDevice {
  const Function& entry;
  FunctionSettings& settings;
  const DeviceProperties& device;

  /// Registers per thread: as many as a GPU's compiler would use, but never so many that
  /// max_threads() threads don't fit, because an estimate is no reason to reject a launch.
  [[nodiscard]] unsigned registers() const noexcept;
  [[nodiscard]] unsigned max_threads() const noexcept;
  /// How many bytes of dynamic shared memory a launch may request.
  [[nodiscard]] std::size_t max_dynamic_shared() const noexcept;
  /// How many blocks a cluster may have.
  [[nodiscard]] unsigned max_cluster_blocks() const noexcept;
  /// The shape of its clusters, from the code or cuFuncSetAttribute; zeros if none is required.
  [[nodiscard]] Dim3 required_cluster() const noexcept;

  CUresult get(CUfunction_attribute attribute, int& value) const;
  CUresult set(CUfunction_attribute attribute, int value);
};

/// A function on the device of its context.
FunctionOnDevice on_device(const FunctionObject& function);
/// The position of a parameter. INVALID_VALUE past the last one; size may be null.
CUresult parameter_of(const Function& entry, std::size_t index, std::size_t* offset,
                      std::size_t* size);
[[nodiscard]] bool is_cache_config(CUfunc_cache config) noexcept;

}  // namespace cudacore::simulator
