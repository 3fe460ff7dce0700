// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// What a host language does about calls that may block. Python's extension lets the GIL go: what
// blocks may wait for a host callback that wants it.

namespace cudacore::driver {

/// Whether a function of a symbol table may block: on a full queue, on the device, on a lock that
/// another thread holds while it waits for those, or for as long as a compiler takes.
enum class Wait : std::uint8_t { quick, may_block };

struct BlockingHooks {
  /// Called before something that may block; what it returns goes to `leave`.
  void* (*enter)() noexcept = nullptr;
  void (*leave)(void* state) noexcept = nullptr;
  /// Whether the calling thread may block as it stands, for builds that check.
  bool (*may_block)() noexcept = nullptr;
};

/// Installs hooks, for good. `hooks` must live for ever.
void set_blocking_hooks(const BlockingHooks& hooks) noexcept;

/// Around what may block in places that no caller can prepare for: the end of an object, and the
/// first use of a driver, a device or a compiler. Locks are taken inside of it, never around it.
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

/// Ends the process, naming the function, where the calling thread must not block.
void require_may_block(const char* function) noexcept;

/// Stands in a table for one of its functions, and checks each call.
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
