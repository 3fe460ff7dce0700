// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>

namespace cudacore {

/// What stands for memory or an event in other processes: bytes of the driver's.
using ShareBytes = std::array<std::byte, 64>;

/// Boxes by what others name them by: other processes, with which this one shares them, or the
/// driver. Keeps none of them alive. Any thread may call any function.
template <typename Box, typename Key = ShareBytes>
class KnownShares {
 public:
  /// Null if there is none.
  [[nodiscard]] std::shared_ptr<Box> find(const Key& key) const {
    const std::scoped_lock lock(mutex_);
    const auto found = boxes_.find(key);
    return found != boxes_.end() ? found->second.lock() : nullptr;
  }
  void add(const Key& key, const std::shared_ptr<Box>& box) {
    const std::scoped_lock lock(mutex_);
    if (boxes_.size() >= sweep_at_) {
      std::erase_if(boxes_, [](const auto& known) { return known.second.expired(); });
      sweep_at_ = std::max<std::size_t>(32, 2 * boxes_.size());
    }
    boxes_.insert_or_assign(key, box);
  }

 private:
  mutable std::mutex mutex_;
  std::map<Key, std::weak_ptr<Box>> boxes_;
  std::size_t sweep_at_ = 32;  ///< the size at which expired entries are swept
};

}  // namespace cudacore
