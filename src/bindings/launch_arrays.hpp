// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "bindings/foreign_array.hpp"
#include "cudacore/stream.hpp"
#include "error/context_box.hpp"
#include "owner/texture_boxes.hpp"

namespace cudacore::bindings {

/// The arrays of other libraries among the arguments of one launch: the streams that their work is
/// queued on, if those are not the launch's own, and what keeps their memory until the launch is
/// queued. Also the numbers of a recorded function among them. With the GIL, except where a
/// function says otherwise.
class LaunchArrays : driver::NotCopied {
 public:
  /// For a launch on `stream`, whose work_context() is `context`. Both must outlast this object.
  LaunchArrays(const owner::StreamBox& stream, const std::shared_ptr<error::ContextBox>& context)
      : stream_(&stream), context_(&context) {}
  /// The values of numbers that nobody took were used.
  ~LaunchArrays() {
    if (!numbers_.empty()) [[unlikely]]
      fix_numbers(numbers_);
  }

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

  /// Takes a share of what the launch uses, and another thread may close before it is queued.
  void keep(std::shared_ptr<void> used) { used_.push_back(std::move(used)); }

  /// The same for what must be told what uses it.
  void keep_used(std::shared_ptr<owner::UsedByWork> used) { noted_.push_back(std::move(used)); }
  [[nodiscard]] bool notes_uses() const noexcept { return !noted_.empty(); }
  /// Notes the launch, which is queued. Without the GIL.
  void note_uses() const noexcept;

  /// A number of a recorded function, and the parameter that it is for.
  struct Number {
    std::size_t parameter;
    PyObject* object;
  };
  void add_number(Number number) { numbers_.push_back(number); }
  /// For a recorder, which replaces their values.
  [[nodiscard]] std::vector<Number> take_numbers() noexcept { return std::exchange(numbers_, {}); }

 private:
  static void fix_numbers(const std::vector<Number>& numbers) noexcept;
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
  std::vector<std::shared_ptr<void>> used_;
  std::vector<std::shared_ptr<owner::UsedByWork>> noted_;
  std::vector<Number> numbers_;
};

}  // namespace cudacore::bindings
