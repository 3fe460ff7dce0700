// SPDX-License-Identifier: Apache-2.0
#include "compile/program_cache.hpp"

#include <atomic>
#include <charconv>
#include <mutex>
#include <stdexcept>

#include "compile/cache_folder.hpp"
#include "compile/cache_settings.hpp"
#include "compile/cache_sweep.hpp"
#include "cudacore/cache.hpp"
#include "cudacore/error.hpp"
#include "driver/leaked.hpp"

namespace cudacore::compile {
namespace {

struct State {
  std::mutex mutex;  ///< guards everything but the counts
  CacheSettings settings = settings_of_environment();
  std::string problem;  ///< the last
  std::string uncacheable_reason;

  std::atomic<std::uint64_t> hits{0};
  std::atomic<std::uint64_t> misses{0};
  std::atomic<std::uint64_t> stored{0};
  std::atomic<std::uint64_t> uncacheable_count{0};
  std::atomic<std::uint64_t> failures{0};
};

State& state() { return driver::leaked_across_forks<State>(); }

CacheSettings current_settings() {
  const std::lock_guard lock(state().mutex);
  return state().settings;
}

void count_failure(const std::string& problem) {
  if (problem.empty()) return;
  state().failures.fetch_add(1);
  const std::lock_guard lock(state().mutex);
  state().problem = problem;
}

/// The cache's folder; unset if there is none to use, which counts as a failure.
std::optional<CacheFolder> open_folder(const CacheSettings& settings,
                                       CacheFolder::Missing missing) {
  if (settings.folder.empty()) {
    count_failure(settings.folder_problem);
    return std::nullopt;
  }
  CacheFolder folder(settings.folder, missing);
  if (folder.is_open()) return folder;
  count_failure(folder.problem());
  return std::nullopt;
}

/// What `read` makes of a file; a damaged one is removed.
template <typename T, typename Read>
std::optional<T> find_file(const std::string& name, const Read& read) {
  auto folder = open_folder(current_settings(), CacheFolder::Missing::leave);
  if (!folder) return std::nullopt;
  const std::optional<std::string> content = folder->read(name);
  if (!content) {
    count_failure(folder->problem());
    return std::nullopt;
  }
  std::optional<T> result = read(*content);
  if (!result) {
    count_failure("the file " + name + " was damaged");
    folder->remove(name);
  }
  return result;
}

bool store_file(const std::string& name, const std::string& content) {
  const CacheSettings settings = current_settings();
  auto folder = open_folder(settings, CacheFolder::Missing::create);
  if (!folder) return false;
  const bool is_written = folder->write(name, content, settings.max_size);
  count_failure(folder->problem());
  return is_written;
}

std::string path_of_note(const std::string& name) { return std::string(note_folder) + "/" + name; }

/// The key of an entry; unset if its file isn't called like one.
std::optional<Digest> key_of_entry(std::string_view name) {
  Digest key{};
  if (name.size() != 2 * key.size()) return std::nullopt;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const char* const end = name.data() + 2 * i + 2;
    constexpr int hexadecimal = 16;
    unsigned byte = 0;
    const auto [rest, error] = std::from_chars(end - 2, end, byte, hexadecimal);
    if (error != std::errc() || rest != end) return std::nullopt;
    key[i] = static_cast<std::byte>(byte);
  }
  return key;
}

Digest key_of_note(const std::string& name) {
  FieldHash hash;
  hash.add(name);
  return hash.finish();
}

}  // namespace

bool cache_is_enabled() {
  const std::lock_guard lock(state().mutex);
  return state().settings.is_enabled;
}

std::optional<CacheEntry> find_in_cache(const Digest& key) {
  return find_file<CacheEntry>(to_hex(key),
                               [&](std::string_view bytes) { return read_entry(key, bytes); });
}

bool store_in_cache(const Digest& key, const CacheEntry& entry) {
  return store_file(to_hex(key), write_entry(key, entry));
}

std::optional<std::string> find_note(const std::string& name) {
  return find_file<std::string>(path_of_note(name), [&](std::string_view bytes) {
    const auto fields = unsealed(key_of_note(name), bytes);
    return fields ? std::optional<std::string>(*fields) : std::nullopt;
  });
}

void store_note(const std::string& name, const FieldWriter& fields) {
  store_file(path_of_note(name), fields.sealed(key_of_note(name)));
}

CheckedEntries check_entries(std::size_t entries, std::uint64_t bytes) {
  const CacheSettings settings = current_settings();
  CheckedEntries result;
  if (settings.folder.empty()) return result;
  CacheFolder folder(settings.folder, CacheFolder::Missing::leave);
  if (!folder.is_open()) return result;
  for (const std::string& name : folder.last_used(entries, bytes)) {
    const std::optional<Digest> key = key_of_entry(name);
    if (!key) continue;
    const auto content = folder.read(name, CacheFolder::Purpose::check);
    // Another process may have removed it.
    if (!content && folder.problem().empty()) continue;
    ++result.checked;
    if (!content) {
      result.problems.push_back(folder.problem());
    } else if (!read_entry(*key, *content)) {
      result.problems.push_back("the entry " + name + " is damaged");
    }
  }
  return result;
}

void count_hit() noexcept { state().hits.fetch_add(1); }
void count_miss() noexcept { state().misses.fetch_add(1); }
void count_stored() noexcept { state().stored.fetch_add(1); }

void count_uncacheable(std::string why) {
  state().uncacheable_count.fetch_add(1);
  const std::lock_guard lock(state().mutex);
  state().uncacheable_reason = std::move(why);
}

}  // namespace cudacore::compile

namespace cudacore::cache {

using compile::CacheFolder;
using compile::state;

Info info() {
  const compile::CacheSettings settings = compile::current_settings();
  Info info;
  info.is_enabled = settings.is_enabled;
  info.folder = settings.folder;
  info.max_size = settings.max_size;
  info.settings_problem = settings.problem;
  info.counts = {state().hits.load(), state().misses.load(), state().stored.load(),
                 state().uncacheable_count.load(), state().failures.load()};
  {
    const std::lock_guard lock(state().mutex);
    info.problem = settings.folder.empty() ? settings.folder_problem : state().problem;
    info.uncacheable_reason = state().uncacheable_reason;
  }
  if (info.problem.empty() && !settings.folder.empty()) {
    info.problem = CacheFolder(settings.folder, CacheFolder::Missing::leave).problem();
  }
  return info;
}

Usage usage() {
  const compile::CacheSettings settings = compile::current_settings();
  if (settings.folder.empty()) return {};
  CacheFolder folder(settings.folder, CacheFolder::Missing::leave);
  if (!folder.is_open()) return {};
  const CacheFolder::Usage found = folder.usage();
  return {found.files, found.bytes};
}

std::uint64_t clear() {
  const compile::CacheSettings settings = compile::current_settings();
  if (settings.folder.empty()) {
    throw Error("cannot clear the cache: " + settings.folder_problem, 0, {}, {});
  }
  CacheFolder folder(settings.folder, CacheFolder::Missing::leave);
  const std::uint64_t removed = folder.is_open() ? folder.clear() : 0;
  if (!folder.problem().empty()) {
    throw Error("cannot clear the cache: " + folder.problem(), 0, {}, {});
  }
  return removed;
}

void enable(bool enabled) {
  const std::lock_guard lock(state().mutex);
  state().settings.is_enabled = enabled;
}

void set_folder(const std::filesystem::path& folder) {
  if (folder.empty()) throw std::invalid_argument("the cache's folder is empty");
  const std::lock_guard lock(state().mutex);
  state().settings.folder = compile::cache_folder_at(folder);
  state().settings.folder_problem.clear();
  state().problem.clear();
}

void set_max_size(std::uint64_t bytes) {
  const std::lock_guard lock(state().mutex);
  state().settings.max_size = bytes;
}

}  // namespace cudacore::cache
