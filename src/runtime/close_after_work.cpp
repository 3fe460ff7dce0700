// SPDX-License-Identifier: Apache-2.0
#include "runtime/close_after_work.hpp"

#include <exception>

#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "error/wait.hpp"
#include "owner/callback.hpp"
#include "owner/captures.hpp"
#include "runtime/block_list.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

/// Drops a share of something on another thread, once it isn't used.
void drop_later(std::shared_ptr<void> last, owner::WorkUses uses) {
  owner::try_elsewhere([last = std::move(last), uses = std::move(uses)]() mutable {
    const driver::DriverApi* api = driver::api_for_cleanup();
    return api == nullptr || uses.query(*api) != CUDA_ERROR_NOT_READY;
  });
}

}  // namespace

void note_use(owner::UsedByWork& used, const owner::StreamBox& stream) noexcept {
  try {
    const StreamCall call(stream);
    if (owner::is_captured(stream)) return;
    used.add_use(call.api(), call.stream(), stream_key(stream),
                 make_event(call.context(), {}, true));
  } catch (const std::exception&) {
    used.note_handle();  // it is waited for with everything else
  }
}

void wait_for_uses(std::shared_ptr<void> last, owner::UsedByWork& used) {
  // During a capture, the destructor lets another thread wait.
  if (owner::in_callback() || owner::any_capture()) return;
  const driver::DriverApi* api = driver::api_for_cleanup();
  const std::shared_ptr<error::ContextBox> context = used.context;
  if (api == nullptr || context->lost.load(std::memory_order_relaxed)) return;
  owner::WorkUses uses = used.uses();
  const auto describe = [&] { return error::describe_device(context->device); };
  try {
    const auto query = [&] { return uses.query(*api); };
    error::check(error::wait_until_ready(query), "cuEventQuery", describe, context.get());
  } catch (const InterruptedError&) {
    drop_later(std::move(last), std::move(uses));
    throw;
  }
  if (uses.anywhere && !sync_outside_captures(context, last)) return;  // the end is tried again
  used.forget_uses();
}

}  // namespace cudacore
