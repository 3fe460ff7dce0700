// SPDX-License-Identifier: Apache-2.0
#include "owner/owned_handles.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>

#include "cudacore/error.hpp"
#include "driver/blocking.hpp"
#include "driver/process.hpp"
#include "error/check.hpp"
#include "error/describe.hpp"
#include "error/sticky.hpp"
#include "error/unraisable.hpp"
#include "owner/callback.hpp"
#include "owner/default_streams.hpp"
#include "owner/end_scope.hpp"

namespace cudacore::owner {
namespace {

void report_release(const char* why, std::size_t size, CUdeviceptr pointer) noexcept {
  char message[512];
  std::snprintf(message, sizeof(message), "a buffer of %zu bytes at 0x%llx was not released: %s",
                size, pointer, why);
  error::report_unraisable(message);
}

/// @throw LaunchError for a fault that has not been reported yet, InterruptedError; reports
/// everything else.
void release_memory(MemoryResource& resource, const ResourceCalls& calls, const Allocation& memory,
                    std::shared_ptr<StreamBox> stream) {
  const driver::BlockingScope scope;
  try {
    calls.deallocate(resource, memory, std::move(stream));
  } catch (const InterruptedError&) {
    throw;
  } catch (const ContextLostError&) {  // this loss has been reported already
  } catch (const Error& error) {
    if (error::is_sticky(static_cast<CUresult>(error.code()))) throw;
    report_release(error.what(), memory.size, memory.pointer);
  } catch (const std::exception& error) {
    report_release(error.what(), memory.size, memory.pointer);
  } catch (...) {
    error::report_unraisable(
        "a memory resource raised something unknown while a buffer was released");
  }
}

bool must_wait(const MemoryResource& resource, const ResourceCalls& calls, const Allocation& memory,
               const StreamBox* stream) noexcept {
  try {
    return calls.must_wait != nullptr && calls.must_wait(resource, memory, stream);
  } catch (const std::exception&) {  // the release will say what is wrong
    return false;
  }
}

/// The same, when no capture is in its way.
/// @throw as release_memory()
void release_outside_captures(const std::shared_ptr<MemoryResource>& resource,
                              const ResourceCalls& calls, const Allocation& memory,
                              const std::shared_ptr<StreamBox>& stream) {
  if (!must_wait(*resource, calls, memory, stream.get())) [[likely]] {
    release_memory(*resource, calls, memory, stream);
    return;
  }
  try_elsewhere([resource, &calls, memory, stream] {
    if (driver::api_for_cleanup() == nullptr) return true;
    if (must_wait(*resource, calls, memory, stream.get())) return false;
    const error::NobodyCatchesScope scope;
    try {
      release_memory(*resource, calls, memory, stream);
    } catch (...) {  // a fault, which the next call throws
    }
    return true;
  });
}

/// Gives a handle back to the driver, unless its `context` has ended, which can make the driver
/// crash; `kept` lives until then.
template <typename Handle>
void destroy(CUresult (*driver::DriverApi::*function)(Handle), const char* name, Handle handle,
             std::shared_ptr<error::ContextBox> context,
             std::vector<std::byte> kept = {}) noexcept {
  end_outside_callbacks(
      [function, name, handle, context = std::move(context), kept = std::move(kept)] {
        const driver::DriverApi* api = driver::api_for_cleanup();
        if (api == nullptr || (context != nullptr && !error::is_alive(*api, *context))) return;
        const EndScope scope(*api);
        const CUresult result = (api->*function)(handle);
        if (result != CUDA_SUCCESS) error::report_unraisable(result, name);
      });
}

void destroy_idle_events(const driver::DriverApi& api, error::IdleEvents& events) noexcept {
  for (unsigned bits = 0; bits < 8; ++bits) {
    const error::EventKind kind{(bits & 4U) != 0, (bits & 2U) != 0, (bits & 1U) != 0};
    while (CUevent event = events.take(kind)) {
      const CUresult result = api.cuEventDestroy(event);
      if (result != CUDA_SUCCESS) error::report_unraisable(result, "cuEventDestroy");
    }
  }
}

/// Lets those who follow a stream end what they have on it, unless its context has ended.
void tell_stream_ends(CUstream stream, std::uint64_t key,
                      const std::shared_ptr<error::ContextBox>& context,
                      const std::vector<std::weak_ptr<StreamFollower>>& followers) noexcept {
  const driver::DriverApi* api = driver::api_for_cleanup();
  if (api == nullptr || (context != nullptr && !error::is_alive(*api, *context))) return;
  const EndScope ending(*api);
  const error::NobodyCatchesScope scope;
  try {
    const auto view = std::make_shared<StreamBox>();
    view->stream = stream;
    view->context = context;
    view->key.store(key, std::memory_order_relaxed);
    for (const std::weak_ptr<StreamFollower>& known : followers) {
      if (const std::shared_ptr<StreamFollower> follower = known.lock()) {
        follower->stream_ends(view);
      }
    }
  } catch (const std::bad_alloc&) {  // a follower finds a stream that is gone
  }
}

}  // namespace

std::string describe_stream(const StreamBox& stream) {
  std::string text;
  if (is_legacy_stream(stream.stream)) {
    text = "the legacy default stream";
  } else if (is_per_thread_stream(stream.stream)) {
    text = "the per-thread default stream";
  } else {
    text = "stream " + error::format_address(stream.stream);
  }
  return text + " of " + error::describe_device(stream.work_context()->device);
}

GreenBox::~GreenBox() {
  if (green == nullptr) return;
  end_outside_callbacks([ended = green, known = std::move(context)] {
    const driver::DriverApi* api = driver::api_for_cleanup();
    if (api == nullptr) return;
    const EndScope scope(*api);
    if (known != nullptr) {
      const bool is_alive = error::is_alive(*api, *known);
      if (is_alive) destroy_idle_events(*api, known->idle_events);
      error::forget_green(*known);
      if (!is_alive) return;
    }
    const CUresult result = api->cuGreenCtxDestroy(ended);
    if (result != CUDA_SUCCESS) error::report_unraisable(result, "cuGreenCtxDestroy");
  });
}

StreamBox::~StreamBox() {
  if (!owned || stream == nullptr) return;
  if (!followers_.empty()) {
    const std::uint64_t known_as = key.load(std::memory_order_relaxed);
    end_outside_callbacks([handle = stream, known_as, of = context, told = std::move(followers_)] {
      tell_stream_ends(handle, known_as, of, told);
    });
  }
  destroy(&driver::DriverApi::cuStreamDestroy, "cuStreamDestroy", stream, std::move(context));
}

void StreamBox::add_follower(const std::weak_ptr<StreamFollower>& follower) {
  const std::scoped_lock lock(mutex_);
  std::erase_if(followers_, [](const auto& known) { return known.expired(); });
  followers_.push_back(follower);
}

EventBox::~EventBox() {
  if (event == nullptr) return;
  // A forked child must not take the lock, which another thread may have held.
  const bool may_keep = is_idle() && driver::api_for_cleanup() != nullptr &&
                        !context->lost.load(std::memory_order_relaxed);
  kind.recorded = kind.recorded || recorded.load(std::memory_order_relaxed);
  if (may_keep && context->idle_events.keep(event, kind)) return;
  destroy(&driver::DriverApi::cuEventDestroy, "cuEventDestroy", event, std::move(context));
}

PoolBox::~PoolBox() {
  if (!owned || pool == nullptr) return;
  destroy(&driver::DriverApi::cuMemPoolDestroy, "cuMemPoolDestroy", pool, nullptr);
}

BufferBox::~BufferBox() {
  if (has_nothing_to_release()) return;
  if (release_at_once()) return;
  end_outside_callbacks(
      [memory = Allocation{pointer, size, known_as, number, std::move(also_used_on)},
       resource = std::move(resource), calls = calls, stream = std::move(stream)]() mutable {
        const error::NobodyCatchesScope scope;
        try {
          release_outside_captures(resource, *calls, memory, stream);
        } catch (...) {  // a fault, which the next call throws
        }
      });
}

bool BufferBox::ends_with_reset() const noexcept {
  return resource != nullptr && calls->ends_with_reset(*resource);
}

bool BufferBox::has_nothing_to_release() const noexcept {
  return resource == nullptr || pointer == 0 || is_stale();
}

bool BufferBox::waits_for_others() const noexcept {
  return std::ranges::any_of(also_used_on, [this](const auto& other) {
    return stream == nullptr || !is_same_stream(*other, *stream);
  });
}

void BufferBox::throw_if_stale() const {
  if (!is_stale()) [[likely]]
    return;
  error::throw_stale("this Buffer of " + error::format_bytes(size) + " at " +
                     error::format_address(pointer) + " is");
}

bool BufferBox::release_at_once() noexcept {
  // Not api_for_cleanup(): a user-defined resource may manage memory that no driver knows. A forked
  // child must not take the lock of a pool, which another thread may have held.
  if (has_nothing_to_release() || driver::is_forked_child() || driver::is_exiting()) return true;
  if (calls->take_back == nullptr || waits_for_others() || !calls->take_back(*this)) {
    return false;
  }
  pointer = 0;
  return true;
}

void BufferBox::release() {
  if (release_at_once() || in_callback()) return;
  release_outside_captures(
      resource, *calls,
      {std::exchange(pointer, 0), size, known_as, number, std::move(also_used_on)}, stream);
}

LibraryBox::~LibraryBox() {
  if (!owned || library == nullptr) return;
  // The driver may read the code until then.
  destroy(&driver::DriverApi::cuLibraryUnload, "cuLibraryUnload", library, nullptr,
          std::move(code));
}

}  // namespace cudacore::owner
