// SPDX-License-Identifier: Apache-2.0
#include "cudacore/context.hpp"

#include <array>
#include <stdexcept>
#include <utility>

#include "cudacore/device.hpp"
#include "error/describe.hpp"
#include "error/wait.hpp"
#include "owner/callback.hpp"
#include "owner/captures.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

std::string describe(const error::ContextBox& box) {
  return (box.is_green ? "the green context of " : "the context of ") +
         error::describe_device(box.device);
}

error::ContextBox& open(const Context& context) {
  return owner::require_open(context.box(), "Context");
}

constexpr std::array limit_names{"stack_size",
                                 "printf_fifo_size",
                                 "malloc_heap_size",
                                 "dev_runtime_sync_depth",
                                 "dev_runtime_pending_launch_count",
                                 "max_l2_fetch_granularity",
                                 "persisting_l2_cache_size"};
constexpr std::size_t largest_l2_granularity = 128;

std::string describe(ContextLimit limit, const error::ContextBox& box) {
  return std::string("the limit ") + limit_names.at(static_cast<std::size_t>(limit)) + " of " +
         describe(box);
}

}  // namespace

Context::Context(std::shared_ptr<error::ContextBox> box) noexcept
    : box_(error::with_green_share(std::move(box))) {}

Context Context::current() { return Context(error::current_context()); }
CUcontext Context::handle() const { return open(*this).context; }
Device Context::device() const { return Device::from_known_ordinal(open(*this).device); }
bool Context::is_green() const { return open(*this).is_green; }
bool Context::is_lost() const { return open(*this).lost.load(std::memory_order_acquire); }

void Context::close() {
  if (box_ == nullptr || !box_->is_green) return;
  CUcontext current = nullptr;
  // A host callback has no current context, and may not ask for it.
  if (!owner::in_callback()) {
    error::check(driver::api().cuCtxGetCurrent(&current), "cuCtxGetCurrent");
  }
  if (current == box_->context) {
    throw std::logic_error("a Context cannot be closed while it is current: make another current");
  }
  box_.reset();
}

void Context::set_current() const {
  // A thread's current context must not end.
  thread_local std::shared_ptr<error::ContextBox> kept;
  error::ContextBox& box = open(*this);
  const driver::DriverApi& api = driver::api();
  error::throw_if_lost(box);
  error::check(
      api.cuCtxSetCurrent(box.context), "cuCtxSetCurrent", [&] { return describe(box); }, &box);
  if (box.is_green || kept != nullptr) {
    const auto unused = std::exchange(kept, box.is_green ? box_ : nullptr);
  }
}

std::size_t Context::limit(ContextLimit limit) const {
  const error::ContextBox& box = open(*this);
  const ContextCall call(box_);
  std::size_t value = 0;
  call.check(call.api().cuCtxGetLimit(&value, static_cast<CUlimit>(limit)), "cuCtxGetLimit",
             [&] { return describe(limit, box); });
  return value;
}

void Context::set_limit(ContextLimit limit, std::size_t value) const {
  const error::ContextBox& box = open(*this);
  if (limit == ContextLimit::max_l2_fetch_granularity && value > largest_l2_granularity) {
    throw std::invalid_argument("max_l2_fetch_granularity must lie in 0 .. 128 bytes, not " +
                                std::to_string(value));
  }
  const ContextCall call(box_);
  const bool is_of_started_kernels =
      limit == ContextLimit::printf_fifo_size || limit == ContextLimit::malloc_heap_size;
  call.check(call.api().cuCtxSetLimit(static_cast<CUlimit>(limit), value), "cuCtxSetLimit", [&] {
    return describe(limit, box) + " to " + std::to_string(value) +
           (is_of_started_kernels
                ? ", which can't change once a kernel that prints or allocates was launched"
                : ", which may be more than the device has");
  });
}

void Context::reset_persisting_l2_cache() const {
  const error::ContextBox& box = open(*this);
  const ContextCall call(box_);
  call.check(call.api().cuCtxResetPersistingL2Cache(), "cuCtxResetPersistingL2Cache",
             [&] { return describe(box); });
}

void Context::sync() const {
  static_cast<void>(open(*this));
  const ContextCall call(box_);
  const std::uint64_t mark = box_->history.mark();
  const auto wait = [](const driver::DriverApi& api) { return api.cuCtxSynchronize(); };
  call.check(error::wait_on_thread(box_, wait), "cuCtxSynchronize",
             [&] { return describe(*box_); });
  box_->history.synced(mark);
}

bool sync_outside_captures(const std::shared_ptr<error::ContextBox>& context,
                           const std::shared_ptr<void>& kept) {
  const ContextCall call(context);
  const std::uint64_t mark = context->history.mark();
  const CUresult result = error::wait_on_thread(context, [kept](const driver::DriverApi& api) {
    return owner::any_capture() ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED : api.cuCtxSynchronize();
  });
  if (result == CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) return false;
  call.check(result, "cuCtxSynchronize", [&] { return describe(*context); });
  context->history.synced(mark);
  return true;
}

}  // namespace cudacore
