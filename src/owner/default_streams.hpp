// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "owner/owned_handles.hpp"

// The streams that nobody creates: each context has the legacy one, each thread one of its own in
// each context.

namespace cudacore::owner {

/// Whether a handle is the legacy default stream's, by either of its names.
[[nodiscard]] inline bool is_legacy_stream(CUstream stream) noexcept {
  return stream == nullptr || stream == CU_STREAM_LEGACY;
}

[[nodiscard]] inline bool is_per_thread_stream(CUstream stream) noexcept {
  return stream == CU_STREAM_PER_THREAD;
}

/// Whether a handle is one of the two, in whichever context is current.
[[nodiscard]] inline bool is_default_stream(CUstream stream) noexcept {
  return is_legacy_stream(stream) || is_per_thread_stream(stream);
}

/// A stream that is not ours to destroy. A default stream is that of `context`, or of the current
/// one for null.
[[nodiscard]] inline std::shared_ptr<StreamBox> borrow_stream(
    CUstream stream, std::shared_ptr<error::ContextBox> context) {
  auto box = std::make_shared<StreamBox>();
  box->stream = stream;
  box->context = std::move(context);
  return box;
}

/// The legacy default stream of a context; of the current one for null.
[[nodiscard]] inline std::shared_ptr<StreamBox> legacy_stream(
    std::shared_ptr<error::ContextBox> context) {
  return borrow_stream(CU_STREAM_LEGACY, std::move(context));
}

}  // namespace cudacore::owner
