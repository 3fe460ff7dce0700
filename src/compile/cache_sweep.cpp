// SPDX-License-Identifier: Apache-2.0
#include "compile/cache_sweep.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "compile/sha256.hpp"
#include "driver/descriptor.hpp"

namespace cudacore::compile {

using driver::Descriptor;
namespace {

constexpr std::size_t shards = 256;

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

Descriptor open_shard(int files, const std::string& name) {
  return Descriptor(::openat(files, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
}

using Visit = std::function<void(const CachedFile&)>;

void for_each_in(int files, const std::string& shard, const Visit& visit) {
  CachedFile file;
  file.shard = shard;
  Descriptor opened = open_shard(files, file.shard);
  if (!opened) return;
  const std::unique_ptr<DIR, CloseFolder> folder(::fdopendir(opened.get()));
  if (folder == nullptr) return;
  file.folder = opened.release();
  const std::time_t now = std::time(nullptr);
  while (const dirent* const entry = ::readdir(folder.get())) {
    struct stat status {};
    file.name = entry->d_name;
    if (::fstatat(file.folder, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        S_ISDIR(status.st_mode)) {
      continue;
    }
    file.blocks = blocks_of(static_cast<std::uint64_t>(status.st_size));
    // The clock of a file server may be a little ahead.
    constexpr std::time_t day = 86400;
    file.used = status.st_mtime > now + day ? 0 : status.st_mtime;
    visit(file);
  }
}

}  // namespace

void for_each_file(int files, const Visit& visit) {
  for (std::size_t number = 0; number < shards; ++number) {
    const auto byte = static_cast<std::byte>(number);
    for_each_in(files, to_hex({&byte, 1}), visit);
  }
}

void for_each_note(int files, const Visit& visit) {
  for_each_in(files, std::string(note_folder), visit);
}

std::uint64_t sweep_files(int files, std::uint64_t wanted, std::uint64_t limit) {
  constexpr std::time_t longest_write = 3600;
  const std::time_t now = std::time(nullptr);
  std::vector<CachedFile> all;
  std::uint64_t blocks = 0;
  const auto remove_old_draft = [now](const CachedFile& file) {
    if (file.is_draft() && now - file.used > longest_write) {
      ::unlinkat(file.folder, file.name.c_str(), 0);
    }
  };
  for_each_note(files, remove_old_draft);
  for_each_file(files, [&](const CachedFile& file) {
    remove_old_draft(file);
    if (file.is_draft()) return;
    blocks += file.blocks;
    all.push_back(file);
  });
  if (blocks * block_size <= limit) return blocks;
  std::sort(all.begin(), all.end(),
            [](const CachedFile& a, const CachedFile& b) { return a.used < b.used; });
  for (const CachedFile& file : all) {
    if (blocks * block_size <= wanted) break;
    const Descriptor folder = open_shard(files, file.shard);
    if (!folder || ::unlinkat(folder.get(), file.name.c_str(), 0) != 0) continue;
    blocks -= file.blocks;
  }
  return blocks;
}

}  // namespace cudacore::compile
