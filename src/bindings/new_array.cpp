// SPDX-License-Identifier: Apache-2.0
#include "bindings/new_array.hpp"

#include <cstring>
#include <new>

#include "cudacore/device.hpp"
#include "cudacore/memory_resource.hpp"
#include "owner/owned_handles.hpp"

namespace cudacore::bindings {
namespace {

namespace py = pybind11;
using dlpack::DeviceType;

struct Memory {
  std::shared_ptr<const void> owner;
  CUdeviceptr address;
};

/// Memory of the host, aligned as DLPack recommends.
Memory allocate_on_host(std::size_t size) {
  constexpr std::align_val_t alignment{256};
  void* memory = ::operator new(size, alignment);
  return {{memory, [](void* ended) { ::operator delete(ended, alignment); }},
          reinterpret_cast<std::uintptr_t>(memory)};
}

/// `resource` may be null for memory of the host and of devices.
Memory allocate(std::size_t size, dlpack::Device device, std::shared_ptr<MemoryResource> resource,
                const Stream& stream) {
  if (device.type == DeviceType::cpu) return allocate_on_host(size);
  if (resource == nullptr && device.type == DeviceType::cuda) {
    resource = Device(device.ordinal).memory_resource();
  }
  if (resource == nullptr) {
    throw py::buffer_error("cudacore cannot allocate memory of DLPack device type " +
                           std::to_string(static_cast<int>(device.type)) +
                           " here; copy to the host, (1, 0), or to a device, (2, ordinal)");
  }
  const Buffer made = resource->allocate(size, stream);
  return {made.box(), made.handle()};
}

std::size_t byte_count(dlpack::DataType type, std::int64_t elements) {
  const std::int64_t bits = std::int64_t{type.bits} * type.lanes;
  if (bits == 0 || bits % 8 != 0) {
    throw py::buffer_error("an array can't have elements of " + std::to_string(bits) +
                           " bits, only of whole bytes");
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(elements, bits / 8, &bytes)) {
    throw py::value_error("an array of " + std::to_string(elements) +
                          " elements has more bytes than 64 bits count");
  }
  return static_cast<std::size_t>(bytes);
}

}  // namespace

ExportedArray new_array(dlpack::DataType type, StridedLayout layout, dlpack::Device device,
                        std::shared_ptr<MemoryResource> resource, const Stream& stream) {
  Memory memory = allocate(byte_count(type, layout.count()), device, std::move(resource), stream);
  ExportedArray array{.owner = "cudacore", .memory = std::move(memory.owner)};
  array.own_stream = stream;
  array.address = memory.address;
  array.device = device;
  array.type = type;
  array.layout = std::move(layout);
  return array;
}

ExportedArray copied(const ExportedArray& array, dlpack::Device device, const Stream& current) {
  const StridedLayout::Range range = array.layout.range();
  const auto item_size = static_cast<std::int64_t>(byte_count(*array.type, 1));
  const std::size_t size = byte_count(*array.type, range.end - range.first);
  const auto offset = static_cast<CUdeviceptr>(range.first * item_size);
  const Buffer source = Buffer::from_handle(array.address + offset, size, nullptr,
                                            std::const_pointer_cast<void>(array.memory));
  const bool is_on_host = array.device.type == DeviceType::cpu;
  if (!is_on_host) order_behind(array, current, current);
  Memory memory = allocate(size, device, array.resource, current);
  if (device.type != DeviceType::cpu) {
    Buffer::from_handle(memory.address, size).copy_from(source, current);
  } else if (!is_on_host) {
    source.copy_to({reinterpret_cast<std::byte*>(memory.address), size}, current);  // NOLINT
    current.sync();
  } else {
    wait_for_work();
    std::memcpy(reinterpret_cast<void*>(memory.address),                // NOLINT: an address
                reinterpret_cast<const void*>(source.handle()), size);  // NOLINT: an address
  }
  ExportedArray copy = array;
  copy.memory = std::move(memory.owner);
  copy.own_stream = device.type == DeviceType::cpu ? Stream(nullptr) : current;
  copy.address = memory.address - offset;
  copy.device = device;
  copy.is_copied = true;
  copy.is_read_only = false;
  return copy;
}

}  // namespace cudacore::bindings
