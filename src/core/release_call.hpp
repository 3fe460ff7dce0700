// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>

#include "core/calls.hpp"
#include "cudacore/error.hpp"

namespace cudacore {

/// The call that gives memory back, with the context of its stream or device current. Goes on where
/// the context cannot be bound or is lost: the driver knows where the memory belongs, and memory
/// that is not given back is lost for good.
class ReleaseCall {
 public:
  /// `device` is where the memory lives, -1 for none; it counts where there is no stream.
  ReleaseCall(const std::optional<Stream>& stream, int device) : api_(&driver::api()) {
    if (stream) stream_ = release_stream(*stream);
    try {
      context_ = stream_ != nullptr ? stream_->work_context()
                 : device >= 0      ? handle::primary_context(device)
                                    : handle::current_context();
      scope_.emplace(*api_, *context_);
    } catch (const Error&) {  // the release itself tells what is wrong
    }
  }

  [[nodiscard]] const driver::DriverApi& api() const noexcept { return *api_; }
  [[nodiscard]] bool has_stream() const noexcept { return stream_ != nullptr; }
  [[nodiscard]] CUstream stream() const noexcept {
    return stream_ != nullptr ? stream_->stream : CU_STREAM_LEGACY;
  }
  void check(CUresult result, const char* function, CUdeviceptr pointer, std::size_t size) const {
    if (result == CUDA_SUCCESS) [[likely]]
      return;
    handle::throw_driver_error(
        result, function, handle::format_bytes(size) + " at " + handle::format_address(pointer),
        context_.get());
  }

 private:
  const driver::DriverApi* api_;
  std::shared_ptr<handle::StreamBox> stream_;
  std::shared_ptr<handle::ContextBox> context_;
  std::optional<handle::ContextScope> scope_;
};

}  // namespace cudacore
