// SPDX-License-Identifier: Apache-2.0
#include "driver/loader_cache.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

namespace cudacore::driver {
namespace {

struct Library {
  std::string name;
  std::string path;
  std::int32_t flags = 0;
  std::uint64_t hardware = 0;
};

#if defined(__aarch64__)
constexpr std::int32_t own_flags = 0x0a03;
#else
constexpr std::int32_t own_flags = 0x0303;
#endif

template <typename T>
void append(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string cache_of(const std::vector<Library>& libraries) {
  std::string bytes = "glibc-ld.so.cache1.1";
  append(bytes, static_cast<std::uint32_t>(libraries.size()));
  bytes.resize(48);
  std::string strings;
  const std::size_t begin = bytes.size() + 24 * libraries.size();
  for (const Library& library : libraries) {
    append(bytes, library.flags);
    for (const std::string& text : {library.name, library.path}) {
      append(bytes, static_cast<std::uint32_t>(begin + strings.size()));
      strings += text + '\0';
    }
    append(bytes, std::uint32_t{0});
    append(bytes, library.hardware);
  }
  return bytes + strings;
}

TEST(LoaderCache, FindsLibrariesForThisMachine) {
  const std::string cache = cache_of({{"liba.so.1", "/other/liba.so.1", 0x0803},
                                      {"liba.so.1", "/fast/liba.so.1", own_flags, 4},
                                      {"liba.so.1", "/usr/lib/liba.so.1", own_flags},
                                      {"libb.so.1", "/usr/lib/libb.so.1", own_flags}});
  EXPECT_EQ(find_in_loader_cache("liba.so.1", cache), "/usr/lib/liba.so.1");
  EXPECT_EQ(find_in_loader_cache("libb.so.1", "an older table" + cache), "/usr/lib/libb.so.1");
  EXPECT_FALSE(find_in_loader_cache("libc.so.1", cache));
  EXPECT_FALSE(find_in_loader_cache("liba.so", cache));
}

TEST(LoaderCache, ReadsDamagedCaches) {
  const std::string cache = cache_of({{"liba.so.1", "/usr/lib/liba.so.1", own_flags}});
  for (std::size_t size = 0; size < cache.size(); ++size) {
    static_cast<void>(find_in_loader_cache("liba.so.1", cache.substr(0, size)));
  }
  EXPECT_FALSE(find_in_loader_cache("liba.so.1", ""));
}

}  // namespace
}  // namespace cudacore::driver
