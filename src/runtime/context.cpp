// SPDX-License-Identifier: Apache-2.0
#include "cudacore/context.hpp"

#include "cudacore/device.hpp"
#include "error/describe.hpp"
#include "error/wait.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {

Context Context::current() { return Context(handle::current_context()); }
CUcontext Context::handle() const noexcept { return box_->context; }
Device Context::device() const noexcept { return Device::from_known_ordinal(box_->device); }
bool Context::is_lost() const noexcept { return box_->lost.load(std::memory_order_acquire); }

void Context::set_current() const {
  const driver::DriverApi& api = driver::api();
  handle::throw_if_lost(*box_);
  const CUresult result = api.cuCtxSetCurrent(box_->context);
  if (result != CUDA_SUCCESS) {
    handle::throw_driver_error(result, "cuCtxSetCurrent",
                               "the context of " + handle::describe_device(box_->device),
                               box_.get());
  }
}

void Context::sync() const {
  const ContextCall call(box_);
  const std::uint64_t mark = box_->history.mark();
  const auto wait = [](const driver::DriverApi& api) { return api.cuCtxSynchronize(); };
  const CUresult result = handle::interrupt_hook() != nullptr ? handle::wait_on_thread(box_, wait)
                                                              : call.api().cuCtxSynchronize();
  if (result != CUDA_SUCCESS) {
    handle::throw_driver_error(result, "cuCtxSynchronize",
                               "the context of " + handle::describe_device(box_->device),
                               box_.get());
  }
  box_->history.synced(mark);
}

}  // namespace cudacore
