// SPDX-License-Identifier: Apache-2.0
#include "driver/blocking.hpp"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include "driver/check_blocking.hpp"

namespace cudacore::driver {
namespace {

constinit std::atomic<const BlockingHooks*> installed{nullptr};

}  // namespace

void set_blocking_hooks(const BlockingHooks& hooks) noexcept {
  installed.store(&hooks, std::memory_order_release);
}

BlockingScope::BlockingScope() noexcept
    : hooks_(installed.load(std::memory_order_acquire)),
      state_(hooks_ != nullptr ? hooks_->enter() : nullptr) {}

BlockingScope::~BlockingScope() {
  if (hooks_ != nullptr) hooks_->leave(state_);
}

#ifdef CUDACORE_CHECK_GIL

void require_may_block(const char* function) noexcept {
  const BlockingHooks* hooks = installed.load(std::memory_order_acquire);
  if (hooks == nullptr || hooks->may_block()) return;
  std::fprintf(stderr, "cudacore: %s may block, but was called with the GIL held\n", function);
  std::abort();
}

#endif

}  // namespace cudacore::driver
