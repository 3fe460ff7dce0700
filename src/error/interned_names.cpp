// SPDX-License-Identifier: Apache-2.0
#include "error/interned_names.hpp"

#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "driver/leaked.hpp"
#include "error/context_box.hpp"

namespace cudacore::error {
namespace {

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const noexcept {
    return std::hash<std::string_view>{}(name);
  }
};

struct Names {
  static constexpr std::size_t most_unused = 1024;

  std::mutex mutex;
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

std::mutex& names_mutex() { return names().mutex; }

std::size_t interned_names() {
  Names& known = names();
  const std::scoped_lock lock(known.mutex);
  return known.users.size();
}

}  // namespace cudacore::error
