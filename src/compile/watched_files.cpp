// SPDX-License-Identifier: Apache-2.0
#include "compile/watched_files.hpp"

#include <set>

#include <sys/stat.h>

namespace cudacore::compile {
namespace {

void add_times(FieldHash& hash, const struct stat& status) {
  for (const timespec& time : {status.st_mtim, status.st_ctim}) {
    hash.add_number(static_cast<std::uint64_t>(time.tv_sec));
    hash.add_number(static_cast<std::uint64_t>(time.tv_nsec));
  }
  hash.add_number(status.st_ino);
}

/// Of a path without a slash, "": the current folder. Slashes at the end don't count.
std::string parent_of(const std::string& path) {
  const std::size_t last = path.find_last_not_of('/');
  const std::size_t slash = last == std::string::npos ? last : path.rfind('/', last);
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

}  // namespace

Digest WatchedFiles::state() const {
  FieldHash hash;
  struct stat status {};
  std::unordered_set<std::string> links;
  for (const std::string& file : files_) {
    if (::stat(file.c_str(), &status) == 0) add_times(hash, status);
    for (std::size_t end = file.find('/', 1);; end = file.find('/', end + 1)) {
      const std::string place = file.substr(0, end);
      if (links.insert(place).second && ::lstat(place.c_str(), &status) == 0 &&
          S_ISLNK(status.st_mode)) {
        add_times(hash, status);
      }
      if (end == std::string::npos) break;
    }
  }
  std::set<std::string> seen;
  // In the same order each time.
  for (const std::string& folder : std::set<std::string>(folders_.begin(), folders_.end())) {
    for (std::string place = folder; seen.insert(place).second; place = parent_of(place)) {
      if (::stat(place.empty() ? "." : place.c_str(), &status) == 0) {
        add_times(hash, status);
        break;
      }
    }
  }
  return hash.finish();
}

}  // namespace cudacore::compile
