// SPDX-License-Identifier: Apache-2.0
#include "cudacore/device.hpp"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <stdexcept>

#include "cudacore/device_memory_resource.hpp"
#include "cudacore/synchronous_memory_resource.hpp"
#include "driver/leaked.hpp"
#include "error/describe.hpp"
#include "runtime/context_call.hpp"

namespace cudacore {
namespace {

constexpr std::size_t cached_devices = error::ContextBox::max_devices;
constexpr std::size_t cached_attributes = 192;

/// Attributes never change. An entry is 0 until its value is known; then it has this bit in
/// addition to the value.
constexpr std::uint64_t known_bit = std::uint64_t{1} << 32;
constinit std::array<std::array<std::atomic<std::uint64_t>, cached_attributes>, cached_devices>
    attribute_cache{};

void check(CUresult result, const char* function, int device) {
  error::check(result, function, [&] { return error::describe_device(device); });
}

int read_attribute(int attribute, int device) {
  int value = 0;
  const CUresult result = driver::api().cuDeviceGetAttribute(
      &value, static_cast<CUdevice_attribute>(attribute), device);
  if (result == CUDA_ERROR_INVALID_VALUE) return 0;
  check(result, "cuDeviceGetAttribute", device);
  return value;
}

}  // namespace

int Device::count() {
  int count = 0;
  error::check(driver::api().cuDeviceGetCount(&count), "cuDeviceGetCount");
  return count;
}

std::vector<Device> Device::all() {
  const int devices = count();
  std::vector<Device> list;
  list.reserve(static_cast<std::size_t>(devices));
  for (int i = 0; i < devices; ++i) list.push_back(from_known_ordinal(i));
  return list;
}

Device Device::current() {
  const driver::DriverApi& api = driver::api();
  CUcontext context = nullptr;
  error::check(api.cuCtxGetCurrent(&context), "cuCtxGetCurrent");
  if (context == nullptr) return Device(0);
  return from_known_ordinal(error::current_context()->device);
}

Device::Device(int ordinal) : id_(ordinal) {
  const int devices = count();
  if (ordinal >= 0 && ordinal < devices) return;
  throw std::invalid_argument(
      "there is no device " + std::to_string(ordinal) + ": the driver shows " +
      (devices == 1 ? "1 device, device 0"
                    : std::to_string(devices) + " devices, 0 to " + std::to_string(devices - 1)));
}

std::string Device::name() const {
  std::array<char, 256> name{};
  check(driver::api().cuDeviceGetName(name.data(), static_cast<int>(name.size()) - 1, id_),
        "cuDeviceGetName", id_);
  return name.data();
}

std::string Device::uuid() const {
  CUuuid uuid{};
  check(driver::api().cuDeviceGetUuid(&uuid, id_), "cuDeviceGetUuid", id_);
  std::string text;
  for (std::size_t i = 0; i < sizeof(uuid.bytes); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    std::array<char, 3> digits{};
    std::snprintf(digits.data(), digits.size(), "%02x",
                  static_cast<unsigned>(static_cast<unsigned char>(uuid.bytes[i])));
    text += digits.data();
  }
  return text;
}

std::string Device::pci_bus_id() const {
  std::array<char, 32> id{};
  check(driver::api().cuDeviceGetPCIBusId(id.data(), static_cast<int>(id.size()) - 1, id_),
        "cuDeviceGetPCIBusId", id_);
  return id.data();
}

ComputeCapability Device::compute_capability() const {
  return {.major = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
          .minor = attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)};
}

std::string Device::arch() const {
  const ComputeCapability capability = compute_capability();
  return std::to_string(capability.major) + std::to_string(capability.minor);
}

int Device::attribute(int attribute) const {
  const auto device = static_cast<std::size_t>(id_);
  const auto index = static_cast<std::size_t>(attribute);
  if (device >= cached_devices || index >= cached_attributes) return read_attribute(attribute, id_);
  std::atomic<std::uint64_t>& entry = attribute_cache[device][index];
  const std::uint64_t cached = entry.load(std::memory_order_relaxed);
  if (cached != 0) return static_cast<int>(static_cast<std::uint32_t>(cached));
  const int value = read_attribute(attribute, id_);
  entry.store(known_bit | static_cast<std::uint32_t>(value), std::memory_order_relaxed);
  return value;
}

MemoryInfo Device::memory_info() const {
  const ContextCall call(error::primary_context(id_));
  MemoryInfo info;
  call.check(call.api().cuMemGetInfo(&info.free, &info.total), "cuMemGetInfo",
             [&] { return error::describe_device(id_); });
  return info;
}

bool Device::can_access_peer(Device peer) const {
  int can = 0;
  check(driver::api().cuDeviceCanAccessPeer(&can, id_, peer.id_), "cuDeviceCanAccessPeer", id_);
  return can != 0;
}

Context Device::context() const { return Context(error::primary_context(id_)); }

Stream Device::create_stream(const StreamOptions& options) const {
  return Stream(context(), options);
}

Event Device::create_event(const EventOptions& options) const { return Event(context(), options); }

Buffer Device::allocate(std::size_t size, const Stream& stream) const {
  return memory_resource()->allocate(size, stream);
}

std::shared_ptr<MemoryResource> Device::memory_resource() const {
  struct Shared {
    std::mutex mutex;
    std::array<std::shared_ptr<MemoryResource>, cached_devices> resources;
  };
  auto& shared = driver::leaked<Shared>();
  // Also rejects devices beyond the table.
  [[maybe_unused]] const auto& primary = error::primary_context(id_);
  const std::scoped_lock lock(shared.mutex);
  std::shared_ptr<MemoryResource>& resource = shared.resources[static_cast<std::size_t>(id_)];
  if (resource == nullptr) {
    if (attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0) {
      resource = std::make_shared<DeviceMemoryResource>(*this);
    } else {
      resource = std::make_shared<SynchronousMemoryResource>(*this);
    }
  }
  return resource;
}

Stream Device::default_stream() const {
  return Stream(owner::legacy_stream(error::primary_context(id_)));
}

}  // namespace cudacore
