// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/memory/memory_pool.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "simulator/api/stream/stream.hpp"

namespace cudacore::simulator {

namespace {

/// The size of an allocation is rounded up to a multiple of this.
constexpr std::size_t granule = 512;

/// Rounds up to a power of two's multiple, at most to the last one.
std::size_t round_up_at_most(std::size_t size, std::size_t to) noexcept {
  return size > ~std::size_t{0} - to ? ~(to - 1) : (size + to - 1) & ~(to - 1);
}

struct LivePools {
  std::mutex mutex;
  std::vector<MemoryPool*> pools;

  static LivePools& instance() {
    static LivePools& one = *std::make_unique<LivePools>().release();
    return one;
  }
};

MemoryKind kind_of(const CUmemPoolProps& properties, const Device* device) noexcept {
  if (properties.allocType == CU_MEM_ALLOCATION_TYPE_MANAGED) return MemoryKind::managed;
  return device != nullptr ? MemoryKind::device : MemoryKind::pinned;
}

}  // namespace

constinit std::atomic<bool> MemoryPool::has_unused{false};

std::shared_ptr<MemoryPool> MemoryPool::create(const CUmemPoolProps& properties, Device* device,
                                               bool is_default, std::shared_ptr<PoolFile> file) {
  auto pool = std::make_shared<MemoryPool>(properties, device, is_default, std::move(file));
  pool->handle = registry().pools.insert(pool);
  return pool;
}

MemoryPool::MemoryPool(const CUmemPoolProps& given, Device* of, bool one_of_the_driver,
                       std::shared_ptr<PoolFile> its_file)
    : properties(given), device(of), is_default(one_of_the_driver), file(std::move(its_file)) {
  if (device != nullptr) set_access(*device, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
  LivePools& live = LivePools::instance();
  const std::scoped_lock lock(live.mutex);
  live.pools.push_back(this);
}

MemoryPool::~MemoryPool() {
  {
    LivePools& live = LivePools::instance();
    const std::scoped_lock lock(live.mutex);
    std::erase(live.pools, this);
  }
  set_reserved(0);
}

std::shared_ptr<MemoryObject> MemoryPool::allocate(std::size_t size) {
  for (;;) {
    if (auto object = try_allocate(size)) return object;
    Point next;
    {
      const std::scoped_lock lock(mutex_);
      std::erase_if(pending_, [](const PendingFree& free) { return free.point.passed(); });
      if (pending_.empty()) break;
      // Waiting for less than is needed would not help.
      const std::size_t limit = properties.maxSize != 0 ? properties.maxSize : ~std::size_t{0};
      const std::size_t free =
          std::min(device != nullptr ? device->memory.available() : ~std::size_t{0}, limit - used_);
      if (round_up_at_most(size, granule) >
          free + std::min(pending_bytes(), ~std::size_t{0} - free))
        break;
      next = pending_.front().point;
    }
    next.wait();
  }
  return try_allocate(size);
}

std::shared_ptr<MemoryObject> MemoryPool::try_allocate(std::size_t size) {
  const std::size_t takes = round_up_at_most(size, granule);
  {
    const std::scoped_lock lock(mutex_);
    if (properties.maxSize != 0 &&
        (takes > properties.maxSize || used_ > properties.maxSize - takes)) {
      return nullptr;
    }
    used_ += takes;  // first, so that no other thread takes the rest of maxSize
  }
  std::shared_ptr<MemoryObject> object = make_object(size, takes);
  const std::scoped_lock lock(mutex_);
  if (object == nullptr) {
    used_ -= takes;
    return nullptr;
  }
  used_high_ = std::max(used_high_, used_);
  set_reserved(std::max(reserved_, round_up_at_most(used_, chunk)));
  add(object);
  return object;
}

void MemoryPool::add(const std::shared_ptr<MemoryObject>& object) {
  object->origin = Origin::pool;
  object->device = device;
  object->pool = shared_from_this();
  MemoryTable::instance().insert(object);
}

std::shared_ptr<MemoryObject> MemoryPool::make_object(std::size_t size, std::size_t takes) {
  const MemoryKind kind = kind_of(properties, device);
  if (file == nullptr) {
    return kind == MemoryKind::device ? make_device_memory(*device, size, granule, false, nullptr)
                                      : make_host_memory(kind, size, nullptr);
  }
  if (device != nullptr && !device->memory.charge(takes)) return nullptr;
  const auto offset = file->take(size);
  auto object = offset ? make_piece(*offset, size) : nullptr;
  if (object == nullptr && device != nullptr) device->memory.discharge(takes);
  return object;
}

std::shared_ptr<MemoryObject> MemoryPool::make_piece(std::size_t offset, std::size_t size) {
  auto object = std::make_shared<MemoryObject>();
  object->pages = file->pages();
  object->flags = static_cast<unsigned>(properties.handleTypes);
  Allocation& allocation = object->allocation;
  allocation.address = file->address(offset);
  allocation.host = file->bytes(offset);
  allocation.size = size;
  allocation.device = device != nullptr ? device->ordinal : -1;
  allocation.kind = kind_of(properties, device);
  allocation.id = AddressSpace::instance().insert(allocation);
  return object;
}

std::shared_ptr<MemoryObject> MemoryPool::add_piece(std::size_t offset, std::size_t size) {
  auto object = make_piece(offset, size);
  add(object);
  return object;
}

void MemoryPool::note_free(Point point, std::size_t size) {
  const std::scoped_lock lock(mutex_);
  while (!pending_.empty() && pending_.front().point.passed()) pending_.pop_front();
  if (!point.passed()) pending_.push_back({std::move(point), round_up_at_most(size, granule)});
}

std::size_t MemoryPool::pending_bytes() const {
  std::size_t bytes = 0;
  for (const PendingFree& free : pending_) bytes += free.size;
  return bytes;
}

void MemoryPool::release(MemoryObject& object) noexcept {
  const std::size_t takes = round_up_at_most(object.allocation.size, granule);
  if (file != nullptr) {
    AddressSpace::instance().erase(object.allocation.address);
    file->release(static_cast<std::size_t>(object.allocation.host - file->bytes(0)));
    if (file->is_imported) return;
    if (device != nullptr) device->memory.discharge(takes);
  } else {
    release_memory(object);
  }
  const std::scoped_lock lock(mutex_);
  used_ -= takes;
  set_reserved(reserved_);
  if (reserved_ > threshold_ && reserved_ > round_up_at_most(used_, chunk)) {
    has_unused.store(true, std::memory_order_relaxed);
  }
}

void MemoryPool::set_reserved(std::size_t bytes) noexcept {
  reserved_ = bytes;
  reserved_high_ = std::max(reserved_high_, reserved_);
  if (device == nullptr) return;
  // Unsigned arithmetic, so that the sum over all pools is right in any order.
  std::atomic<std::size_t>& total = device_use(*device).pool_reserve;
  const std::size_t unused = reserved_ - std::min(used_, reserved_);
  total += unused - std::exchange(unused_, unused);
}

CUresult MemoryPool::get_attribute(CUmemPool_attribute attribute, void* value) const {
  const std::scoped_lock lock(mutex_);
  auto& count = *static_cast<cuuint64_t*>(value);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      *static_cast<int*>(value) =
          reuse_[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES];
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      count = threshold_;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      count = reserved_;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      count = reserved_high_;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      count = used_;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      count = used_high_;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult MemoryPool::set_attribute(CUmemPool_attribute attribute, const void* value) {
  const std::scoped_lock lock(mutex_);
  const auto count = [&] { return *static_cast<const cuuint64_t*>(value); };
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      reuse_[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] =
          *static_cast<const int*>(value) != 0 ? 1 : 0;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      threshold_ = count();
      has_unused.store(true, std::memory_order_relaxed);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      if (count() != 0) break;
      reserved_high_ = reserved_;
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      if (count() != 0) break;
      used_high_ = used_;
      return CUDA_SUCCESS;
    default:
      break;
  }
  return refuse(CUDA_ERROR_INVALID_VALUE,
                "a pool's high-water marks can only be set to 0, what it uses not at all");
}

void MemoryPool::trim(std::size_t keep) noexcept {
  const std::scoped_lock lock(mutex_);
  set_reserved(
      std::min(reserved_, std::max(round_up_at_most(used_, chunk), round_up_at_most(keep, chunk))));
}

void MemoryPool::release_unused() noexcept {
  const std::scoped_lock lock(mutex_);
  if (reserved_ <= threshold_) return;
  set_reserved(std::max(round_up_at_most(used_, chunk), std::size_t{threshold_} & ~(chunk - 1)));
}

CUmemAccess_flags MemoryPool::access(const Device& by) const {
  const std::scoped_lock lock(mutex_);
  return access_[static_cast<std::size_t>(by.ordinal)];
}

void MemoryPool::set_access(const Device& by, CUmemAccess_flags flags) {
  const std::scoped_lock lock(mutex_);
  access_[static_cast<std::size_t>(by.ordinal)] = flags;
}

std::shared_ptr<MemoryPool> default_pool(Device& device) {
  const std::scoped_lock lock(device.mutex);
  if (device.default_pool == nullptr) {
    CUmemPoolProps properties{};
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, {device.ordinal}};
    device.default_pool = MemoryPool::create(properties, &device, true);
  }
  return device.default_pool;
}

std::shared_ptr<MemoryPool> current_pool(Device& device) {
  {
    const std::scoped_lock lock(device.mutex);
    if (device.current_pool != nullptr) return device.current_pool;
  }
  return default_pool(device);
}

void release_unused_memory(Device&) noexcept {
  if (!MemoryPool::has_unused.exchange(false, std::memory_order_relaxed)) return;
  LivePools& live = LivePools::instance();
  const std::scoped_lock lock(live.mutex);
  for (MemoryPool* pool : live.pools) pool->release_unused();
}

}  // namespace cudacore::simulator
