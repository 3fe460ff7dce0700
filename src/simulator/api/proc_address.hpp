// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace cudacore::simulator {

/// A function that cuGetProcAddress can return.
struct Symbol {
  const char* name;  ///< the name it is requested by
  int since;         ///< the CUDA version that introduced this form of it
  void* legacy;      ///< for the legacy default stream
  void* per_thread;  ///< for the per-thread one; the same if it makes no difference
};

/// Sorted by name, then by version.
std::span<const Symbol> symbols() noexcept;

}  // namespace cudacore::simulator
