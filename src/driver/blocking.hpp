// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "driver/not_copied.hpp"

// What a host language does around calls that may block. The Python extension releases the GIL,
// because a blocked call may wait for a host callback that needs it.

namespace cudacore::driver {

/// Whether a function in a symbol table may block: on a full queue, on the device, on a lock that
/// another thread holds while it waits for those, or for the duration of a compilation.
enum class Wait : std::uint8_t { quick, may_block };

struct BlockingHooks {
  /// Called before something that may block; its result is passed to `leave`.
  void* (*enter)() noexcept = nullptr;
  void (*leave)(void* state) noexcept = nullptr;
  /// Whether the calling thread may block in its current state, for builds that check this.
  bool (*may_block)() noexcept = nullptr;
};

/// Installs hooks permanently. `hooks` must live until the process exits.
void set_blocking_hooks(const BlockingHooks& hooks) noexcept;

/// Encloses code that may block in places that no caller can prepare for: the destruction of an
/// object, and the first use of a driver, a device or a compiler. Take locks inside this scope,
/// never around it.
class BlockingScope : NotCopied {
 public:
  BlockingScope() noexcept;
  ~BlockingScope();

 private:
  const BlockingHooks* hooks_;
  void* state_;
};

}  // namespace cudacore::driver
