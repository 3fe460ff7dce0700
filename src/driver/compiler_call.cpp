// SPDX-License-Identifier: Apache-2.0
#include "driver/compiler_call.hpp"

#include <atomic>
#include <mutex>

#include <pthread.h>
#include <unistd.h>

namespace cudacore::driver {
namespace {

constinit std::atomic<unsigned> threads{0};
constinit std::atomic<bool> ended{false};
constinit thread_local unsigned depth = 0;

void leave() noexcept {
  if (threads.fetch_sub(1) == 1) threads.notify_all();
}

/// A forked child has one thread, and that thread was not compiling.
void forget_threads() noexcept { threads.store(0); }

}  // namespace

CompilerCall::CompilerCall() noexcept {
  static std::once_flag once;
  // If this fails, a child that is forked while other threads compile may hang at exit.
  std::call_once(once, [] { static_cast<void>(pthread_atfork(nullptr, nullptr, forget_threads)); });
  if (depth++ != 0) return;
  threads.fetch_add(1);
  if (!ended.load()) return;
  leave();
  while (true) pause();
}

CompilerCall::~CompilerCall() {
  if (--depth == 0) leave();
}

void end_compiler_calls() noexcept {
  ended.store(true);
  for (unsigned working = threads.load(); working != 0; working = threads.load()) {
    threads.wait(working);
  }
}

}  // namespace cudacore::driver
