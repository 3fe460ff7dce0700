// SPDX-License-Identifier: Apache-2.0
#include "cudacore/external_memory.hpp"

#include <cerrno>
#include <stdexcept>
#include <string>
#include <system_error>

#include <fcntl.h>

#include "cudacore/device.hpp"
#include "driver/descriptor.hpp"
#include "owner/external_boxes.hpp"
#include "runtime/captured_work.hpp"
#include "runtime/free_after_work.hpp"

namespace cudacore {
namespace {

const owner::ExternalMemoryBox& opened(const ExternalMemory& memory) {
  return require_open(memory.box(), "ExternalMemory");
}
owner::ExternalSemaphoreBox& opened(const ExternalSemaphore& semaphore) {
  return require_open(semaphore.box(), "ExternalSemaphore");
}

/// The driver takes the file that it imports over, but only if it succeeds: it gets its own.
driver::Descriptor duplicate(const char* function, int fd) {
  driver::Descriptor copy(fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (copy) return copy;
  if (fd >= 0 && errno != EBADF) {
    throw std::system_error(errno, std::generic_category(), std::string(function) + ": fd");
  }
  throw std::invalid_argument(std::string(function) + ": " + std::to_string(fd) +
                              " is not an open file");
}

/// Unmaps buffers, and keeps the import meanwhile.
class MappedMemoryResource final : public MemoryResource {
 public:
  explicit MappedMemoryResource(std::shared_ptr<owner::ExternalMemoryBox> memory)
      : memory_(std::move(memory)) {}

  Buffer allocate(std::size_t /*size*/, const std::optional<Stream>& /*stream*/) override {
    throw NotSupportedError(
        "external memory comes from another API: use ExternalMemory.map_buffer");
  }
  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override {
    const ReleaseCall call(stream, device_id());
    const auto unmap = [pointer](const driver::DriverApi& api) { return api.cuMemFree(pointer); };
    call.check(free_after_work(call, unmap), "cuMemFree", pointer, size);
  }
  [[nodiscard]] bool is_device_accessible() const override { return true; }
  [[nodiscard]] bool is_host_accessible() const override { return false; }
  [[nodiscard]] int device_id() const override { return memory_->context->device; }
  [[nodiscard]] bool ends_with_reset() const noexcept override { return true; }

 private:
  std::shared_ptr<owner::ExternalMemoryBox> memory_;
};

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

ExternalMemory ExternalMemory::from_fd(int fd, std::size_t size, bool is_dedicated) {
  constexpr const char* function = "ExternalMemory.from_fd";
  if (size == 0) throw std::invalid_argument(std::string(function) + ": size is 0");
  auto box = std::make_shared<owner::ExternalMemoryBox>();
  driver::Descriptor file = duplicate(function, fd);
  box->context = error::current_context();
  box->size = size;
  const ContextCall call(box->context);
  CUDA_EXTERNAL_MEMORY_HANDLE_DESC description{};
  description.type = CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD;
  description.handle.fd = file.get();
  description.size = size;
  description.flags = is_dedicated ? CUDA_EXTERNAL_MEMORY_DEDICATED : 0U;
  call.check(call.api().cuImportExternalMemory(&box->memory, &description),
             "cuImportExternalMemory", [&] {
               return "file " + std::to_string(fd) + ", " + error::format_bytes(size) + ", on " +
                      error::describe_device(box->context->device);
             });
  (void)file.release();
  return ExternalMemory(std::move(box));
}

CUexternalMemory ExternalMemory::handle() const { return opened(*this).memory; }
std::size_t ExternalMemory::size() const { return opened(*this).size; }
Device ExternalMemory::device() const {
  return Device::from_known_ordinal(opened(*this).context->device);
}

Buffer ExternalMemory::map_buffer(std::size_t offset, std::size_t size) const {
  const owner::ExternalMemoryBox& box = opened(*this);
  if (offset > box.size || size > box.size - offset) {
    throw std::out_of_range("ExternalMemory.map_buffer: " + std::to_string(size) +
                            " bytes at offset " + std::to_string(offset) +
                            " reach past the end of " + std::to_string(box.size) + " bytes");
  }
  if (size == 0)
    throw std::invalid_argument("ExternalMemory.map_buffer: there are no bytes to map");
  const auto buffer = new_buffer(std::make_shared<MappedMemoryResource>(box_));
  const ContextCall call(box.context);
  CUDA_EXTERNAL_MEMORY_BUFFER_DESC description{};
  description.offset = offset;
  description.size = size;
  call.check(call.api().cuExternalMemoryGetMappedBuffer(&buffer->pointer, box.memory, &description),
             "cuExternalMemoryGetMappedBuffer", [&] {
               return "external memory, " + error::format_bytes(size) + " at offset " +
                      std::to_string(offset);
             });
  buffer->size = size;
  return Buffer(buffer);
}

ExternalSemaphore ExternalSemaphore::from_fd(int fd, bool is_timeline) {
  constexpr const char* function = "ExternalSemaphore.from_fd";
  auto box = std::make_shared<owner::ExternalSemaphoreBox>();
  driver::Descriptor file = duplicate(function, fd);
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
