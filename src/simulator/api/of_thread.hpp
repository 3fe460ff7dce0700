// SPDX-License-Identifier: Apache-2.0
//
// What threads have each of their own.
#pragma once

#include <memory>
#include <utility>

namespace cudacore::simulator {

/// A T for each thread, made when it is first asked for. It ends with the thread; destructors that
/// still call the driver after that, as those of static objects do, get another.
template <class T>
class OfThread {
 public:
  /// Null where the thread has none.
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

  // A plain pointer, which can be read for as long as the thread runs.
  static constinit inline thread_local T* kept = nullptr;
};

}  // namespace cudacore::simulator
