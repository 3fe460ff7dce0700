// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "error/sticky.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {

/// The call that releases memory, with the context of its stream or device current. Continues if
/// the context cannot be bound or is lost: the driver knows where the memory belongs, and memory
/// that is not released is lost for good.
class ReleaseCall {
 public:
  /// `device` is the memory's device, or -1 for none; it is used if there is no stream.
  ReleaseCall(const std::optional<Stream>& stream, int device) : api_(&driver::api()) {
    if (stream) {
      stream_ = &stream->box();
      if (*stream_ == nullptr || owner::is_default_stream((*stream_)->stream)) {
        bound_ = stream_for_release(*stream);
        stream_ = &bound_;
      }
    }
    if (stream_ != nullptr && (*stream_)->context && error::is_forgotten(*(*stream_)->context)) {
      error::throw_if_lost(*(*stream_)->context);  // the memory is gone with it
    }
    try {
      context_ = stream_ != nullptr ? &(*stream_)->work_context()
                 : device >= 0      ? &error::primary_context(device)
                                    : &error::current_context();
      scope_.emplace(*api_, **context_);
    } catch (const Error&) {  // the release itself will report what is wrong
    }
  }

  /// Records that a pool has memory to release at the next wait.
  void note_freed_to_pool() const noexcept {
    if (context_ != nullptr) (*context_)->freed_to_pool.store(true, std::memory_order_relaxed);
  }
  [[nodiscard]] const driver::DriverApi& api() const noexcept { return *api_; }
  /// Null if the release uses no stream.
  [[nodiscard]] std::shared_ptr<owner::StreamBox> shared_stream() const noexcept {
    return stream_ != nullptr ? *stream_ : nullptr;
  }
  /// Null if the context cannot be bound.
  [[nodiscard]] std::shared_ptr<error::ContextBox> context() const noexcept {
    return scope_ ? *context_ : nullptr;
  }
  [[nodiscard]] CUstream stream() const noexcept {
    return stream_ != nullptr ? (*stream_)->stream : CU_STREAM_LEGACY;
  }
  void check(CUresult result, const char* function, CUdeviceptr pointer, std::size_t size) const {
    error::check(
        result, function,
        [&] { return error::format_bytes(size) + " at " + error::format_address(pointer); },
        context_ != nullptr ? context_->get() : nullptr);
  }

 private:
  const driver::DriverApi* api_;
  const std::shared_ptr<owner::StreamBox>* stream_ = nullptr;
  std::shared_ptr<owner::StreamBox> bound_;  ///< the stream that a default stream stands for
  const std::shared_ptr<error::ContextBox>* context_ = nullptr;
  std::optional<error::ContextScope> scope_;
};

}  // namespace cudacore
