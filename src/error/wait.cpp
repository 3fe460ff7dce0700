// SPDX-License-Identifier: Apache-2.0
#include "error/wait.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <system_error>
#include <thread>
#include <utility>

#include "cudacore/error.hpp"

namespace cudacore::error {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;
using std::chrono::milliseconds;

constexpr microseconds spin_time{200};
constexpr milliseconds longest_sleep{1};
constexpr milliseconds hook_interval{20};

constinit std::atomic<InterruptHook> interrupt{nullptr};

void pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void ask_hook() {
  const InterruptHook hook = interrupt_hook();
  if (hook != nullptr && hook()) {
    throw InterruptedError("the wait for the device was interrupted; its work goes on");
  }
}

}  // namespace

void set_interrupt_hook(InterruptHook hook) noexcept { interrupt.store(hook); }
InterruptHook interrupt_hook() noexcept { return interrupt.load(); }

CUresult wait_until_ready(const std::function<CUresult()>& query, bool spin) {
  CUresult result = query();
  if (result != CUDA_ERROR_NOT_READY) return result;
  const Clock::time_point start = Clock::now();
  Clock::time_point next_ask = start + hook_interval;
  for (;;) {
    const Clock::time_point now = Clock::now();
    const auto elapsed = now - start;
    if (now >= next_ask) {
      ask_hook();
      next_ask = Clock::now() + hook_interval;
    }
    if (spin && elapsed < spin_time) {
      for (int i = 0; i < 8; ++i) pause();
    } else {
      const Clock::duration part = std::max<Clock::duration>(elapsed / 64, microseconds{1});
      std::this_thread::sleep_for(std::min<Clock::duration>(part, longest_sleep));
    }
    result = query();
    if (result != CUDA_ERROR_NOT_READY) return result;
  }
}

CUresult wait_on_thread(const std::shared_ptr<ContextBox>& context,
                        std::function<CUresult(const driver::DriverApi&)> wait) {
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    CUresult result = CUDA_SUCCESS;
  };
  const driver::DriverApi& api = driver::api();
  if (interrupt_hook() == nullptr) {
    const ContextScope scope(api, *context);
    return wait(api);
  }
  const auto state = std::make_shared<State>();
  const auto call =
      std::make_shared<const std::function<CUresult(const driver::DriverApi&)>>(std::move(wait));
  try {
    // Owns everything it uses, because it may outlive this call.
    std::thread([&api, state, context, given = std::shared_ptr(call)]() mutable {
      CUresult result = api.cuCtxSetCurrent(context->context);
      if (result == CUDA_SUCCESS) result = (*given)(api);
      given.reset();  // what it owns ends here only if nobody waits any more
      const std::scoped_lock lock(state->mutex);
      state->result = result;
      state->done = true;
      state->changed.notify_all();
    }).detach();
  } catch (const std::system_error&) {  // no thread could be started: wait without the hook
    const ContextScope scope(api, *context);
    return (*call)(api);
  }
  std::unique_lock lock(state->mutex);
  while (!state->changed.wait_for(lock, hook_interval, [&] { return state->done; })) {
    lock.unlock();
    ask_hook();
    lock.lock();
  }
  return state->result;
}

}  // namespace cudacore::error
