// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

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
class BlockingScope {
 public:
  BlockingScope() noexcept;
  ~BlockingScope();
  BlockingScope(const BlockingScope&) = delete;
  BlockingScope& operator=(const BlockingScope&) = delete;

 private:
  const BlockingHooks* hooks_;
  void* state_;
};

#ifdef CUDACORE_CHECK_GIL

/// Ends the process, naming the function, if the calling thread must not block.
void require_may_block(const char* function) noexcept;

/// Replaces one function of a table, and checks each call.
template <auto Entry>
struct Checked;

template <typename Table, typename Result, typename... Args, Result (*Table::*Entry)(Args...)>
struct Checked<Entry> {
  static inline Result (*function)(Args...) = nullptr;
  static inline const char* name = nullptr;

  static Result call(Args... args) {
    require_may_block(name);
    return function(args...);
  }
};

template <auto Entry, typename Table>
void check_blocking(Table& table, const char* name, Wait wait) {
  if (wait == Wait::quick || table.*Entry == nullptr) return;
  Checked<Entry>::function = table.*Entry;
  Checked<Entry>::name = name;
  table.*Entry = &Checked<Entry>::call;
}

#endif

}  // namespace cudacore::driver
