// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "cudacore/event.hpp"
#include "cudacore/memory_resource.hpp"
#include "error/check.hpp"
#include "error/context_box.hpp"
#include "owner/default_streams.hpp"
#include "owner/owned_handles.hpp"
#include "owner/require_open.hpp"

// What the public objects share: how they call the driver, and how boxes are made.

namespace cudacore {

/// A call in a context: the driver table, and the context, which is current while this object
/// lives.
class ContextCall : driver::NotCopied {
 public:
  explicit ContextCall(const std::shared_ptr<error::ContextBox>& context)
      : api_(&driver::api()), context_(&usable(context)), scope_(*api_, *context) {}

  [[nodiscard]] const driver::DriverApi& api() const noexcept { return *api_; }
  [[nodiscard]] const std::shared_ptr<error::ContextBox>& context() const noexcept {
    return *context_;
  }
  /// Does nothing on success. `object` is what the call was made on, or a function that says so.
  template <typename Object = std::string_view>
  void check(CUresult result, const char* function, const Object& object = {}) const {
    error::check(result, function, object, context_->get());
  }

 private:
  static const std::shared_ptr<error::ContextBox>& usable(
      const std::shared_ptr<error::ContextBox>& context) {
    error::throw_if_lost(*context);
    return context;
  }

  const driver::DriverApi* api_;
  const std::shared_ptr<error::ContextBox>* context_;
  error::ContextScope scope_;
};

/// A call on a stream, in the context that its work runs in.
class StreamCall : public ContextCall {
 public:
  explicit StreamCall(const owner::StreamBox& stream)
      : ContextCall(stream.work_context()), stream_(&stream) {}

  [[nodiscard]] CUstream stream() const noexcept { return stream_->stream; }
  using ContextCall::check;
  void check(CUresult result, const char* function) const {
    check(result, function, [this] { return owner::describe_stream(*stream_); });
  }

 private:
  const owner::StreamBox* stream_;
};

/// Waits for all work of a context, as Context::sync() does, unless a capture that began here
/// forbids that: returns false then.
///
/// It asks right before the wait: a capture may begin during anything that comes earlier, and those
/// of others are not known. `kept` lives until the driver returns, also if the wait is interrupted.
/// @throw Error, InterruptedError
[[nodiscard]] bool sync_outside_captures(const std::shared_ptr<error::ContextBox>& context,
                                         const std::shared_ptr<void>& kept = nullptr);

/// @throw std::invalid_argument if the context's device has no streams of this priority.
void check_priority(const ContextCall& call, int priority);

/// A stream that orders the release of memory used on `stream`, whichever thread releases it. It is
/// bound to a context, and never per-thread: the legacy stream replaces a per-thread one, because
/// it waits for it.
[[nodiscard]] std::shared_ptr<owner::StreamBox> stream_for_release(const Stream& stream);

/// Creates an event (cuEventCreate), or reuses one that no one can tell from a new one. An event
/// that the caller records before anyone else sees it may have been recorded before.
[[nodiscard]] std::shared_ptr<owner::EventBox> make_event(
    const std::shared_ptr<error::ContextBox>& context, const EventOptions& options,
    bool is_recorded_next = false);

/// An empty buffer that knows which resource its memory goes back to, and on which stream. Without
/// a resource, nothing is released.
[[nodiscard]] std::shared_ptr<owner::BufferBox> new_buffer(
    std::shared_ptr<MemoryResource> resource, const std::optional<Stream>& stream = std::nullopt);

}  // namespace cudacore
