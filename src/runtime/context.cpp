// SPDX-License-Identifier: Apache-2.0
#include "cudacore/context.hpp"

#include "cudacore/device.hpp"
#include "error/describe.hpp"
#include "error/wait.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

std::string describe(const error::ContextBox& box) {
  return "the context of " + error::describe_device(box.device);
}

}  // namespace

Context Context::current() { return Context(error::current_context()); }
CUcontext Context::handle() const noexcept { return box_->context; }
Device Context::device() const noexcept { return Device::from_known_ordinal(box_->device); }
bool Context::is_lost() const noexcept { return box_->lost.load(std::memory_order_acquire); }

void Context::set_current() const {
  const driver::DriverApi& api = driver::api();
  error::throw_if_lost(*box_);
  error::check(
      api.cuCtxSetCurrent(box_->context), "cuCtxSetCurrent", [&] { return describe(*box_); },
      box_.get());
}

void Context::sync() const {
  const ContextCall call(box_);
  const std::uint64_t mark = box_->history.mark();
  const auto wait = [](const driver::DriverApi& api) { return api.cuCtxSynchronize(); };
  const CUresult result = error::interrupt_hook() != nullptr ? error::wait_on_thread(box_, wait)
                                                             : call.api().cuCtxSynchronize();
  error::check(
      result, "cuCtxSynchronize", [&] { return describe(*box_); }, box_.get());
  box_->history.synced(mark);
}

}  // namespace cudacore
