// SPDX-License-Identifier: Apache-2.0
#include "bindings/launch_arrays.hpp"

#include <algorithm>

#include "bindings/recorder.hpp"
#include "cudacore/error.hpp"
#include "owner/default_streams.hpp"
#include "runtime/close_after_work.hpp"

namespace cudacore::bindings {
void LaunchArrays::add(ForeignArray& array) {
  if (array.owner) owners_.push_back(std::move(array.owner));
  if (array.api == nullptr) {
    add_producer(array.stream);
  } else {
    add(*array.api, array.tensor.device);
  }
}

void LaunchArrays::ask(const dlpack::ExchangeApi& api, dlpack::Device place) {
  add_producer(current_stream(api, place));
  asked_ = &api;
  asked_for_ = place;
}

void LaunchArrays::add_producer(CUstream stream) {
  if (stream == nullptr || is_own(stream)) return;
  const auto& primary = error::primary_context(device());
  const bool is_known =
      std::any_of(producers_.begin(), producers_.end(),
                  [&](const Stream& producer) { return producer.box()->stream == stream; });
  if (is_known) return;
  try {
    producers_.push_back(owner::is_default_stream(stream)
                             ? Stream(owner::borrow_stream(stream, primary))
                             : Stream::from_handle(stream));
  } catch (const InvalidValueError& error) {
    throw ForeignArrayError(std::string("the stream it names does not exist: ") + error.what());
  }
}

bool LaunchArrays::is_own(CUstream stream) const {
  if (stream != stream_->stream) return false;
  return !owner::is_default_stream(stream) || *context_ == error::primary_context(device());
}

void LaunchArrays::fix_numbers(const std::vector<Number>& numbers) noexcept {
  Recorder* recorder = Recorder::active();
  if (recorder == nullptr) return;
  for (const Number& number : numbers) recorder->fix_number(number.object);
}

Stream LaunchArrays::own() const {
  return Stream(owner::borrow_stream(stream_->stream, *context_));
}

void LaunchArrays::wait_for_producers() const {
  const Stream stream = own();
  for (const Stream& producer : producers_) stream.wait(producer);
}

void LaunchArrays::note_uses() const noexcept {
  for (const std::shared_ptr<owner::UsedByWork>& used : noted_) note_use(*used, *stream_);
}

void LaunchArrays::make_producers_wait() const {
  const Event queued = own().record(EventOptions{});
  for (const Stream& producer : producers_) producer.wait(queued);
}

}  // namespace cudacore::bindings
