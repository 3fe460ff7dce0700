// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace cudacore::simulator {

/// Tells the processor that this thread spins.
inline void spin_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace cudacore::simulator
