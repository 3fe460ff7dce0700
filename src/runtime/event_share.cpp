// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "cudacore/error.hpp"
#include "cudacore/event.hpp"
#include "driver/leaked.hpp"
#include "error/describe.hpp"
#include "runtime/context_call.hpp"
#include "runtime/known_shares.hpp"

namespace cudacore {
namespace {

/// A driver may not open an event in the process that made it.
KnownShares<owner::EventBox>& known_events() {
  static auto& known = driver::leaked<KnownShares<owner::EventBox>>();
  return known;
}

}  // namespace

EventShare Event::share() const {
  const owner::EventBox& box = require_open(box_, "Event");
  if (!box.is_ipc) {
    throw NotSupportedError(
        "this Event is not IPC-enabled: create it with EventOptions(ipc_enabled=True)");
  }
  const ContextCall call(box.context);
  CUipcEventHandle handle{};
  call.check(call.api().cuIpcGetEventHandle(&handle, box.event), "cuIpcGetEventHandle",
             [&] { return "event " + error::format_address(box.event); });
  EventShare share;
  static_assert(sizeof handle == sizeof share.handle);
  std::memcpy(share.handle.data(), &handle, sizeof handle);
  share.blocking_sync = box.kind.blocking;
  known_events().add(share.handle, box_);
  return share;
}

Event Event::open_shared(const Context& context, const EventShare& share) {
  error::throw_if_ended(driver::api(), *context.box());
  if (auto known = known_events().find(share.handle)) return Event(std::move(known));
  auto box = std::make_shared<owner::EventBox>();
  box->context = context.box();
  box->kind = {false, share.blocking_sync, true};
  box->is_ipc = true;
  box->is_shared = true;
  const ContextCall call(context.box());
  CUipcEventHandle handle{};
  std::memcpy(&handle, share.handle.data(), sizeof handle);
  CUevent event = nullptr;
  call.check(call.api().cuIpcOpenEventHandle(&event, handle), "cuIpcOpenEventHandle",
             [&] { return error::describe_device(context.box()->device); });
  box->event = event;
  known_events().add(share.handle, box);
  return Event(std::move(box));
}

}  // namespace cudacore
