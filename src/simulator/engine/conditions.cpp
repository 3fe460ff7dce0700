// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/conditions.hpp"

#include <mutex>
#include <unordered_map>

namespace cudacore::simulator {

namespace {

struct LiveConditions {
  std::atomic<std::uint64_t> last{0};
  std::mutex mutex;  ///< guards everything below
  std::unordered_map<std::uint64_t, Condition*> by_handle;

  static LiveConditions& instance() {
    static LiveConditions& one = *std::make_unique<LiveConditions>().release();
    return one;
  }
};

}  // namespace

std::shared_ptr<Condition> Condition::create() {
  LiveConditions& live = LiveConditions::instance();
  std::shared_ptr<Condition> condition(new Condition(++live.last));
  const std::scoped_lock lock(live.mutex);
  live.by_handle.emplace(condition->handle, condition.get());
  return condition;
}

Condition::~Condition() {
  LiveConditions& live = LiveConditions::instance();
  const std::scoped_lock lock(live.mutex);
  live.by_handle.erase(handle);
}

bool set_condition(std::uint64_t handle, std::uint32_t value) noexcept {
  LiveConditions& live = LiveConditions::instance();
  const std::scoped_lock lock(live.mutex);
  const auto found = live.by_handle.find(handle);
  if (found == live.by_handle.end()) return false;
  found->second->value.store(value, std::memory_order_release);
  return true;
}

}  // namespace cudacore::simulator
