// SPDX-License-Identifier: Apache-2.0
#include "owner/texture_boxes.hpp"

#include <algorithm>
#include <bit>
#include <exception>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "error/check.hpp"
#include "error/unraisable.hpp"
#include "error/wait.hpp"
#include "owner/callback.hpp"
#include "owner/captures.hpp"

namespace cudacore::owner {
namespace {

void forget_done(const driver::DriverApi& api, std::vector<WorkUses::Use>& uses) noexcept {
  if (uses.empty()) return;
  const OutsideCaptures outside(api);
  std::erase_if(uses, [&](const WorkUses::Use& use) {
    if (api.cuEventQuery(use.behind->event) == CUDA_ERROR_NOT_READY) return false;
    use.behind->in_flight.store(false, std::memory_order_relaxed);
    return true;
  });
}

/// Something that ends once no work uses it.
struct Ending {
  CUresult (*destroy)(const driver::DriverApi& api, std::uint64_t handle) = nullptr;
  std::uint64_t handle = 0;
  const char* function = nullptr;
  std::shared_ptr<error::ContextBox> context;
  WorkUses uses;
  std::shared_ptr<void> kept;  ///< lives until then

  /// Destroys the handle, unless its context has ended; returns false if it is too early.
  bool try_now(const driver::DriverApi& api, bool may_wait) noexcept;
};

/// Waits for all work of the current context. Returns false if a capture forbids that.
bool wait_for_context(const driver::DriverApi& api) noexcept {
  if (any_capture()) return false;
  const CUresult finished = api.cuCtxSynchronize();
  if (finished == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) return false;
  if (finished != CUDA_SUCCESS) error::report_unraisable(finished, "cuCtxSynchronize");
  return true;
}

bool Ending::try_now(const driver::DriverApi& api, bool may_wait) noexcept {
  if (!error::is_alive(api, *context)) return true;
  const EndScope ending(api);
  std::optional<error::ContextScope> scope;
  try {
    scope.emplace(api, *context);
  } catch (const std::exception&) {  // the driver knows where the handle belongs
  }
  if (may_wait) {
    uses.wait(api);
  } else if (uses.query(api) == CUDA_ERROR_NOT_READY) {
    return false;
  }
  if (uses.anywhere && scope && !wait_for_context(api)) return false;
  const CUresult result = destroy(api, handle);
  if (result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) return false;
  if (result != CUDA_SUCCESS) error::report_unraisable(result, function);
  return true;
}

/// Ends something on another thread, as soon as no work uses it.
void end_later(const std::shared_ptr<Ending>& ending) noexcept {
  try_elsewhere([ending] {
    const driver::DriverApi* api = driver::api_for_cleanup();
    if (api == nullptr) return true;
    if (!ending->uses.anywhere) return ending->try_now(*api, false);
    if (any_capture()) return false;
    // To wait for the context takes a thread of its own.
    try {
      std::thread([ending] {
        const driver::DriverApi* cleanup = driver::api_for_cleanup();
        if (cleanup != nullptr && !ending->try_now(*cleanup, true)) end_later(ending);
      }).detach();
    } catch (const std::system_error&) {
      return false;
    }
    return true;
  });
}

template <auto function>
CUresult destroy_by(const driver::DriverApi& api, std::uint64_t handle) {
  using Handle =
      decltype([]<typename T>(CUresult (*driver::DriverApi::*)(T)) -> T { return {}; }(function));
  return (api.*function)(std::bit_cast<Handle>(handle));
}

/// Ends a box that has a handle.
template <auto function, typename Handle>
void end(UsedByWork& box, const char* name, Handle handle,
         std::shared_ptr<void> kept = nullptr) noexcept {
  const driver::DriverApi* api = driver::api_for_cleanup();
  if (api == nullptr) return;
  Ending ending{&destroy_by<function>,
                std::bit_cast<std::uint64_t>(handle),
                name,
                std::move(box.context),
                box.take_uses(),
                std::move(kept)};
  // Python's garbage collector can be anywhere: what other code does with a handle may depend on
  // what this thread does next.
  const bool may_not_wait = ending.uses.anywhere && error::interrupt_hook() != nullptr;
  if (in_callback() || may_not_wait || !ending.try_now(*api, !any_capture())) {
    end_later(std::make_shared<Ending>(std::move(ending)));
  }
}

}  // namespace

CUresult WorkUses::query(const driver::DriverApi& api) noexcept {
  forget_done(api, known);
  return known.empty() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
}

void WorkUses::wait(const driver::DriverApi& api) noexcept {
  if (query(api) == CUDA_SUCCESS) return;
  for (const Use& use : known) (void)api.cuEventSynchronize(use.behind->event);
  known.clear();
}

void UsedByWork::add_use(const driver::DriverApi& api, CUstream stream, std::uint64_t number,
                         std::shared_ptr<EventBox> spare) {
  constexpr std::size_t many = 8;
  const std::scoped_lock lock(mutex_);
  auto found = std::ranges::find_if(
      known_, [number](const WorkUses::Use& use) { return number != 0 && use.stream == number; });
  if (found == known_.end()) {
    if (known_.size() >= many) forget_done(api, known_);
    known_.push_back({number, std::move(spare)});
    found = known_.end() - 1;
  }
  EventBox& behind = *found->behind;
  behind.recorded.store(true, std::memory_order_relaxed);
  behind.in_flight.store(true, std::memory_order_relaxed);
  error::check(api.cuEventRecord(behind.event, stream), "cuEventRecord");
}

void UsedByWork::forget_uses() noexcept {
  std::vector<WorkUses::Use> ended;  // dropped without the lock
  const std::scoped_lock lock(mutex_);
  ended.swap(known_);
  has_handle_.store(false, std::memory_order_relaxed);
}

WorkUses UsedByWork::uses() const {
  const std::scoped_lock lock(mutex_);
  return {known_, has_handle_.load(std::memory_order_relaxed)};
}

MipmapBox::~MipmapBox() {
  if (array == nullptr || owner != nullptr) return;
  end<&driver::DriverApi::cuMipmappedArrayDestroy>(*this, "cuMipmappedArrayDestroy", array);
}

ArrayBox::~ArrayBox() {
  if (array == nullptr || mipmap != nullptr || owner != nullptr) return;
  end<&driver::DriverApi::cuArrayDestroy>(*this, "cuArrayDestroy", array);
}

TextureBox::~TextureBox() {
  if (texture == 0) return;
  end<&driver::DriverApi::cuTexObjectDestroy>(*this, "cuTexObjectDestroy", texture,
                                              std::move(memory));
}

SurfaceBox::~SurfaceBox() {
  if (surface == 0) return;
  end<&driver::DriverApi::cuSurfObjectDestroy>(*this, "cuSurfObjectDestroy", surface,
                                               std::move(array));
}

}  // namespace cudacore::owner
