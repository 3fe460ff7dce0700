// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "bindings/foreign_array.hpp"
#include "cudacore/stream.hpp"
#include "error/context_box.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::bindings {

/// The arrays of other libraries among the arguments of one launch: the streams that their work is
/// queued on, if those are not the launch's own, and what keeps their memory until the launch is
/// queued. With the GIL, except where a function says otherwise.
class LaunchArrays : driver::NotCopied {
 public:
  /// For a launch on `stream`, whose work_context() is `context`. Both must outlast this object.
  LaunchArrays(const owner::StreamBox& stream, const std::shared_ptr<error::ContextBox>& context)
      : stream_(&stream), context_(&context) {}

  [[nodiscard]] int device() const noexcept { return (*context_)->device; }
  [[nodiscard]] CUstream stream() const noexcept { return stream_->stream; }

  /// Notes the stream of an array on the launch's device, and takes what keeps its memory.
  /// @throw ForeignArrayError if it names a stream that is none.
  void add(ForeignArray& array);
  /// Notes the stream that the library of a borrowed array works on.
  /// @throw ForeignArrayError; what the library raises.
  void add(const dlpack::ExchangeApi& api, dlpack::Device place) {
    if (&api != asked_ || place != asked_for_) ask(api, place);
  }

  /// Whether there are streams to be ordered.
  [[nodiscard]] bool has_producers() const noexcept { return !producers_.empty(); }
  /// Makes the launch's stream wait for the arrays' streams. Without the GIL, since it may block.
  void wait_for_producers() const;
  /// Makes the arrays' streams wait for the launch, so that memory which is freed or reused there
  /// is not in use any more. Without the GIL.
  void make_producers_wait() const;

 private:
  void ask(const dlpack::ExchangeApi& api, dlpack::Device place);
  void add_producer(CUstream stream);
  [[nodiscard]] bool is_own(CUstream stream) const;
  [[nodiscard]] Stream own() const;

  const owner::StreamBox* stream_;
  const std::shared_ptr<error::ContextBox>* context_;
  const dlpack::ExchangeApi* asked_ = nullptr;  ///< the library that was asked for its stream last
  dlpack::Device asked_for_{};                  ///< and for which device
  std::vector<Stream> producers_;
  std::vector<ForeignArray::Owner> owners_;
};

}  // namespace cudacore::bindings
