// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/memory/memory_object.hpp"

#include <utility>

#include <sys/mman.h>
#include <unistd.h>

namespace cudacore::simulator {

namespace {

std::size_t host_memory() noexcept {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                                   static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return bytes;
}

}  // namespace

std::shared_ptr<const HostPages> HostPages::allocate(std::size_t size) {
  if (size > host_memory()) return nullptr;
  void* bytes = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (bytes == MAP_FAILED) return nullptr;
  try {
    return std::make_shared<const HostPages>(static_cast<std::byte*>(bytes), size);
  } catch (...) {
    munmap(bytes, size);
    throw;
  }
}

HostPages::~HostPages() { munmap(bytes_, size_); }

MemoryTable& MemoryTable::instance() noexcept {
  static MemoryTable& one = *std::make_unique<MemoryTable>().release();
  return one;
}

void MemoryTable::insert(std::shared_ptr<MemoryObject> object) {
  const std::uint64_t address = object->allocation.address;
  const std::scoped_lock lock(mutex_);
  objects_.insert_or_assign(address, std::move(object));
}

std::shared_ptr<MemoryObject> MemoryTable::find(std::uint64_t address) const {
  const std::scoped_lock lock(mutex_);
  const auto found = objects_.find(address);
  return found != objects_.end() ? found->second : nullptr;
}

template <class Accept>
std::vector<std::shared_ptr<MemoryObject>> MemoryTable::take_where(const Accept& accept) {
  std::vector<std::shared_ptr<MemoryObject>> taken;
  const std::scoped_lock lock(mutex_);
  for (auto entry = objects_.begin(); entry != objects_.end();) {
    if (!accept(*entry->second)) {
      ++entry;
      continue;
    }
    taken.push_back(std::move(entry->second));
    entry = objects_.erase(entry);
  }
  return taken;
}

std::vector<std::shared_ptr<MemoryObject>> MemoryTable::take_all(const Context& context) {
  return take_where([&](const MemoryObject& object) {
    return object.context.get() == &context && object.origin != Origin::variable;
  });
}

std::vector<std::shared_ptr<MemoryObject>> MemoryTable::take_all_of_pools() {
  return take_where([](const MemoryObject& object) { return object.pool != nullptr; });
}

std::shared_ptr<MemoryObject> make_device_memory(Device& device, std::size_t size,
                                                 std::size_t align, bool read_only,
                                                 Context* context) {
  auto object = std::make_shared<MemoryObject>();
  const auto allocation = device.memory.allocate(size, align, read_only);
  if (!allocation) return nullptr;
  object->allocation = *allocation;
  if (context != nullptr) object->context = context->shared_from_this();
  object->device = &device;
  return object;
}

std::shared_ptr<MemoryObject> make_host_memory(MemoryKind kind, std::size_t size,
                                               Context* context) {
  auto object = std::make_shared<MemoryObject>();
  object->pages = HostPages::allocate(size);
  if (object->pages == nullptr) return nullptr;
  Allocation& allocation = object->allocation;
  allocation.host = object->pages->bytes();
  allocation.address = reinterpret_cast<std::uintptr_t>(allocation.host);
  allocation.size = size;
  allocation.kind = kind;
  if (context != nullptr) {
    object->context = context->shared_from_this();
    object->device = &context->device;
  }
  allocation.id = AddressSpace::instance().insert(allocation);
  if (kind == MemoryKind::managed && context != nullptr) {
    device_use(*object->device).managed += size;
  }
  return object;
}

void release_memory(MemoryObject& object) noexcept {
  const Allocation& allocation = object.allocation;
  if (allocation.kind == MemoryKind::device) {
    object.device->memory.free(allocation.address);
    return;
  }
  AddressSpace::instance().erase(allocation.address);
  if (allocation.kind == MemoryKind::managed && object.context != nullptr) {
    device_use(*object.device).managed -= allocation.size;
  }
}

std::shared_ptr<MemoryObject> find_object(const Allocation& allocation) {
  auto object = MemoryTable::instance().find(allocation.address);
  return object != nullptr && object->allocation.id == allocation.id ? object : nullptr;
}

DeviceUse& device_use(const Device& device) noexcept {
  static std::array<DeviceUse, 64>& uses = *std::make_unique<std::array<DeviceUse, 64>>().release();
  return uses[static_cast<std::size_t>(device.ordinal) % uses.size()];
}

std::size_t free_bytes(const Device& device) {
  const DeviceUse& use = device_use(device);
  const std::size_t held = use.pool_reserve.load() + use.managed.load();
  const std::size_t available = device.memory.available();
  return available - std::min(held, available);
}

}  // namespace cudacore::simulator
