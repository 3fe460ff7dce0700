// SPDX-License-Identifier: Apache-2.0
#include "cudacore/external_semaphore.hpp"

#include <stdexcept>
#include <string>

#include "cudacore/device.hpp"
#include "cudacore/error.hpp"
#include "error/describe.hpp"
#include "owner/external_boxes.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/context_call.hpp"
#include "runtime/imported_file.hpp"

namespace cudacore {
namespace {

owner::ExternalSemaphoreBox& opened(const ExternalSemaphore& semaphore) {
  return require_open(semaphore.box(), "ExternalSemaphore");
}

/// Queues work on a semaphore, and remembers when it is done.
template <typename Parameters, typename Queue>
void use_semaphore(const char* caller, const char* function, owner::ExternalSemaphoreBox& box,
                   const Stream& stream, std::uint64_t value, Queue queue_work) {
  if (!box.is_timeline && value != 0) {
    throw std::invalid_argument(std::string(caller) +
                                ": only a timeline has values; this semaphore is signaled or not");
  }
  refuse(capture_refusal(caller, stream));
  const StreamCall call(require_open(stream.box(), "Stream"));
  auto behind = make_event(call.context(), {}, true);
  Parameters parameters{};
  parameters.params.fence.value = value;
  call.check((call.api().*queue_work)(&box.semaphore, &parameters, 1, call.stream()), function,
             [&] {
               return "external semaphore " + error::format_address(box.semaphore) + " of " +
                      error::describe_device(box.context->device);
             });
  call.check(call.api().cuEventRecord(behind->event, call.stream()), "cuEventRecord");
  behind->recorded.store(true, std::memory_order_relaxed);
  behind->in_flight.store(true, std::memory_order_relaxed);
  box.add_use(call.api(), std::move(behind));
}

}  // namespace

ExternalSemaphore ExternalSemaphore::from_fd(int fd, bool is_timeline) {
  constexpr const char* function = "ExternalSemaphore.from_fd";
  auto box = std::make_shared<owner::ExternalSemaphoreBox>();
  driver::Descriptor file = duplicate_file(function, fd);
  box->context = error::current_context();
  box->is_timeline = is_timeline;
  const ContextCall call(box->context);
  const Device device = Device::from_known_ordinal(box->context->device);
  if (is_timeline &&
      device.attribute(CU_DEVICE_ATTRIBUTE_TIMELINE_SEMAPHORE_INTEROP_SUPPORTED) == 0) {
    throw NotSupportedError(std::string(function) + ": " + error::describe_device(device.id()) +
                            " can't do this: its property timeline_semaphore_interop_supported "
                            "is false");
  }
  CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC description{};
  description.type = is_timeline ? CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_TIMELINE_SEMAPHORE_FD
                                 : CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD;
  description.handle.fd = file.get();
  call.check(call.api().cuImportExternalSemaphore(&box->semaphore, &description),
             "cuImportExternalSemaphore", [&] {
               return "file " + std::to_string(fd) + ", on " + error::describe_device(device.id());
             });
  (void)file.release();
  return ExternalSemaphore(std::move(box));
}

CUexternalSemaphore ExternalSemaphore::handle() const { return opened(*this).semaphore; }
bool ExternalSemaphore::is_timeline() const { return opened(*this).is_timeline; }
Device ExternalSemaphore::device() const {
  return Device::from_known_ordinal(opened(*this).context->device);
}

void ExternalSemaphore::signal(const Stream& stream, std::uint64_t value) const {
  use_semaphore<CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS>(
      "Stream.signal", "cuSignalExternalSemaphoresAsync", opened(*this), stream, value,
      &driver::DriverApi::cuSignalExternalSemaphoresAsync);
}

void ExternalSemaphore::wait(const Stream& stream, std::uint64_t value) const {
  use_semaphore<CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS>(
      "Stream.wait_signal", "cuWaitExternalSemaphoresAsync", opened(*this), stream, value,
      &driver::DriverApi::cuWaitExternalSemaphoresAsync);
}

}  // namespace cudacore
