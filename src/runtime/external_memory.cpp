// SPDX-License-Identifier: Apache-2.0
#include "cudacore/external_memory.hpp"

#include <stdexcept>
#include <string>

#include "cudacore/device.hpp"
#include "owner/external_boxes.hpp"
#include "runtime/free_after_work.hpp"
#include "runtime/imported_file.hpp"

namespace cudacore {
namespace {

const owner::ExternalMemoryBox& opened(const ExternalMemory& memory) {
  return require_open(memory.box(), "ExternalMemory");
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

}  // namespace

ExternalMemory ExternalMemory::from_fd(int fd, std::size_t size, bool is_dedicated) {
  constexpr const char* function = "ExternalMemory.from_fd";
  if (size == 0) throw std::invalid_argument(std::string(function) + ": size is 0");
  auto box = std::make_shared<owner::ExternalMemoryBox>();
  driver::Descriptor file = duplicate_file(function, fd);
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

}  // namespace cudacore
