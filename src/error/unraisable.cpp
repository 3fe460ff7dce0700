// SPDX-License-Identifier: Apache-2.0
#include "error/unraisable.hpp"

#include <cstdio>

#include "error/check.hpp"
#include "error/sticky.hpp"

namespace cudacore::error {
namespace {

void write_to_stderr(const char* message) { std::fprintf(stderr, "cudacore: %s\n", message); }

constinit std::atomic<LogHook> log{write_to_stderr};
constinit std::atomic<unsigned long long> unraisable{0};

}  // namespace

void set_log_hook(LogHook hook) noexcept { log.store(hook != nullptr ? hook : write_to_stderr); }
unsigned long long unraisable_errors() noexcept { return unraisable.load(); }
void count_unraisable() noexcept { unraisable.fetch_add(1); }

void report_unraisable(const char* message) noexcept {
  count_unraisable();
  try {
    log.load()(message);
  } catch (...) {  // if a hook throws, there is no one left to report to
    write_to_stderr(message);
  }
}

void report_unraisable(CUresult result, const char* function) noexcept {
  const bool over = result == CUDA_ERROR_DEINITIALIZED || result == CUDA_ERROR_CONTEXT_IS_DESTROYED;
  if (over) return;  // the driver has released the object with everything else
  const driver::DriverApi* api = driver::api_for_cleanup();
  if (is_sticky(result)) {
    try {
      const NobodyCatchesScope scope;
      check(result, function);
    } catch (...) {  // the next call throws
    }
    return;
  }
  const char* name = nullptr;
  if (api != nullptr) api->cuGetErrorName(result, &name);
  char message[256];
  std::snprintf(message, sizeof(message), "%s failed while an object was released: %s (%d)",
                function, name != nullptr ? name : "unknown error", static_cast<int>(result));
  report_unraisable(message);
}

}  // namespace cudacore::error
