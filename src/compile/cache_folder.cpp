// SPDX-License-Identifier: Apache-2.0
#include "compile/cache_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <ctime>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile/cache_sweep.hpp"

namespace cudacore::compile {

using driver::Descriptor;

namespace fs = std::filesystem;

namespace {

/// Its number changes with the layout.
constexpr const char* files_folder = "programs-1";
constexpr const char* tally = "tally";
constexpr ::mode_t private_folder = 0700;
constexpr ::mode_t private_file = 0600;
constexpr std::size_t largest_file = std::size_t{1} << 30U;

struct FileName {
  std::string shard;
  std::string file;
};

/// Makes the parents of a folder. They need not be private, except for the one that the default
/// cache may be put into later.
void make_parents(const fs::path& folder) {
  const fs::path parent = folder.parent_path();
  std::error_code error;
  if (parent.empty() || parent == folder || fs::exists(parent, error)) return;
  make_parents(parent);
  constexpr ::mode_t any_folder = 0777;
  // If this fails, so does what is done next.
  ::mkdir(parent.c_str(), parent.filename() == "cudacore" ? private_folder : any_folder);
}

bool is_note(std::string_view name) { return name.find('/') != std::string_view::npos; }

FileName split(const std::string& name) {
  if (is_note(name)) return {name.substr(0, name.find('/')), name.substr(name.find('/') + 1)};
  return {name.substr(0, 2), name.substr(2)};
}

/// Marks a file as used, at most once in a while.
void touch(int file, const struct stat& status) noexcept {
  constexpr std::time_t interval = 600;
  const std::time_t age = std::time(nullptr) - status.st_mtime;
  if (age >= 0 && age < interval) return;
  ::futimens(file, nullptr);  // in a read-only folder, this fails
}

}  // namespace

void CacheFolder::fail(const std::string& what, int error) {
  problem_ = (path_ / what).string() + ": " + std::generic_category().message(error);
}

bool CacheFolder::is_ours(const Descriptor& opened, const std::string& what) {
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0) {
    fail(what, errno);
    return false;
  }
  const std::string path = (path_ / what).string();
  if (status.st_uid != ::geteuid()) {
    problem_ = path + " belongs to another user (" + std::to_string(status.st_uid) + ")";
  } else if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    problem_ = path + " can be written to by other users: chmod go-w " + path;
  } else {
    return true;
  }
  return false;
}

Descriptor CacheFolder::open_folder(int parent, const std::string& name, Missing missing) {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  Descriptor folder(::openat(parent, name.c_str(), flags));
  if (!folder && errno == ENOENT && missing == Missing::create) {
    if (::mkdirat(parent, name.c_str(), private_folder) != 0 && errno != EEXIST) {
      fail(name, errno);
      return Descriptor();
    }
    folder = Descriptor(::openat(parent, name.c_str(), flags));
  }
  if (folder) return is_ours(folder, name) ? std::move(folder) : Descriptor();
  const int error = errno;
  struct stat status {};
  const bool is_link =
      ::fstatat(parent, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(status.st_mode);
  if (is_link) {
    problem_ = (path_ / name).string() +
               " is a symbolic link, which may lead anywhere: name "
               "the folder itself";
  } else if (error != ENOENT || missing == Missing::create) {
    fail(name, error);
  }
  return Descriptor();
}

CacheFolder::CacheFolder(const fs::path& folder, Missing missing) : path_(folder) {
  if (missing == Missing::create) make_parents(folder);
  const Descriptor root = open_folder(AT_FDCWD, folder.string(), missing);
  if (root) files_ = open_folder(root.get(), files_folder, missing);
  path_ /= files_folder;
}

Descriptor CacheFolder::open_shard(const std::string& shard, Missing missing) {
  return open_folder(files_.get(), shard, missing);
}

std::optional<std::string> CacheFolder::read(const std::string& name, Purpose purpose) {
  problem_.clear();
  const auto [shard, file_name] = split(name);
  const Descriptor folder = open_shard(shard, Missing::leave);
  if (!folder) return std::nullopt;
  constexpr int flags = O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  const Descriptor file(::openat(folder.get(), file_name.c_str(), flags));
  const std::string path = shard + "/" + file_name;
  if (!file) {
    if (errno != ENOENT) fail(path, errno);
    return std::nullopt;
  }
  struct stat status {};
  if (!is_ours(file, path)) return std::nullopt;
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    problem_ = (path_ / path).string() + " is not a regular file";
    return std::nullopt;
  }
  std::string content;
  if (!driver::read_all(file.get(), static_cast<std::size_t>(status.st_size), largest_file,
                        content)) {
    fail(path, EIO);
    return std::nullopt;
  }
  if (purpose == Purpose::use) touch(file.get(), status);
  return content;
}

bool CacheFolder::write(const std::string& name, std::string_view content, std::uint64_t limit) {
  problem_.clear();
  const auto [shard, file_name] = split(name);
  // One file doesn't drive out most of the others.
  constexpr std::uint64_t largest_share = 4;
  if (content.size() > limit / largest_share || content.size() > largest_file) {
    problem_ =
        "an entry of " + std::to_string(content.size()) + " bytes is too large for the cache";
    return false;
  }
  const Descriptor folder = open_shard(shard, Missing::create);
  if (!folder) return false;
  const std::string draft = driver::draft_name();
  Descriptor file(::openat(folder.get(), draft.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, private_file));
  if (!file) {
    fail(shard, errno);
    return false;
  }
  int error = driver::write_all(file.get(), std::as_bytes(std::span(content)));
  // Some file systems report only now that the disk is full.
  if (::close(file.release()) != 0 && error == 0) error = errno;
  if (error == 0 && ::renameat(folder.get(), draft.c_str(), folder.get(), file_name.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlinkat(folder.get(), draft.c_str(), 0);
    fail(shard, error);
    return false;
  }
  if (!is_note(name)) count(blocks_of(content.size()), limit);
  return true;
}

void CacheFolder::count(std::uint64_t blocks, std::uint64_t limit) {
  // A sweep makes room for some time.
  const std::uint64_t wanted = limit / 5 * 4;
  const Descriptor file(
      ::openat(files_.get(), tally,
               O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, private_file));
  struct stat status {};
  const bool is_usable = file && ::fstat(file.get(), &status) == 0;
  if (!is_usable || !S_ISREG(status.st_mode)) {
    fail(tally, is_usable ? EINVAL : errno);
    sweep_files(files_.get(), wanted, limit);
    return;
  }
  constexpr std::array<std::byte, 4096> zeros{};
  int error = 0;
  for (std::uint64_t left = blocks; left != 0 && error == 0;) {
    const std::uint64_t part = std::min<std::uint64_t>(left, zeros.size());
    error = driver::write_all(file.get(), std::span(zeros).first(part));
    left -= part;
  }
  const std::uint64_t total = static_cast<std::uint64_t>(status.st_size) + blocks;
  if (total * block_size <= limit && error == 0) return;
  const std::uint64_t kept = sweep_files(files_.get(), wanted, limit);
  // If this fails, the next write sweeps again.
  static_cast<void>(::ftruncate(file.get(), static_cast<::off_t>(kept)));
}

void CacheFolder::remove(const std::string& name) {
  const auto [shard, file_name] = split(name);
  const Descriptor folder = open_shard(shard, Missing::leave);
  if (folder) ::unlinkat(folder.get(), file_name.c_str(), 0);
}

CacheFolder::Usage CacheFolder::usage() {
  Usage usage;
  for_each_file(files_.get(), [&](const CachedFile& file) {
    if (file.is_draft()) return;
    ++usage.files;
    usage.bytes += file.blocks * block_size;
  });
  return usage;
}

std::vector<std::string> CacheFolder::last_used(std::size_t files, std::uint64_t bytes) {
  std::vector<CachedFile> all;
  for_each_file(files_.get(), [&](const CachedFile& file) {
    if (!file.is_draft()) all.push_back(file);
  });
  std::sort(all.begin(), all.end(),
            [](const CachedFile& a, const CachedFile& b) { return a.used > b.used; });
  std::vector<std::string> names;
  for (const CachedFile& file : all) {
    const std::uint64_t size = file.blocks * block_size;
    if (names.size() == files || size > bytes) break;
    bytes -= size;
    names.push_back(file.shard + file.name);
  }
  return names;
}

std::uint64_t CacheFolder::clear() {
  problem_.clear();
  std::uint64_t removed = 0;
  const auto remove = [&](const CachedFile& file) {
    const bool is_removed = ::unlinkat(file.folder, file.name.c_str(), 0) == 0;
    if (!is_removed && errno != ENOENT) fail(file.shard + "/" + file.name, errno);
    return is_removed;
  };
  for_each_file(files_.get(), [&](const CachedFile& file) {
    if (remove(file) && !file.is_draft()) ++removed;
  });
  for_each_note(files_.get(), [&](const CachedFile& file) { static_cast<void>(remove(file)); });
  ::unlinkat(files_.get(), tally, 0);
  return removed;
}

}  // namespace cudacore::compile
