// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "driver/process.hpp"
#include "error/context_box.hpp"

namespace cudacore::handle {
namespace {

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const noexcept {
    return std::hash<std::string_view>{}(name);
  }
};

struct Names {
  static constexpr std::size_t most_unused = 1024;

  std::mutex mutex;  ///< also held by any thread that reads a name from a history
  std::unordered_map<std::string, std::size_t, NameHash, std::equal_to<>> users;
  std::size_t unused = 0;
};

/// Leaked, because histories point at the names until the process ends.
Names& names() { return driver::leaked<Names>(); }

/// Frees the names that have no users and are in no history. A name without users cannot enter a
/// history any more, because a launch holds its kernel.
void forget_unused_names() {
  const auto contexts = known_contexts();  // takes its own lock
  std::unordered_set<const char*> told;
  Names& known = names();
  const std::scoped_lock lock(known.mutex);
  for (const auto& context : contexts) {
    context->history.for_each_name([&](const char* name) { told.insert(name); });
  }
  known.unused -= std::erase_if(known.users, [&](const auto& entry) {
    return entry.second == 0 && !told.contains(entry.first.c_str());
  });
}

}  // namespace

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
  const std::scoped_lock lock(names().mutex);
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
  const std::scoped_lock lock(names().mutex);
  has_ended_ = true;
}

const char* intern(const std::string& name) {
  Names& known = names();
  const std::scoped_lock lock(known.mutex);
  const auto [entry, is_new] = known.users.try_emplace(name, 0);
  if (!is_new && entry->second == 0) --known.unused;
  ++entry->second;
  return entry->first.c_str();
}

void give_back_name(const char* name) noexcept {
  if (name == nullptr) return;
  Names& known = names();
  {
    const std::scoped_lock lock(known.mutex);
    const auto entry = known.users.find(std::string_view(name));
    if (--entry->second != 0) return;
    if (++known.unused % Names::most_unused != 0) return;
  }
  try {
    forget_unused_names();
  } catch (const std::bad_alloc&) {  // a later call will
  }
}

std::size_t interned_names() {
  Names& known = names();
  const std::scoped_lock lock(known.mutex);
  return known.users.size();
}

}  // namespace cudacore::handle
