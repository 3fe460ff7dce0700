// SPDX-License-Identifier: Apache-2.0
#include "compile/program_cache.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "compile/cache_folder.hpp"
#include "compile/cache_sweep.hpp"
#include "cudacore/cache.hpp"
#include "cudacore/error.hpp"
#include "messages.hpp"
#include "signature/bytes.hpp"

namespace cudacore::compile {
namespace {

namespace fs = std::filesystem;
using testing::contains;
using testing::message_of;

constexpr std::uint64_t no_limit = std::uint64_t{1} << 40U;

Digest key_of(unsigned number) {
  FieldHash hash;
  hash.add_number(number);
  return hash.finish();
}

CacheEntry entry_of(unsigned number, std::size_t size = 1000) {
  CacheEntry entry;
  entry.code = signature::bytes_of(std::string(size, static_cast<char>('a' + number % 26)));
  entry.ptx = "ptx of " + std::to_string(number);
  entry.log = "log";
  entry.info_log = "info";
  entry.symbols = {{"f<int>", "_Z1fIiEvv"}, {"", "x"}};
  return entry;
}

bool same(const CacheEntry& a, const CacheEntry& b) {
  return a.type == b.type && a.code == b.code && a.ptx == b.ptx && a.log == b.log &&
         a.info_log == b.info_log && a.symbols == b.symbols;
}

/// Each test has a cache of its own.
class Cache : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = fs::temp_directory_path() / "cudacore-cache-XXXXXX";
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    scratch_ = name;
    folder_ = scratch_ / "cache";
    cache::set_folder(folder_);
    cache::set_max_size(no_limit);
  }
  void TearDown() override {
    std::error_code error;
    fs::permissions(folder_, fs::perms::owner_all, error);
    fs::remove_all(scratch_, error);
  }

  [[nodiscard]] fs::path file_of(const Digest& key) const {
    const std::string name = to_hex(key);
    return folder_ / "programs-1" / name.substr(0, 2) / name.substr(2);
  }

  /// The failures that `work` causes.
  template <typename Work>
  static std::uint64_t failures_in(const Work& work) {
    const std::uint64_t before = cache::info().counts.failures;
    work();
    return cache::info().counts.failures - before;
  }

  fs::path scratch_;
  fs::path folder_;
};

std::string content_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const fs::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary)
      .write(content.data(), static_cast<std::streamsize>(content.size()));
}

TEST_F(Cache, ReturnsWhatWasStored) {
  EXPECT_FALSE(find_in_cache(key_of(1)));
  ASSERT_TRUE(store_in_cache(key_of(1), entry_of(1)));
  const auto found = find_in_cache(key_of(1));
  ASSERT_TRUE(found);
  EXPECT_TRUE(same(*found, entry_of(1)));
  EXPECT_FALSE(find_in_cache(key_of(2)));
  EXPECT_EQ(cache::usage().entries, 1U);
  EXPECT_EQ(cache::info().problem, "");
  EXPECT_EQ(cache::clear(), 1U);
  EXPECT_FALSE(find_in_cache(key_of(1)));
}

TEST_F(Cache, RefusesAFolderWithoutAName) {
  EXPECT_THROW(cache::set_folder(""), std::invalid_argument);
}

TEST_F(Cache, IsPrivate) {
  ASSERT_TRUE(store_in_cache(key_of(1), entry_of(1)));
  for (const fs::path& path : {folder_, folder_ / "programs-1", file_of(key_of(1)).parent_path()}) {
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all) << path;
  }
  EXPECT_EQ(fs::status(file_of(key_of(1))).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(Cache, MakesParentsPrivateIfTheDefaultCacheMayBeThere) {
  const ::mode_t before = ::umask(0002);
  cache::set_folder(scratch_ / "plain" / "cudacore" / "kernels");
  const bool is_stored = store_in_cache(key_of(1), entry_of(1));
  ::umask(before);
  EXPECT_TRUE(is_stored) << cache::info().problem;
  cache::set_folder(scratch_ / "plain" / "cudacore");
  EXPECT_TRUE(store_in_cache(key_of(1), entry_of(1))) << cache::info().problem;
  EXPECT_EQ(fs::status(scratch_ / "plain").permissions(),
            fs::perms::owner_all | fs::perms::group_all | fs::perms::others_read |
                fs::perms::others_exec);
}

TEST_F(Cache, RefusesEachFlippedBit) {
  ASSERT_TRUE(store_in_cache(key_of(1), entry_of(1, 20)));
  const std::string content = content_of(file_of(key_of(1)));
  for (std::size_t byte = 0; byte < content.size(); ++byte) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      std::string damaged = content;
      damaged[byte] = static_cast<char>(damaged[byte] ^ 1 << bit);
      ASSERT_FALSE(read_entry(key_of(1), damaged)) << byte << ", " << bit;
    }
  }
  EXPECT_TRUE(read_entry(key_of(1), content));
}

TEST_F(Cache, RefusesEachTruncation) {
  ASSERT_TRUE(store_in_cache(key_of(1), entry_of(1, 20)));
  const std::string content = content_of(file_of(key_of(1)));
  for (std::size_t size = 0; size < content.size(); ++size) {
    ASSERT_FALSE(read_entry(key_of(1), std::string_view(content).substr(0, size)));
  }
  EXPECT_FALSE(read_entry(key_of(1), content + "x"));
}

TEST_F(Cache, ReadsFieldsOfAnyBytes) {
  const std::string content = write_entry(key_of(1), entry_of(1, 20));
  const std::string_view fields = std::string_view(content).substr(content.find('\n') + 1 + 32);
  ASSERT_TRUE(read_entry_fields(fields));
  for (std::size_t byte = 0; byte < fields.size(); ++byte) {
    std::string damaged(fields);
    for (const unsigned value : {0x00U, 0x7FU, 0xFFU}) {
      damaged[byte] = static_cast<char>(value);
      static_cast<void>(read_entry_fields(damaged));
      static_cast<void>(read_entry_fields(std::string_view(damaged).substr(0, byte)));
    }
  }
}

TEST_F(Cache, RemovesADamagedEntry) {
  ASSERT_TRUE(store_in_cache(key_of(1), entry_of(1)));
  std::string content = content_of(file_of(key_of(1)));
  content[content.size() / 2] ^= 1;
  write_file(file_of(key_of(1)), content);
  EXPECT_EQ(failures_in([] { EXPECT_FALSE(find_in_cache(key_of(1))); }), 1U);
  EXPECT_TRUE(contains(cache::info().problem, "damaged"));
  EXPECT_FALSE(fs::exists(file_of(key_of(1))));
}

TEST_F(Cache, ChecksTheEntriesThatWereUsedLast) {
  EXPECT_EQ(check_entries(10, no_limit).checked, 0U);
  for (unsigned number = 1; number <= 3; ++number) {
    ASSERT_TRUE(store_in_cache(key_of(number), entry_of(number)));
    const fs::path file = file_of(key_of(number));
    fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(10 - number));
  }
  write_file(file_of(key_of(1)).parent_path() / "other", "not an entry");
  const CheckedEntries healthy = check_entries(10, no_limit);
  EXPECT_EQ(healthy.checked, 3U);
  EXPECT_TRUE(healthy.problems.empty());

  std::string content = content_of(file_of(key_of(1)));
  content[content.size() / 2] ^= 1;
  const auto used = fs::last_write_time(file_of(key_of(1)));
  write_file(file_of(key_of(1)), content);
  fs::last_write_time(file_of(key_of(1)), used);
  fs::permissions(file_of(key_of(2)), fs::perms::others_write, fs::perm_options::add);
  const CheckedEntries damaged = check_entries(10, no_limit);
  EXPECT_EQ(damaged.checked, 3U);
  ASSERT_EQ(damaged.problems.size(), 2U);
  EXPECT_TRUE(contains(damaged.problems[0], "can be written to by other users"));
  EXPECT_EQ(damaged.problems[1], "the entry " + to_hex(key_of(1)) + " is damaged");
  // It changes nothing.
  EXPECT_EQ(content_of(file_of(key_of(1))), content);
  EXPECT_EQ(fs::last_write_time(file_of(key_of(1))), used);

  fs::remove(file_of(key_of(1)).parent_path() / "other");
  EXPECT_EQ(check_entries(2, no_limit).problems.size(), 1U);
  EXPECT_EQ(check_entries(1, no_limit).checked, 1U);
  EXPECT_EQ(check_entries(10, 2 * block_size).checked, 2U);
  EXPECT_EQ(check_entries(10, 0).checked, 0U);
}

TEST_F(Cache, RefusesTheEntryOfAnotherKey) {
  ASSERT_TRUE(store_in_cache(key_of(1), entry_of(1)));
  fs::create_directories(file_of(key_of(2)).parent_path());
  fs::permissions(file_of(key_of(2)).parent_path(), fs::perms::owner_all);
  fs::copy_file(file_of(key_of(1)), file_of(key_of(2)));
  EXPECT_FALSE(find_in_cache(key_of(2)));
  EXPECT_TRUE(find_in_cache(key_of(1)));
}

TEST_F(Cache, RefusesLinks) {
  ASSERT_TRUE(store_in_cache(key_of(1), entry_of(1)));
  const fs::path file = file_of(key_of(1));
  fs::rename(file, scratch_ / "elsewhere");
  fs::create_symlink(scratch_ / "elsewhere", file);
  EXPECT_EQ(failures_in([] { EXPECT_FALSE(find_in_cache(key_of(1))); }), 1U);
  // Storing replaces the link, not what it leads to.
  write_file(scratch_ / "elsewhere", "mine");
  ASSERT_TRUE(store_in_cache(key_of(1), entry_of(1)));
  EXPECT_EQ(content_of(scratch_ / "elsewhere"), "mine");
  EXPECT_TRUE(find_in_cache(key_of(1)));

  fs::rename(folder_, scratch_ / "moved");
  fs::create_directory_symlink(scratch_ / "moved", folder_);
  EXPECT_FALSE(find_in_cache(key_of(1)));
  EXPECT_FALSE(store_in_cache(key_of(2), entry_of(2)));
  EXPECT_TRUE(contains(cache::info().problem, "name the folder itself")) << cache::info().problem;
  EXPECT_TRUE(contains(message_of<Error>([] { cache::clear(); }), "symbolic link"));
}

TEST_F(Cache, RefusesWhatOthersCanWriteTo) {
  ASSERT_TRUE(store_in_cache(key_of(1), entry_of(1)));
  for (const fs::path& path :
       {folder_, folder_ / "programs-1", file_of(key_of(1)).parent_path(), file_of(key_of(1))}) {
    for (const fs::perms perms : {fs::perms::group_write, fs::perms::others_write}) {
      fs::permissions(path, perms, fs::perm_options::add);
      EXPECT_FALSE(find_in_cache(key_of(1))) << path;
      EXPECT_TRUE(contains(cache::info().problem, "chmod go-w")) << cache::info().problem;
      fs::permissions(path, perms, fs::perm_options::remove);
      EXPECT_TRUE(find_in_cache(key_of(1))) << path;
    }
  }
}

TEST_F(Cache, RefusesTheFolderOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give folders away";
  ASSERT_TRUE(store_in_cache(key_of(1), entry_of(1)));
  constexpr ::uid_t nobody = 65534;
  for (const fs::path& path :
       {folder_, folder_ / "programs-1", file_of(key_of(1)).parent_path(), file_of(key_of(1))}) {
    ASSERT_EQ(::chown(path.c_str(), nobody, nobody), 0);
    EXPECT_FALSE(find_in_cache(key_of(1))) << path;
    EXPECT_TRUE(contains(cache::info().problem, "belongs to another user (65534)"));
    ASSERT_EQ(::chown(path.c_str(), 0, 0), 0);
  }
}

TEST_F(Cache, PassesOverOtherKindsOfFiles) {
  ASSERT_TRUE(store_in_cache(key_of(1), entry_of(1)));
  const fs::path file = file_of(key_of(1));
  fs::remove(file);
  ASSERT_EQ(::mkfifo(file.c_str(), 0600), 0);
  EXPECT_FALSE(find_in_cache(key_of(1)));  // and doesn't wait for a writer
  fs::remove(file);
  fs::create_directory(file);
  fs::permissions(file, fs::perms::owner_all);
  EXPECT_FALSE(find_in_cache(key_of(1)));
  EXPECT_FALSE(store_in_cache(key_of(1), entry_of(1)));
  fs::remove(file);
  EXPECT_TRUE(store_in_cache(key_of(1), entry_of(1)));

  cache::set_folder(scratch_ / "file");
  write_file(scratch_ / "file", "x");
  EXPECT_FALSE(find_in_cache(key_of(1)));
  EXPECT_FALSE(store_in_cache(key_of(1), entry_of(1)));
  EXPECT_TRUE(contains(cache::info().problem, "Not a directory")) << cache::info().problem;
}

/// Runs in a child process without root's rights, and returns whether `work` did.
template <typename Work>
bool as_plain_user(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    constexpr ::uid_t nobody = 65534;
    const bool is_plain = ::geteuid() != 0 || ::setresuid(nobody, nobody, nobody) == 0;
    ::_exit(is_plain && work() ? 0 : 1);
  }
  int status = -1;
  return ::waitpid(child, &status, 0) == child && status == 0;
}

TEST_F(Cache, WorksReadOnly) {
  if (::geteuid() == 0) {
    ASSERT_EQ(::chown(scratch_.c_str(), 65534, 65534), 0);
  }
  EXPECT_TRUE(as_plain_user([this] {
    if (!store_in_cache(key_of(1), entry_of(1))) return false;
    const fs::path shard = file_of(key_of(1)).parent_path();
    for (const fs::path& folder : {shard, shard.parent_path(), folder_}) {
      fs::permissions(folder, fs::perms::owner_read | fs::perms::owner_exec);
    }
    const bool is_found = find_in_cache(key_of(1)).has_value();
    const bool is_stored = store_in_cache(key_of(1), entry_of(2));
    const bool is_other_stored = store_in_cache(key_of(2), entry_of(2));
    const bool is_explained = cache::info().problem.find("Permission denied") != std::string::npos;
    const std::string entry = to_hex(key_of(1));
    const std::string path = "programs-1/" + entry.substr(0, 2) + "/" + entry.substr(2) + ": Perm";
    const bool is_named = contains(message_of<Error>([] { cache::clear(); }), path);
    for (const fs::path& folder : {folder_, shard.parent_path(), shard}) {
      fs::permissions(folder, fs::perms::owner_all);
    }
    return is_found && !is_stored && !is_other_stored && is_explained && is_named;
  }));
}

TEST_F(Cache, SurvivesTheEndOfTheDisk) {
  ASSERT_TRUE(store_in_cache(key_of(1), entry_of(1)));
  const pid_t child = ::fork();
  if (child == 0) {
    // By default, the signal ends the process.
    std::signal(SIGXFSZ, SIG_DFL);
    const rlimit limit{2000, 2000};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const bool is_stored = store_in_cache(key_of(2), entry_of(2, 100'000));
    const bool is_found = find_in_cache(key_of(1)).has_value();
    ::_exit(!is_stored && is_found && !find_in_cache(key_of(2)) ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(cache::usage().entries, 1U);  // and no draft is left
  EXPECT_EQ(std::distance(fs::directory_iterator(file_of(key_of(2)).parent_path()), {}), 0);
}

TEST_F(Cache, RemovesTheLeastRecentlyUsed) {
  constexpr unsigned entries = 40;
  constexpr std::uint64_t each = 3 * block_size;  // on the disk
  for (unsigned i = 0; i < entries; ++i) {
    ASSERT_TRUE(store_in_cache(key_of(i), entry_of(i, 2 * block_size + 100)));
    const auto long_ago = fs::file_time_type::clock::now() - std::chrono::hours(2000 - i);
    fs::last_write_time(file_of(key_of(i)), long_ago);
  }
  // Used again, so it stays; and one from the future counts as old.
  EXPECT_TRUE(find_in_cache(key_of(0)));
  fs::last_write_time(file_of(key_of(entries - 1)),
                      fs::file_time_type::clock::now() + std::chrono::hours(100'000));
  EXPECT_EQ(cache::usage().size, entries * each);
  cache::set_max_size(20 * each);
  ASSERT_TRUE(store_in_cache(key_of(100), entry_of(100)));
  EXPECT_LE(cache::usage().size, 16 * each);
  EXPECT_GE(cache::usage().size, 15 * each);
  EXPECT_TRUE(find_in_cache(key_of(0)));
  EXPECT_TRUE(find_in_cache(key_of(100)));
  EXPECT_TRUE(find_in_cache(key_of(entries - 2)));
  EXPECT_FALSE(find_in_cache(key_of(entries - 1)));
  EXPECT_FALSE(find_in_cache(key_of(1)));
}

TEST_F(Cache, StaysSmallWithoutItsTally) {
  ASSERT_TRUE(store_in_cache(key_of(0), entry_of(0)));
  fs::remove(folder_ / "programs-1" / "tally");
  fs::create_directory(folder_ / "programs-1" / "tally");
  cache::set_max_size(20 * block_size);
  EXPECT_EQ(failures_in([] {
              for (unsigned i = 0; i < 60; ++i) {
                ASSERT_TRUE(store_in_cache(key_of(i), entry_of(i)));
                EXPECT_LE(cache::usage().size, 20 * block_size);
              }
            }),
            60U);
  EXPECT_TRUE(contains(cache::info().problem, "tally")) << cache::info().problem;
}

TEST_F(Cache, DoesNotKeepWhatIsTooLarge) {
  cache::set_max_size(10'000);
  ASSERT_TRUE(store_in_cache(key_of(1), entry_of(1)));
  EXPECT_FALSE(store_in_cache(key_of(2), entry_of(2, 9'000)));
  EXPECT_TRUE(contains(cache::info().problem, "too large"));
  EXPECT_TRUE(find_in_cache(key_of(1)));
}

TEST_F(Cache, RemovesOldDrafts) {
  ASSERT_TRUE(store_in_cache(key_of(1), entry_of(1)));
  const fs::path shard = file_of(key_of(1)).parent_path();
  for (const char* name : {".draft-old", ".draft-new"}) write_file(shard / name, "half");
  fs::last_write_time(shard / ".draft-old",
                      fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache::set_max_size(std::uint64_t{4} * block_size);
  for (unsigned i = 2; i < 10; ++i) store_in_cache(key_of(i), entry_of(i));
  EXPECT_FALSE(fs::exists(shard / ".draft-old"));
  EXPECT_TRUE(fs::exists(shard / ".draft-new"));
}

/// Children write and read the same entries, are killed at any moment, and never see a wrong one.
TEST_F(Cache, SurvivesKilledWriters) {
  constexpr unsigned keys = 8;
  constexpr int rounds = 150;
  for (int round = 0; round < rounds; ++round) {
    std::array<pid_t, 2> children{};
    for (pid_t& child : children) {
      child = ::fork();
      if (child != 0) continue;
      for (unsigned i = 0;; ++i) {
        const unsigned number = i % keys;
        store_in_cache(key_of(number), entry_of(number, 50'000 + number));
        const auto found = find_in_cache(key_of((i * 5) % keys));
        if (found && !same(*found, entry_of((i * 5) % keys, 50'000 + (i * 5) % keys))) ::_exit(1);
      }
    }
    ::usleep(static_cast<useconds_t>(200 + 37 * (round % 50)));
    for (const pid_t child : children) {
      ::kill(child, SIGKILL);
      int status = 0;
      ASSERT_EQ(::waitpid(child, &status, 0), child);
      ASSERT_TRUE(WIFSIGNALED(status)) << "a wrong entry, or a crash";
    }
  }
  const std::uint64_t damaged = failures_in([] {
    for (unsigned i = 0; i < keys; ++i) {
      const auto found = find_in_cache(key_of(i));
      EXPECT_TRUE(!found || same(*found, entry_of(i, 50'000 + i)));
    }
  });
  EXPECT_EQ(damaged, 0U);
}

TEST_F(Cache, IsSharedByThreads) {
  cache::set_max_size(std::uint64_t{40} * 4096);
  std::vector<std::thread> threads;
  std::atomic<unsigned> wrong{0};
  for (unsigned thread = 0; thread < 8; ++thread) {
    threads.emplace_back([&wrong, thread] {
      for (unsigned i = 0; i < 200; ++i) {
        const unsigned number = (i * 7 + thread) % 60;
        store_in_cache(key_of(number), entry_of(number));
        if (const auto found = find_in_cache(key_of(number));
            found && !same(*found, entry_of(number))) {
          ++wrong;
        }
        if (i % 50 == 0) cache::clear();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0U);
}

}  // namespace
}  // namespace cudacore::compile
