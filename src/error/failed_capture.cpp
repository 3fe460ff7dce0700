// SPDX-License-Identifier: Apache-2.0
#include "error/failed_capture.hpp"

#include <mutex>

#include "driver/leaked.hpp"

namespace cudacore::error {
namespace {

struct Note {
  std::mutex mutex;
  std::string message;
};

Note& note() { return driver::leaked<Note>(); }

}  // namespace

void note_failed_capture(CUresult result, const std::string& message) noexcept {
  if (result < CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED || result > CUDA_ERROR_CAPTURED_EVENT ||
      result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) {
    return;
  }
  try {
    Note& last = note();
    const std::scoped_lock lock(last.mutex);
    last.message = message;
  } catch (...) {  // memory is short: the error at the end says less
  }
}

std::string failed_capture() {
  Note& last = note();
  const std::scoped_lock lock(last.mutex);
  if (last.message.empty()) return {};
  return ", by this call: " + last.message.substr(0, last.message.find_last_not_of('.') + 1);
}

void forget_failed_capture() noexcept {
  Note& last = note();
  const std::scoped_lock lock(last.mutex);
  last.message.clear();
}

}  // namespace cudacore::error
