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

/// The boxes that this process shares with others, or has from them, by what stands for them there.
/// Keeps none of them alive. Any thread may call any function.
template <typename Box>
class KnownShares {
 public:
  /// Null if there is none.
  [[nodiscard]] std::shared_ptr<Box> find(const ShareBytes& bytes) const {
    const std::scoped_lock lock(mutex_);
    const auto found = boxes_.find(bytes);
    return found != boxes_.end() ? found->second.lock() : nullptr;
  }
  void add(const ShareBytes& bytes, const std::shared_ptr<Box>& box) {
    const std::scoped_lock lock(mutex_);
    if (boxes_.size() >= sweep_at_) {
      std::erase_if(boxes_, [](const auto& known) { return known.second.expired(); });
      sweep_at_ = std::max<std::size_t>(32, 2 * boxes_.size());
    }
    boxes_.insert_or_assign(bytes, box);
  }

 private:
  mutable std::mutex mutex_;
  std::map<ShareBytes, std::weak_ptr<Box>> boxes_;
  std::size_t sweep_at_ = 32;  ///< so many that those of ended boxes are looked for
};

}  // namespace cudacore
