// SPDX-License-Identifier: Apache-2.0
#include "cudacore/event.hpp"

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "driver/blocking.hpp"
#include "error/describe.hpp"
#include "error/wait.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

const handle::EventBox& open(const Event& event) { return require_open(event.box(), "Event"); }

void check(CUresult result, const char* function, const handle::EventBox& box) {
  const auto describe = [&] {
    return "event " + handle::format_address(box.event) + " of " +
           handle::describe_device(box.context->device);
  };
  handle::check(result, function, describe, box.context.get());
}

/// Whether the driver still has the context: other code may have reset the device, which destroys
/// its events.
bool is_alive(const driver::DriverApi& api, const handle::ContextBox& context) noexcept {
  unsigned long long id = 0;
  return api.cuCtxGetId(context.context, &id) == CUDA_SUCCESS && id == context.id;
}

/// Clears an event's in_flight before the driver is asked, and sets it again unless the record was
/// reached: a record that another thread makes meanwhile is never taken for reached.
class Waiting : driver::NotCopied {
 public:
  explicit Waiting(handle::EventBox& box) noexcept : box_(&box) {
    box_->in_flight.store(false, std::memory_order_seq_cst);
  }
  ~Waiting() {
    if (!reached_) box_->in_flight.store(true, std::memory_order_relaxed);
  }

  void has_reached() noexcept { reached_ = true; }

 private:
  handle::EventBox* box_;
  bool reached_ = false;
};

}  // namespace

Event::Event(const EventOptions& options) : Event(Context::current(), options) {}

Event::Event(const Context& context, const EventOptions& options)
    : box_(std::make_shared<handle::EventBox>()) {
  if (options.ipc_enabled) handle::throw_no_ipc("EventOptions.ipc_enabled");
  box_->context = context.box();
  box_->timing = options.timing_enabled;
  box_->blocking = options.blocking_sync;
  const ContextCall call(context.box());
  if (is_alive(call.api(), *context.box())) {
    box_->event = context.box()->idle_events.take(box_->timing, box_->blocking);
    if (box_->event != nullptr) return;
  }
  const unsigned flags = (options.timing_enabled ? 0U : unsigned{CU_EVENT_DISABLE_TIMING}) |
                         (options.blocking_sync ? unsigned{CU_EVENT_BLOCKING_SYNC} : 0U);
  const driver::BlockingScope scope;
  CUevent event = nullptr;
  handle::check(
      call.api().cuEventCreate(&event, flags), "cuEventCreate",
      [&] { return handle::describe_device(context.box()->device); }, context.box().get());
  box_->event = event;
}

CUevent Event::handle() const {
  open(*this);
  box_->is_shared.store(true, std::memory_order_relaxed);
  return box_->event;
}

Context Event::context() const { return Context(open(*this).context); }
Device Event::device() const { return context().device(); }
bool Event::is_timing_enabled() const { return open(*this).timing; }
bool Event::is_blocking_sync() const { return open(*this).blocking; }

bool Event::is_done() const {
  const handle::EventBox& box = open(*this);
  const driver::DriverApi& api = driver::api();
  handle::throw_if_lost(*box.context);
  if (!box.may_be_recorded()) return true;
  Waiting waiting(*box_);
  const CUresult result = api.cuEventQuery(box.event);
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result, "cuEventQuery", box);
  waiting.has_reached();
  return true;
}

void Event::sync() const {
  const handle::EventBox& box = open(*this);
  const driver::DriverApi& api = driver::api();
  handle::throw_if_lost(*box.context);
  if (!box.may_be_recorded()) return;
  Waiting waiting(*box_);
  const bool polls = handle::interrupt_hook() != nullptr;
  if (polls) {
    const auto query = [&] { return api.cuEventQuery(box.event); };
    check(handle::wait_until_ready(query, !box.blocking), "cuEventQuery", box);
  }
  // Pools release freed memory only when the driver waits, not when a query finds that all work is
  // done.
  if (!polls || box.context->take_freed_to_pool()) {
    check(api.cuEventSynchronize(box.event), "cuEventSynchronize", box);
  }
  waiting.has_reached();
}

float Event::elapsed_since(const Event& start) const {
  const handle::EventBox& end_box = open(*this);
  const handle::EventBox& start_box = open(start);
  const driver::DriverApi& api = driver::api();
  handle::throw_if_lost(*end_box.context);
  handle::throw_if_lost(*start_box.context);
  if (!end_box.timing || !start_box.timing) {
    throw std::invalid_argument(
        std::string("the ") + (end_box.timing ? "start" : "end") +
        " event has no timing: create both with EventOptions(timing_enabled=True)");
  }
  if (end_box.context != start_box.context) {
    throw std::invalid_argument("the events are of different contexts (" +
                                handle::describe_device(start_box.context->device) + " and " +
                                handle::describe_device(end_box.context->device) +
                                "): only events of one can be subtracted");
  }
  float milliseconds = 0;
  const bool are_recorded = start_box.may_be_recorded() && end_box.may_be_recorded();
  const CUresult result =
      are_recorded ? api.cuEventElapsedTime(&milliseconds, start_box.event, end_box.event)
                   : CUDA_ERROR_INVALID_HANDLE;
  if (result == CUDA_ERROR_NOT_READY) {
    throw std::invalid_argument("an event has not been reached yet: sync() the end event first");
  }
  if (result == CUDA_ERROR_INVALID_HANDLE) {
    throw std::invalid_argument("an event was never recorded: record() both on a stream first");
  }
  check(result, "cuEventElapsedTime", end_box);
  return milliseconds;
}

}  // namespace cudacore
