// SPDX-License-Identifier: Apache-2.0
#include "driver/loader_cache.hpp"

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>

// The format of glibc's ldconfig since 2.2: a header, a table of entries, and their strings. A
// table of an older format may stand before it.

namespace cudacore::driver {
namespace {

constexpr std::string_view magic = "glibc-ld.so.cache1.1";

struct Header {
  char magic[20];
  std::uint32_t entries;
  std::uint32_t size_of_strings;
  std::uint32_t others[5];
};

struct Entry {
  std::int32_t flags;
  std::uint32_t name;  ///< offset from the header
  std::uint32_t path;  ///< likewise
  std::uint32_t version_of_system;
  std::uint64_t hardware;  ///< what the processor must have
};

#if defined(__aarch64__)
constexpr std::int32_t flags_of_this_machine = 0x0a03;
#else
constexpr std::int32_t flags_of_this_machine = 0x0303;
#endif

std::string_view text_at(std::string_view cache, std::uint32_t offset) noexcept {
  if (offset >= cache.size()) return {};
  const std::string_view rest = cache.substr(offset);
  return rest.substr(0, rest.find('\0'));
}

}  // namespace

std::optional<std::filesystem::path> find_in_loader_cache(std::string_view name,
                                                          std::string_view cache) {
  const std::size_t begin = cache.find(magic);
  if (begin == std::string_view::npos) return std::nullopt;
  cache.remove_prefix(begin);
  Header header{};
  if (cache.size() < sizeof(header)) return std::nullopt;
  std::memcpy(&header, cache.data(), sizeof(header));
  for (std::size_t i = 0; i < header.entries; ++i) {
    const std::size_t place = sizeof(header) + i * sizeof(Entry);
    Entry entry{};
    if (place + sizeof(entry) > cache.size()) break;
    std::memcpy(&entry, cache.data() + place, sizeof(entry));
    const bool fits = entry.flags == flags_of_this_machine && entry.hardware == 0;
    if (fits && text_at(cache, entry.name) == name) {
      return std::filesystem::path(text_at(cache, entry.path));
    }
  }
  return std::nullopt;
}

std::optional<std::filesystem::path> find_in_loader_cache(std::string_view name) {
  std::ifstream file("/etc/ld.so.cache", std::ios::binary);
  const std::string cache{std::istreambuf_iterator<char>(file), {}};
  return find_in_loader_cache(name, cache);
}

}  // namespace cudacore::driver
