// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <pthread.h>

namespace cudacore::driver {

/// The only T, which is never destroyed: objects and threads may outlive static destruction.
template <typename T>
[[nodiscard]] T& leaked() {
  static T& only = *std::make_unique<T>().release();
  return only;
}

/// Like leaked(), for a T with a `mutex`, which is held while the process forks: so the child finds
/// it free, and what it guards whole. Who holds it must not wait for the GIL, which the thread that
/// forks may have.
template <typename T>
[[nodiscard]] T& leaked_across_forks() {
  // If this fails, a child that is forked while another thread has the mutex hangs.
  static const int watched =
      pthread_atfork([] { leaked<T>().mutex.lock(); }, [] { leaked<T>().mutex.unlock(); },
                     [] { leaked<T>().mutex.unlock(); });
  static_cast<void>(watched);
  return leaked<T>();
}

}  // namespace cudacore::driver
