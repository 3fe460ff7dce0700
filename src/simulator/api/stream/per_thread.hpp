// SPDX-License-Identifier: Apache-2.0
//
// Data that each thread has its own copy of.
#pragma once

#include <memory>
#include <utility>

namespace cudacore::simulator {

/// A T per thread, created on first use. It is destroyed with the thread. Destructors that still
/// call the driver after that, such as those of static objects, get a new one.
template <class T>
class PerThread {
 public:
  /// Null if the thread has none.
  static T* find() noexcept { return kept; }

  /// @throws std::bad_alloc
  static T& get() {
    if (kept == nullptr) {
      kept = std::make_unique<T>().release();
      static thread_local const End end;
    }
    return *kept;
  }

 private:
  struct End {
    End() = default;
    ~End() { delete std::exchange(kept, nullptr); }  // NOLINT: owned by the thread
    End(const End&) = delete;
    End& operator=(const End&) = delete;
  };

  // A plain pointer, which can be read as long as the thread runs.
  static constinit inline thread_local T* kept = nullptr;
};

}  // namespace cudacore::simulator
