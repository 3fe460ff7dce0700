// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>

namespace cudacore::simulator {

/// A function that cuGetProcAddress gives.
struct Symbol {
  const char* name;  ///< what it is asked for by
  int since;         ///< the CUDA version that brought this form of it
  void* legacy;      ///< for the legacy default stream
  void* per_thread;  ///< for the per-thread one; the same where it makes no difference
};

/// Sorted by name, then by version.
std::span<const Symbol> symbols() noexcept;

}  // namespace cudacore::simulator
