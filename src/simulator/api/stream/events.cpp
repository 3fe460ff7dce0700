// SPDX-License-Identifier: Apache-2.0
#include <chrono>
#include <memory>
#include <utility>

#include "simulator/api/stream/capture.hpp"
#include "simulator/api/stream/simple_actions.hpp"

namespace cudacore::simulator {

namespace {

class Mark final : public Work {
 public:
  explicit Mark(std::shared_ptr<Recording> recording) : recording_(std::move(recording)) {}
  Progress run(const Turn&) noexcept override {
    const auto now = std::chrono::steady_clock::now().time_since_epoch();
    recording_->nanoseconds.store(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count(),
                                  std::memory_order_release);
    return Progress::done;
  }

 private:
  std::shared_ptr<Recording> recording_;
};

class Pass final : public Work {
 public:
  Progress run(const Turn&) noexcept override { return Progress::done; }
};

/// A call on an event: CUresult body(Event&).
template <class Body>
CUresult event_call(CUevent handle, Body&& body) noexcept {
  return driver_call([&] {
    const std::shared_ptr<Event> event = registry().events.find(handle);
    if (event == nullptr) {
      return refuse(CUDA_ERROR_INVALID_HANDLE, registry().events.is_known(handle)
                                                   ? "the event has been destroyed"
                                                   : "the handle is not one of an event");
    }
    if (const CUresult status = event->context->status(); status != CUDA_SUCCESS) return status;
    return body(*event);
  });
}

/// For calls that query an event or wait for it.
CUresult check_use(const Event& event) {
  const CUresult status = check_captured_event(event);
  return status == CUDA_SUCCESS ? check_unsafe_call() : status;
}

CUresult wait_shared(const Stream& waiting, const Event& event) {
  if (waiting.is_capturing()) return refuse_in_graph();
  const std::uint64_t number = event.shared->newest();
  if (event.shared->has_reached(number)) return CUDA_SUCCESS;
  return waiting.enqueue(make_shared_wait(event.shared, number));
}

CUresult elapsed_time(float* milliseconds, CUevent start, CUevent end) {
  return event_call(start, [&](Event& first) {
    return event_call(end, [&](Event& second) {
      if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
      if (first.context != second.context) {
        return refuse(CUDA_ERROR_INVALID_HANDLE, "the events are of different contexts");
      }
      if (((first.flags | second.flags) & CU_EVENT_DISABLE_TIMING) != 0) {
        return refuse(CUDA_ERROR_INVALID_HANDLE, "an event was created without timing");
      }
      const std::shared_ptr<Recording> from = first.recording();
      const std::shared_ptr<Recording> to = second.recording();
      if (from == nullptr || to == nullptr) {
        return refuse(CUDA_ERROR_INVALID_HANDLE, "an event was never recorded");
      }
      for (const Event* event : {&first, &second}) {
        const CUresult status = check_captured_event(*event);
        if (status != CUDA_SUCCESS) return status;
      }
      if (!from->point.passed() || !to->point.passed()) return CUDA_ERROR_NOT_READY;
      *milliseconds = static_cast<float>(
          static_cast<double>(to->nanoseconds.load(std::memory_order_acquire) -
                              from->nanoseconds.load(std::memory_order_acquire)) /
          1e6);
      return CUDA_SUCCESS;
    });
  });
}

}  // namespace

CUresult refuse_in_graph() noexcept {
  return refuse(CUDA_ERROR_NOT_SUPPORTED,
                "events of several processes are not simulated in graphs");
}

CUevent add_event(Context& context, unsigned flags, std::shared_ptr<SharedEvent> shared) {
  CUevent event = registry().events.insert(
      std::make_shared<Event>(context.shared_from_this(), flags, std::move(shared)));
  const std::scoped_lock lock(context.streams->mutex);
  context.streams->events.insert(event);
  return event;
}

CUresult Event::record(const Stream& stream) {
  forget_captured(*this);
  if (shared != nullptr) {
    const std::uint64_t number = shared->begin_record();
    const CUresult result = stream.enqueue(make_shared_mark(shared, number));
    if (result != CUDA_SUCCESS) shared->end_record(number);
    return result;
  }
  auto recording = std::make_shared<Recording>();
  auto mark = make_mark(recording);
  recording->point.queue = stream.queue;
  const CUresult result = stream.enqueue(std::move(mark), {}, &recording->point.sequence);
  if (result == CUDA_SUCCESS) set(std::move(recording));
  return result;
}

void Event::set(std::shared_ptr<Recording> recording) {
  const std::scoped_lock lock(mutex_);
  recording_.swap(recording);
}

std::unique_ptr<Work> make_mark(std::shared_ptr<Recording> recording) {
  return std::make_unique<Mark>(std::move(recording));
}

std::unique_ptr<Work> make_pass() { return std::make_unique<Pass>(); }

}  // namespace cudacore::simulator

using namespace cudacore::simulator;

extern "C" {

CUresult cuEventCreate(CUevent* handle, unsigned flags) {
  return context_call([&](Context& context) {
    constexpr unsigned known =
        CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS;
    if (handle == nullptr || (flags & ~known) != 0) return CUDA_ERROR_INVALID_VALUE;
    std::shared_ptr<SharedEvent> shared;
    if ((flags & CU_EVENT_INTERPROCESS) != 0) {
      if ((flags & CU_EVENT_DISABLE_TIMING) == 0) {
        return refuse(CUDA_ERROR_INVALID_VALUE, "an event of several processes has no timing");
      }
      shared = SharedEvent::create(context.device);
      if (shared == nullptr) {
        return refuse(CUDA_ERROR_OPERATING_SYSTEM, "no file descriptor is free");
      }
    }
    *handle = add_event(context, flags, std::move(shared));
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy_v2(CUevent handle) {
  return driver_call([&] {
    const std::shared_ptr<Event> event = registry().events.erase(handle);
    if (event == nullptr) return refuse(CUDA_ERROR_INVALID_HANDLE, "not a live event");
    const std::scoped_lock lock(event->context->streams->mutex);
    event->context->streams->events.erase(handle);
    return event->context->error();
  });
}

CUresult cuEventDestroy(CUevent handle) { return cuEventDestroy_v2(handle); }

CUresult cuEventQuery(CUevent handle) {
  return event_call(handle, [](Event& event) {
    if (const CUresult status = check_use(event); status != CUDA_SUCCESS) return status;
    if (event.shared != nullptr && !event.shared->has_reached(event.shared->newest())) {
      return CUDA_ERROR_NOT_READY;
    }
    const std::shared_ptr<Recording> recording = event.recording();
    if (recording != nullptr && !recording->point.passed()) return CUDA_ERROR_NOT_READY;
    return event.context->status();
  });
}

CUresult cuEventSynchronize(CUevent handle) {
  return event_call(handle, [](Event& event) {
    if (const CUresult status = check_use(event); status != CUDA_SUCCESS) return status;
    if (event.shared != nullptr) event.shared->wait(event.shared->newest());
    if (const std::shared_ptr<Recording> recording = event.recording()) {
      recording->point.wait();
      release_unused_memory(event.context->device);
    }
    return event.context->status();
  });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return cuEventRecordWithFlags(event, stream, 0);
}
CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned flags) {
  return event_call(handle, [&](Event& event) {
    if ((flags & ~unsigned{CU_EVENT_RECORD_EXTERNAL}) != 0) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "unknown flags of cuEventRecordWithFlags");
    }
    return stream_call(stream, [&](const std::shared_ptr<Stream>& into) {
      if (&into->context != event.context.get()) {
        return refuse(CUDA_ERROR_INVALID_HANDLE, "the event is one of another context");
      }
      if (!into->is_capturing()) return event.record(*into);
      if (event.shared != nullptr) return refuse_in_graph();
      if ((flags & CU_EVENT_RECORD_EXTERNAL) == 0) return capture_event(*into, event);
      return capture(*into, make_record_action(handle, registry().events.find(handle)));
    });
  });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return elapsed_time(milliseconds, start, end);
}
CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return elapsed_time(milliseconds, start, end);
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent handle, unsigned flags) {
  return event_call(handle, [&](Event& event) {
    if ((flags & ~unsigned{CU_EVENT_WAIT_EXTERNAL}) != 0) {
      return refuse(CUDA_ERROR_INVALID_VALUE, "unknown flags of cuStreamWaitEvent");
    }
    return stream_call(stream, [&](const std::shared_ptr<Stream>& waiting) {
      if (event.shared != nullptr) return wait_shared(*waiting, event);
      if (waiting->is_capturing() && (flags & CU_EVENT_WAIT_EXTERNAL) != 0) {
        return capture(*waiting, make_wait_action(handle, registry().events.find(handle)));
      }
      if (waiting->is_capturing() || event.is_captured.load(std::memory_order_relaxed)) {
        return capture_wait(*waiting, event);
      }
      const std::shared_ptr<Recording> recording = event.recording();
      if (recording == nullptr || recording->point.passed()) return CUDA_SUCCESS;
      return waiting->enqueue(make_pass(), {recording->point});
    });
  });
}

}  // extern "C"
