// SPDX-License-Identifier: Apache-2.0
#include "cudacore/stream.hpp"

#include <exception>
#include <utility>

#include "cudacore/device.hpp"
#include "error/describe.hpp"
#include "error/sticky.hpp"
#include "error/unraisable.hpp"
#include "error/wait.hpp"
#include "owner/callback.hpp"
#include "owner/captures.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

const owner::StreamBox& open(const Stream& stream) { return require_open(stream.box(), "Stream"); }

/// Null unless it is a green context of ours.
CUgreenCtx green_handle(const error::ContextBox& context) noexcept {
  if (!context.is_green) return nullptr;
  const std::shared_ptr<void> green = context.green.lock();
  return green != nullptr ? static_cast<const owner::GreenBox*>(green.get())->green : nullptr;
}

CUstream create_green_stream(const ContextCall& call, CUgreenCtx green,
                             const StreamOptions& options) {
  if (!options.nonblocking) {
    throw std::invalid_argument("a stream of a green context must be non-blocking");
  }
  if (call.api().cuGreenCtxStreamCreate == nullptr) {
    driver::throw_missing_symbol("cuGreenCtxStreamCreate", 12050);
  }
  CUstream stream = nullptr;
  call.check(call.api().cuGreenCtxStreamCreate(&stream, green, CU_STREAM_NON_BLOCKING,
                                               options.priority.value_or(0)),
             "cuGreenCtxStreamCreate",
             [&] { return error::describe_device(call.context()->device); });
  return stream;
}

using Callback = std::function<void()>;

void call_back(const Callback& callback) noexcept {
  try {
    callback();
  } catch (const std::exception& error) {
    error::report_unraisable(("a stream callback raised: " + std::string(error.what())).c_str());
  } catch (...) {
    error::report_unraisable("a stream callback raised something unknown");
  }
}

void run_callback(void* argument) noexcept {
  const owner::CallbackScope scope;  // outlives what the callback holds
  const std::unique_ptr<Callback> callback(static_cast<Callback*>(argument));
  call_back(*callback);
}

/// Once for each launch of the graph that keeps it.
void run_captured_callback(void* argument) noexcept {
  const owner::CallbackScope scope;
  call_back(static_cast<const owner::Kept*>(argument)->callback);
}

/// `what` tells what is waited for.
void wait_for(const Stream& stream, const Event& event, const std::function<std::string()>& what) {
  const owner::EventBox& awaited = require_open(event.box(), "Event");
  const StreamCall call(open(stream));
  error::throw_if_lost(*awaited.context);
  if (!awaited.may_be_recorded()) return;
  call.check(call.api().cuStreamWaitEvent(call.stream(), awaited.event, CU_EVENT_WAIT_DEFAULT),
             "cuStreamWaitEvent",
             [&] { return owner::describe_stream(*stream.box()) + ", to wait for " + what(); });
  if (owner::any_capture()) owner::note_waiting(call.api(), *stream.box());
}

}  // namespace

void check_priority(const ContextCall& call, int priority) {
  int least = 0;
  int greatest = 0;
  call.check(call.api().cuCtxGetStreamPriorityRange(&least, &greatest),
             "cuCtxGetStreamPriorityRange");
  if (priority >= greatest && priority <= least) return;
  throw std::invalid_argument("stream priority " + std::to_string(priority) + " is outside " +
                              std::to_string(greatest) + " (most urgent) to " +
                              std::to_string(least) + ", the range of " +
                              error::describe_device(call.context()->device));
}

std::shared_ptr<owner::StreamBox> stream_for_release(const Stream& stream) {
  const owner::StreamBox& box = open(stream);
  if (box.context != nullptr && error::is_forgotten(*box.context)) {
    error::throw_if_lost(*box.context);  // no release would ever be ordered on it
  }
  if (!owner::is_default_stream(box.stream)) return stream.box();
  const bool is_bound = box.context != nullptr && !owner::is_per_thread_stream(box.stream);
  return is_bound ? stream.box() : owner::legacy_stream(box.work_context());
}

Stream::Stream(const StreamOptions& options) : Stream(Context::current(), options) {}

Stream::Stream(const Context& context, const StreamOptions& options)
    : box_(std::make_shared<owner::StreamBox>()) {
  box_->context = context.box();
  error::throw_if_ended(driver::api(), owner::require_open(context.box(), "Context"));
  const ContextCall call(context.box());
  if (options.priority) check_priority(call, *options.priority);
  if (const CUgreenCtx green = green_handle(*context.box())) {
    box_->stream = create_green_stream(call, green, options);
    box_->owned = true;
    return;
  }
  const unsigned flags = options.nonblocking ? CU_STREAM_NON_BLOCKING : CU_STREAM_DEFAULT;
  CUstream stream = nullptr;
  call.check(call.api().cuStreamCreateWithPriority(&stream, flags, options.priority.value_or(0)),
             "cuStreamCreateWithPriority",
             [&] { return error::describe_device(context.box()->device); });
  box_->stream = stream;
  box_->owned = true;
}

Stream Stream::legacy_default() { return Stream(owner::legacy_stream(nullptr)); }
Stream Stream::per_thread_default() {
  return Stream(owner::borrow_stream(CU_STREAM_PER_THREAD, nullptr));
}

Stream Stream::from_handle(CUstream handle, std::shared_ptr<void> owner) {
  owner::captures_possible.store(true, std::memory_order_relaxed);
  auto box = owner::borrow_stream(handle == nullptr ? CU_STREAM_LEGACY : handle, nullptr);
  box->owner = std::move(owner);
  if (!owner::is_default_stream(handle)) {
    CUcontext context = nullptr;
    error::check(driver::api().cuStreamGetCtx(handle, &context), "cuStreamGetCtx",
                 [&] { return "stream " + error::format_address(handle); });
    box->context = error::with_green_share(error::context_box(context));
  }
  return Stream(std::move(box));
}

CUstream Stream::handle() const {
  const owner::StreamBox& box = open(*this);
  owner::captures_possible.store(true, std::memory_order_relaxed);
  return box.stream;
}
Context Stream::context() const { return Context(open(*this).work_context()); }
Device Stream::device() const { return context().device(); }

bool Stream::is_nonblocking() const {
  const StreamCall call(open(*this));
  unsigned flags = 0;
  call.check(call.api().cuStreamGetFlags(call.stream(), &flags), "cuStreamGetFlags");
  return (flags & CU_STREAM_NON_BLOCKING) != 0;
}

int Stream::priority() const {
  const StreamCall call(open(*this));
  int priority = 0;
  call.check(call.api().cuStreamGetPriority(call.stream(), &priority), "cuStreamGetPriority");
  return priority;
}

void Stream::record(const Event& event) const {
  owner::EventBox& recorded = require_open(event.box(), "Event");
  const StreamCall call(open(*this));
  error::throw_if_lost(*recorded.context);
  call.check(call.api().cuEventRecord(recorded.event, call.stream()), "cuEventRecord");
  recorded.recorded.store(true, std::memory_order_relaxed);
  recorded.in_flight.store(true, std::memory_order_release);  // after the driver has the record
}

Event Stream::record(const EventOptions& options) const {
  Event event(make_event(context().box(), options, true));
  record(event);
  return event;
}

void Stream::wait(const Event& event) const {
  wait_for(*this, event, [&event] { return "event " + error::format_address(event.handle()); });
}

void Stream::wait(const Stream& other) const {
  wait_for(*this, other.record(EventOptions{}),
           [&other] { return owner::describe_stream(*other.box()); });
}

void Stream::sync() const {
  const owner::StreamBox& box = open(*this);
  const StreamCall call(box);
  const std::uint64_t mark = call.context()->history.mark();
  const bool polls = error::interrupt_hook() != nullptr;
  if (polls) {
    const auto query = [&] { return call.api().cuStreamQuery(call.stream()); };
    call.check(error::wait_until_ready(query), "cuStreamQuery");
  }
  // Pools release freed memory only when the driver waits, not when a query finds that all work is
  // done.
  if (!polls || call.context()->take_freed_to_pool()) {
    call.check(call.api().cuStreamSynchronize(box.stream), "cuStreamSynchronize");
  }
  call.context()->history.synced(mark, box.stream);
}

bool Stream::is_done() const {
  const StreamCall call(open(*this));
  const CUresult result = call.api().cuStreamQuery(call.stream());
  if (result == CUDA_ERROR_NOT_READY) return false;
  call.check(result, "cuStreamQuery");
  return true;
}

void Stream::add_callback(std::function<void()> function) const {
  if (!function) throw std::invalid_argument("add_callback needs a function to call");
  const StreamCall call(open(*this));
  if (owner::is_captured(*box_)) {
    auto kept = std::make_shared<owner::Kept>();
    kept->callback = std::move(function);
    call.check(call.api().cuLaunchHostFunc(call.stream(), run_captured_callback, kept.get()),
               "cuLaunchHostFunc");
    owner::keep_in_capture(call.api(), *box_, std::move(kept));
    return;
  }
  auto callback = std::make_unique<Callback>(std::move(function));
  call.check(call.api().cuLaunchHostFunc(call.stream(), run_callback, callback.get()),
             "cuLaunchHostFunc");
  (void)callback.release();  // run_callback() owns it now
}

bool operator==(const Stream& a, const Stream& b) {
  if (a.box_ == nullptr || b.box_ == nullptr) return a.box_ == b.box_;
  if (a.box_->stream != b.box_->stream) return false;
  return !owner::is_default_stream(a.box_->stream) || a.box_->context == b.box_->context;
}

}  // namespace cudacore
