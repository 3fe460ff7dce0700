// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <string>
#include <type_traits>

#include "cudacore/error.hpp"
#include "driver/blocking.hpp"
#include "driver/shared_library.hpp"

namespace cudacore::driver {

/// The functions of a library, which `open` finds on first use; never freed.
template <auto open>
class LibraryTable {
  using Api = std::invoke_result_t<decltype(open)>;

 public:
  /// Opens the library if it isn't open yet, which may block.
  /// @throw what `open` throws; the next call tries again.
  static const Api& get() {
    // Called before taking the lock that guards the table; see wheel_roots().
    (void)wheel_roots();
    const BlockingScope blocking;
    static const Api api = open();
    opened.store(&api, std::memory_order_release);
    return api;
  }

  /// Null if it isn't open yet.
  static const Api* if_open() noexcept { return opened.load(std::memory_order_acquire); }

 private:
  static inline constinit std::atomic<const Api*> opened{nullptr};
};

/// Finds a function that the library must have.
/// @param advice what the message ends with, such as "; install a newer one"
/// @throw NotSupportedError
template <typename Function>
void resolve_required(const SharedLibrary& library, const std::string& title, const char* name,
                      const std::string& advice, Function*& function) {
  function = reinterpret_cast<Function*>(library.symbol(name));
  if (function != nullptr) return;
  throw NotSupportedError(
      title + " at " + library.path.string() + " has no function " + name + advice, 0, {}, name);
}

}  // namespace cudacore::driver
