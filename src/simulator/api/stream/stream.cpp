// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/stream/stream.hpp"

#include <algorithm>
#include <vector>

#include "simulator/api/stream/capture.hpp"
#include "simulator/api/stream/per_thread.hpp"
#include "simulator/api/texture/array.hpp"

namespace cudacore::simulator {

namespace {

constinit thread_local bool default_is_own = false;
constexpr auto stream_detached = static_cast<CUresult>(917);  // newer than CUDA 13.0

std::uint64_t next_stream_id() noexcept {
  static std::atomic<std::uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

/// The calling thread's own stream in a context.
std::shared_ptr<Stream> per_thread_stream(Context& context) {
  std::vector<std::shared_ptr<Stream>>& own =
      PerThread<std::vector<std::shared_ptr<Stream>>>::get();
  for (const std::shared_ptr<Stream>& stream : own) {
    if (&stream->context == &context) return stream;
  }
  std::erase_if(own, [](const std::shared_ptr<Stream>& stream) {
    return stream->context.destroyed.load(std::memory_order_acquire);
  });
  auto stream = std::make_shared<Stream>(context, context.shared_from_this(),
                                         context.streams->group->create_queue(QueueKind::blocking),
                                         CU_STREAM_DEFAULT, least_stream_priority);
  stream->handle = CU_STREAM_PER_THREAD;
  return own.emplace_back(std::move(stream));
}

}  // namespace

Stream::Stream(Context& in, std::shared_ptr<Context> kept, std::shared_ptr<Queue> its_queue,
               unsigned its_flags, int its_priority)
    : context(in),
      keep(std::move(kept)),
      queue(std::move(its_queue)),
      flags(its_flags),
      id(next_stream_id()),
      priority(std::clamp(its_priority, greatest_stream_priority, least_stream_priority)) {}

Stream::~Stream() {
  if (is_capturing()) forget_capture(*this);
}

CUresult Stream::check_capture() const {
  if (is_capturing()) return refuse_in_capture(*this);
  return queue->kind() == QueueKind::legacy ? check_legacy_stream(context, true) : CUDA_SUCCESS;
}

CUresult Stream::check_context() const noexcept {
  const CUresult status = context.status();
  if (status != CUDA_SUCCESS) queue->group().fail(status);
  return status;
}

CUresult Stream::enqueue(std::unique_ptr<Work> work, std::vector<Point> after,
                         std::uint64_t* sequence) const {
  if (const CUresult status = check_context(); status != CUDA_SUCCESS) return status;
  if (const CUresult status = check_capture(); status != CUDA_SUCCESS) return status;
  return queue->enqueue(std::move(work), std::move(after), sequence);
}

CUresult Stream::synchronize() const {
  if (const CUresult status = check_capture(); status != CUDA_SUCCESS) return status;
  const CUresult result = queue->synchronize();
  if (const CUresult status = check_context(); status != CUDA_SUCCESS) return status;
  release_unused_memory(context.device);
  return result;
}

ContextStreams::ContextStreams(Context& context)
    : group(QueueGroup::create()),
      legacy(context, nullptr, group->create_queue(QueueKind::legacy), CU_STREAM_DEFAULT,
             least_stream_priority) {
  legacy.handle = CU_STREAM_LEGACY;
}

OwnDefaultStream::OwnDefaultStream() noexcept { default_is_own = true; }
OwnDefaultStream::~OwnDefaultStream() { default_is_own = false; }

std::shared_ptr<Stream> find_stream(CUstream handle, CUresult& status) {
  const bool is_default = handle == nullptr;
  if (is_default || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD) {
    Context* context = nullptr;
    status = current_context(context);
    if (status != CUDA_SUCCESS) return nullptr;
    if (handle == CU_STREAM_PER_THREAD || (is_default && default_is_own)) {
      return per_thread_stream(*context);
    }
    return {context->shared_from_this(), &context->streams->legacy};
  }
  status = driver_status();
  if (status != CUDA_SUCCESS) return nullptr;
  std::shared_ptr<Stream> stream = registry().streams.find(handle);
  if (stream == nullptr) {
    status = refuse(CUDA_ERROR_INVALID_HANDLE, registry().streams.is_known(handle)
                                                   ? "the stream has been destroyed"
                                                   : "the handle is not one of a stream");
    return nullptr;
  }
  if (stream->green != nullptr && stream->green->destroyed.load(std::memory_order_acquire)) {
    status = refuse(stream_detached, "the stream's green context has been destroyed");
    return nullptr;
  }
  status = stream->context.status();
  if (status != CUDA_SUCCESS) return nullptr;
  return stream;
}

Context& context_of(const Stream& stream) noexcept { return stream.context; }

std::shared_ptr<ContextStreams> make_context_streams(Context& context) {
  return std::make_shared<ContextStreams>(context);
}

CUresult synchronize_context(Context& context) {
  // A broken context drops its work, so the wait will end.
  static_cast<void>(context.streams->legacy.check_context());
  const CUresult result = context.streams->group->synchronize();
  if (const CUresult status = context.status(); status != CUDA_SUCCESS) return status;
  release_unused_memory(context.device);
  return result;
}

void release_context(Context& context) noexcept {
  ContextStreams& streams = *context.streams;
  const CUresult error = context.error();
  streams.group->fail(error != CUDA_SUCCESS ? error : CUDA_ERROR_CONTEXT_IS_DESTROYED);
  static_cast<void>(streams.group->synchronize());
  {
    const std::scoped_lock lock(streams.mutex);
    for (CUstream stream : streams.streams) registry().streams.erase(stream);
    for (CUevent event : streams.events) registry().events.erase(event);
    streams.streams.clear();
    streams.events.clear();
  }
  release_context_memory(context);
  release_context_arrays(context);
}

}  // namespace cudacore::simulator
