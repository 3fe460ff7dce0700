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

const owner::EventBox& open(const Event& event) { return require_open(event.box(), "Event"); }

void check(CUresult result, const char* function, const owner::EventBox& box) {
  const auto describe = [&] {
    return "event " + error::format_address(box.event) + " of " +
           error::describe_device(box.context->device);
  };
  error::check(result, function, describe, box.context.get());
}

/// Clears an event's in_flight before the driver is asked, and sets it again unless the record was
/// reached: a record that another thread makes meanwhile is never taken for reached.
class Waiting : driver::NotCopied {
 public:
  explicit Waiting(owner::EventBox& box) noexcept : box_(&box) {
    box_->in_flight.store(false, std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_seq_cst);  // before what the driver reads
  }
  ~Waiting() {
    if (!reached_) box_->in_flight.store(true, std::memory_order_relaxed);
  }

  void has_reached() noexcept { reached_ = true; }

 private:
  owner::EventBox* box_;
  bool reached_ = false;
};

/// @throw std::invalid_argument, NotSupportedError
void require_shared_events(const EventOptions& options, const error::ContextBox& context) {
  if (options.timing_enabled) {
    throw std::invalid_argument(
        "EventOptions: an event with ipc_enabled has no timing; leave timing_enabled out");
  }
  const Device device = Device::from_known_ordinal(context.device);
  if (device.attribute(CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED) == 0) {
    throw NotSupportedError("EventOptions.ipc_enabled: " + error::describe_device(device.id()) +
                            " shares no events with other processes (ipc_event_supported is 0)");
  }
}

CUevent create_event(const std::shared_ptr<error::ContextBox>& context,
                     const EventOptions& options) {
  const ContextCall call(context);
  const unsigned flags = (options.timing_enabled ? 0U : unsigned{CU_EVENT_DISABLE_TIMING}) |
                         (options.blocking_sync ? unsigned{CU_EVENT_BLOCKING_SYNC} : 0U) |
                         (options.ipc_enabled ? unsigned{CU_EVENT_INTERPROCESS} : 0U);
  const driver::BlockingScope scope;
  CUevent event = nullptr;
  call.check(call.api().cuEventCreate(&event, flags), "cuEventCreate",
             [&] { return error::describe_device(context->device); });
  return event;
}

}  // namespace

std::shared_ptr<owner::EventBox> make_event(const std::shared_ptr<error::ContextBox>& context,
                                            const EventOptions& options, bool is_recorded_next) {
  if (options.ipc_enabled) require_shared_events(options, *context);
  auto box = std::make_shared<owner::EventBox>();
  box->context = context;
  box->kind = {options.timing_enabled, options.blocking_sync, is_recorded_next};
  error::throw_if_ended(driver::api(), *context);
  if (options.ipc_enabled) {
    box->is_ipc = true;
    box->is_shared = true;  // it is never kept for reuse
    box->event = create_event(context, options);
    return box;
  }
  box->event = context->idle_events.take(box->kind);
  if (box->event != nullptr) return box;
  box->kind.recorded = false;
  if (is_recorded_next) box->event = context->idle_events.take(box->kind);
  if (box->event != nullptr) return box;
  box->event = create_event(context, options);
  return box;
}

Event::Event(const EventOptions& options) : Event(Context::current(), options) {}

Event::Event(const Context& context, const EventOptions& options)
    : Event((static_cast<void>(owner::require_open(context.box(), "Context")),
             make_event(context.box(), options))) {}

CUevent Event::handle() const {
  open(*this);
  box_->is_shared.store(true, std::memory_order_relaxed);
  return box_->event;
}

Context Event::context() const { return Context(open(*this).context); }
Device Event::device() const { return context().device(); }
bool Event::is_timing_enabled() const { return open(*this).kind.timing; }
bool Event::is_blocking_sync() const { return open(*this).kind.blocking; }
bool Event::is_ipc_enabled() const { return open(*this).is_ipc; }

bool Event::is_done() const {
  const owner::EventBox& box = open(*this);
  const driver::DriverApi& api = driver::api();
  error::throw_if_lost(*box.context);
  if (!box.may_be_recorded()) return true;
  Waiting waiting(*box_);
  const CUresult result = api.cuEventQuery(box.event);
  if (result == CUDA_ERROR_NOT_READY) return false;
  check(result, "cuEventQuery", box);
  waiting.has_reached();
  return true;
}

void Event::sync() const {
  const owner::EventBox& box = open(*this);
  const driver::DriverApi& api = driver::api();
  error::throw_if_lost(*box.context);
  if (!box.may_be_recorded()) return;
  Waiting waiting(*box_);
  const bool polls = error::interrupt_hook() != nullptr;
  if (polls) {
    const auto query = [&] { return api.cuEventQuery(box.event); };
    check(error::wait_until_ready(query, !box.kind.blocking), "cuEventQuery", box);
  }
  // Pools release freed memory only when the driver waits, not when a query finds that all work is
  // done.
  if (!polls || box.context->take_freed_to_pool()) {
    check(api.cuEventSynchronize(box.event), "cuEventSynchronize", box);
  }
  waiting.has_reached();
}

float Event::elapsed_since(const Event& start) const {
  const owner::EventBox& end_box = open(*this);
  const owner::EventBox& start_box = open(start);
  const driver::DriverApi& api = driver::api();
  error::throw_if_lost(*end_box.context);
  error::throw_if_lost(*start_box.context);
  if (!end_box.kind.timing || !start_box.kind.timing) {
    throw std::invalid_argument(
        std::string("the ") + (end_box.kind.timing ? "start" : "end") +
        " event has no timing: create both with EventOptions(timing_enabled=True)");
  }
  if (end_box.context != start_box.context) {
    throw std::invalid_argument("the events are of different contexts (" +
                                error::describe_device(start_box.context->device) + " and " +
                                error::describe_device(end_box.context->device) +
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
    const char* const which = are_recorded                  ? "an event"
                              : start_box.may_be_recorded() ? "the end event"
                                                            : "the start event";
    throw std::invalid_argument(std::string(which) +
                                " was never recorded: record() both on a stream first");
  }
  check(result, "cuEventElapsedTime", end_box);
  return milliseconds;
}

}  // namespace cudacore
