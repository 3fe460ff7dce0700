// SPDX-License-Identifier: Apache-2.0
#include "runtime/free_after_work.hpp"

#include <exception>
#include <utility>

#include "error/unraisable.hpp"
#include "error/wait.hpp"
#include "owner/callback.hpp"
#include "owner/captures.hpp"

namespace cudacore {
namespace {

using Free = std::function<CUresult(const driver::DriverApi&)>;

/// To wait for a stream would end its capture: this frees on another thread, when that is over and
/// the stream's work is done.
void free_after_capture(const std::shared_ptr<owner::StreamBox>& stream,
                        const std::shared_ptr<error::ContextBox>& context,
                        const Free& free) noexcept {
  owner::try_elsewhere([stream, context, free] {
    const driver::DriverApi* api = driver::api_for_cleanup();
    if (api == nullptr || !error::is_alive(*api, *context)) return true;
    const owner::OutsideCaptures outside(*api);
    try {
      if (owner::is_captured(*stream)) return false;
      const error::ContextScope scope(*api, *context);
      const CUresult finished = api->cuStreamQuery(stream->stream);
      if (finished == CUDA_ERROR_NOT_READY) return false;
      const CUresult freed = free(*api);
      const CUresult result = freed != CUDA_SUCCESS ? freed : finished;
      if (result != CUDA_SUCCESS) error::report_unraisable(result, "the release of memory");
    } catch (const std::exception&) {  // the context was lost, and the memory with it
    }
    return true;
  });
}

/// A driver that fails to say so must not keep the memory.
bool is_surely_captured(const owner::StreamBox& stream) noexcept {
  try {
    return owner::is_captured(stream);
  } catch (const std::exception&) {
    return false;
  }
}

}  // namespace

CUresult free_after_work(const ReleaseCall& call, const Free& free) {
  const std::shared_ptr<owner::StreamBox> captured = call.shared_stream();
  if (captured != nullptr && call.context() != nullptr && is_surely_captured(*captured)) {
    free_after_capture(captured, call.context(), free);
    return CUDA_SUCCESS;
  }
  const auto wait_and_free = [stream = call.shared_stream(), free](const driver::DriverApi& api) {
    const owner::OutsideCaptures outside(api);
    const CUresult finished =
        stream != nullptr ? api.cuStreamSynchronize(stream->stream) : CUDA_SUCCESS;
    const CUresult freed = free(api);
    return freed != CUDA_SUCCESS ? freed : finished;
  };
  const bool is_heard = error::interrupt_hook() != nullptr && !error::NobodyCatchesScope::here();
  return is_heard && call.context() != nullptr
             ? error::wait_on_thread(call.context(), wait_and_free)
             : wait_and_free(call.api());
}

}  // namespace cudacore
