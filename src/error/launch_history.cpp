// SPDX-License-Identifier: Apache-2.0
#include "error/launch_history.hpp"

#include <algorithm>

#include "error/interned_names.hpp"

namespace cudacore::error {

void LaunchHistory::synced(std::uint64_t mark, CUstream stream) noexcept {
  const std::uint64_t kept = std::min<std::uint64_t>(mark, names_.size());
  const std::uint64_t first = std::max(mark - kept, synced_.load(std::memory_order_relaxed));
  const std::uint64_t end = next_.load(std::memory_order_relaxed);
  bool are_all_done = true;
  for (std::uint64_t i = first; i < mark; ++i) {
    if (end - i > names_.size()) continue;  // a newer launch has replaced it
    const std::size_t place = i % names_.size();
    const char* name = names_[place].load(std::memory_order_relaxed);
    if (name == nullptr) continue;
    if (streams_[place].load(std::memory_order_relaxed) != stream) {
      are_all_done = false;
      continue;
    }
    names_[place].compare_exchange_strong(name, nullptr, std::memory_order_relaxed);
  }
  if (are_all_done) synced(mark);
}

std::vector<std::string> LaunchHistory::since_sync() const {
  const std::uint64_t end = next_.load(std::memory_order_relaxed);
  const std::uint64_t kept = std::min<std::uint64_t>(end, names_.size());
  const std::uint64_t first = std::max(end - kept, synced_.load(std::memory_order_relaxed));
  std::vector<std::string> newest_first;
  const std::scoped_lock lock(names_mutex());
  if (has_ended_) return {};
  for (std::uint64_t i = end; i > first; --i) {
    const char* name = names_[(i - 1) % names_.size()].load(std::memory_order_acquire);
    if (name == nullptr) continue;
    if (std::find(newest_first.begin(), newest_first.end(), name) == newest_first.end()) {
      newest_first.emplace_back(name);
    }
  }
  std::reverse(newest_first.begin(), newest_first.end());
  return newest_first;
}

void LaunchHistory::end() noexcept {
  const std::scoped_lock lock(names_mutex());
  has_ended_ = true;
}

}  // namespace cudacore::error
