// SPDX-License-Identifier: Apache-2.0
#include "cudacore/host_registration.hpp"

#include <stdexcept>
#include <utility>

#include "cudacore/device.hpp"
#include "cudacore/memory_resource.hpp"
#include "runtime/free_after_work.hpp"

namespace cudacore {
namespace {

/// Ends the registration of memory that it did not allocate.
class RegisteredMemoryResource final : public MemoryResource {
 public:
  Buffer allocate(std::size_t /*size*/, const std::optional<Stream>& /*stream*/) override {
    throw NotSupportedError(
        "memory that was registered comes from no resource: copy to a buffer that you allocate");
  }
  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override {
    const ReleaseCall call(stream, -1);
    void* memory = reinterpret_cast<void*>(static_cast<std::uintptr_t>(pointer));
    const auto end = [memory](const driver::DriverApi& api) {
      return api.cuMemHostUnregister(memory);
    };
    call.check(free_after_work(call, end), "cuMemHostUnregister", pointer, size);
  }
  [[nodiscard]] bool is_device_accessible() const override { return true; }
  [[nodiscard]] bool is_host_accessible() const override { return true; }
  [[nodiscard]] int device_id() const override { return -1; }
  [[nodiscard]] bool ends_with_reset() const noexcept override { return true; }
};

void require_attribute(Device device, CUdevice_attribute attribute, const char* name) {
  if (device.attribute(attribute) != 0) return;
  throw NotSupportedError("register_host: " + error::describe_device(device.id()) +
                          " can't do this: its property " + name + " is false");
}

unsigned flags_of(const HostRegistrationOptions& options) {
  unsigned flags = 0;
  if (options.portable) flags |= CU_MEMHOSTREGISTER_PORTABLE;
  if (options.mapped) flags |= CU_MEMHOSTREGISTER_DEVICEMAP;
  if (options.io_memory) flags |= CU_MEMHOSTREGISTER_IOMEMORY;
  if (options.read_only) flags |= CU_MEMHOSTREGISTER_READ_ONLY;
  return flags;
}

}  // namespace

Buffer register_host(std::span<std::byte> memory, const HostRegistrationOptions& options,
                     std::shared_ptr<void> owner) {
  if (memory.empty()) throw std::invalid_argument("register_host: there is no memory to register");
  const auto box = new_buffer(std::make_shared<RegisteredMemoryResource>());
  const ContextCall call(error::current_context());
  const Device device = Device::from_known_ordinal(call.context()->device);
  require_attribute(device, CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, "host_register_supported");
  if (options.read_only) {
    require_attribute(device, CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED,
                      "read_only_host_register_supported");
  }
  if (options.mapped) {
    // A Buffer has one address, for kernels and for the host.
    require_attribute(device, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM,
                      "can_use_host_pointer_for_registered_mem");
  }
  call.check(call.api().cuMemHostRegister(memory.data(), memory.size(), flags_of(options)),
             "cuMemHostRegister",
             [&] { return "host memory, " + error::format_bytes(memory.size()); });
  box->owner = std::move(owner);
  box->size = memory.size();
  box->is_read_only = options.read_only;
  box->pointer = reinterpret_cast<std::uintptr_t>(memory.data());
  return Buffer(box);
}

}  // namespace cudacore
