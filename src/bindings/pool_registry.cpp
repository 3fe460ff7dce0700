// SPDX-License-Identifier: Apache-2.0
#include "bindings/pool_registry.hpp"

#include <algorithm>
#include <mutex>
#include <vector>

#include "driver/leaked.hpp"

namespace cudacore::bindings {
namespace {

struct PoolRegistry {
  struct Entry {
    PoolUuid uuid;
    std::weak_ptr<PoolMemoryResource> pool;
  };
  std::mutex mutex;
  std::vector<Entry> entries;

  /// The mutex must be held.
  [[nodiscard]] std::shared_ptr<PoolMemoryResource> find(const PoolUuid& uuid) const {
    for (const Entry& entry : entries) {
      if (entry.uuid == uuid) {
        if (auto pool = entry.pool.lock()) return pool;
      }
    }
    return nullptr;
  }
};

PoolRegistry& pool_registry() { return driver::leaked_across_forks<PoolRegistry>(); }

}  // namespace

std::optional<PoolUuid> uuid_of(const PoolMemoryResource& pool) {
  PoolRegistry& registry = pool_registry();
  const std::shared_ptr<const void> self = pool.weak_from_this().lock();
  const std::scoped_lock lock(registry.mutex);
  for (const auto& entry : registry.entries) {
    if (!entry.pool.owner_before(self) && !self.owner_before(entry.pool)) return entry.uuid;
  }
  return std::nullopt;
}

std::shared_ptr<PoolMemoryResource> registered_pool(const PoolUuid& uuid) {
  PoolRegistry& registry = pool_registry();
  std::shared_ptr<PoolMemoryResource> found;
  const std::scoped_lock lock(registry.mutex);
  found = registry.find(uuid);
  return found;
}

std::shared_ptr<PoolMemoryResource> register_pool(const std::shared_ptr<PoolMemoryResource>& pool,
                                                  const PoolUuid& uuid) {
  PoolRegistry& registry = pool_registry();
  const std::scoped_lock lock(registry.mutex);
  if (auto known = registry.find(uuid)) return known;
  std::erase_if(registry.entries, [](const auto& entry) { return entry.pool.expired(); });
  registry.entries.push_back({uuid, pool});
  return pool;
}

}  // namespace cudacore::bindings
