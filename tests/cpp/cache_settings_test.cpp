// SPDX-License-Identifier: Apache-2.0
#include "compile/cache_settings.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

namespace cudacore::compile {
namespace {

TEST(CacheSettings, FollowTheEnvironment) {
  const auto with = [](const char* name, const char* value) {
    ::setenv(name, value, 1);
    CacheSettings settings = settings_of_environment();
    ::unsetenv(name);
    return settings;
  };
  for (const char* off : {"0", "off", "False", "NO"}) {
    EXPECT_FALSE(with("CUDACORE_CACHE", off).is_enabled);
  }
  EXPECT_TRUE(with("CUDACORE_CACHE", "1").is_enabled);
  EXPECT_EQ(with("CUDACORE_CACHE", "On").problem, "");
  const CacheSettings unclear = with("CUDACORE_CACHE", "maybe");
  EXPECT_TRUE(unclear.is_enabled);
  EXPECT_EQ(unclear.problem, "CUDACORE_CACHE=maybe is neither on nor off; the cache is on");
  EXPECT_EQ(with("CUDACORE_CACHE_DIR", "/x/y//").folder, "/x/y");
  const char* const home = std::getenv("HOME");
  const std::string saved = home == nullptr ? "/" : home;
  ::setenv("HOME", "/home/u", 1);
  EXPECT_EQ(with("CUDACORE_CACHE_DIR", "~/kernels").folder, "/home/u/kernels");
  EXPECT_TRUE(
      with("CUDACORE_CACHE_DIR", "~other/kernels").folder.string().ends_with("/~other/kernels"));
  ::setenv("HOME", saved.c_str(), 1);
  EXPECT_EQ(with("CUDACORE_CACHE_MAX_SIZE", "2G").max_size, std::uint64_t{2} << 30U);
  const CacheSettings wrong = with("CUDACORE_CACHE_MAX_SIZE", "much");
  EXPECT_EQ(wrong.max_size, std::uint64_t{1} << 30U);
  EXPECT_EQ(wrong.problem,
            "CUDACORE_CACHE_MAX_SIZE=much is not a size such as 500M or 4G; the default is used");
  EXPECT_EQ(wrong.folder_problem, "");
  ::setenv("HOME", "relative", 1);
  const CacheSettings homeless = with("XDG_CACHE_HOME", "relative");
  ::setenv("HOME", saved.c_str(), 1);
  EXPECT_EQ(homeless.folder_problem,
            "no folder for the cache: neither XDG_CACHE_HOME nor HOME is set; set "
            "CUDACORE_CACHE_DIR");
  EXPECT_EQ(homeless.problem, "");
}

TEST(CacheSettings, ReadSizes) {
  EXPECT_EQ(parse_size("0"), 0U);
  EXPECT_EQ(parse_size("1000"), 1000U);
  EXPECT_EQ(parse_size("64K"), 65536U);
  EXPECT_EQ(parse_size("64kB"), 65536U);
  EXPECT_EQ(parse_size("3MiB"), 3U << 20U);
  EXPECT_EQ(parse_size("7B"), 7U);
  for (const char* wrong : {"", "K", "-1", "1.5G", "1 G", "1Gx", "99999999999T", "1E"}) {
    EXPECT_FALSE(parse_size(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace cudacore::compile
