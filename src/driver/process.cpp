// SPDX-License-Identifier: Apache-2.0
#include "driver/process.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <mutex>
#include <system_error>

#include <pthread.h>

namespace cudacore::driver {
namespace {

constinit std::atomic<bool> forked{false};
constinit std::atomic<bool> exiting{false};

}  // namespace

bool is_forked_child() noexcept { return forked.load(std::memory_order_relaxed); }
bool is_exiting() noexcept { return exiting.load(std::memory_order_relaxed); }
void set_exiting() noexcept { exiting.store(true, std::memory_order_relaxed); }

void watch_process() {
  static std::once_flag once;
  std::call_once(once, [] {
    const int failure =
        pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); });
    if (failure != 0) {
      throw std::system_error(failure, std::generic_category(), "pthread_atfork failed");
    }
    // Handlers run in reverse order: one that is registered after the driver was loaded runs before
    // the driver's own handlers.
    if (std::atexit(set_exiting) != 0) {
      throw std::system_error(ENOMEM, std::generic_category(), "atexit failed");
    }
  });
}

}  // namespace cudacore::driver
