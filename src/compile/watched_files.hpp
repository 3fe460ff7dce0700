// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <unordered_set>
#include <vector>

#include "compile/sha256.hpp"

namespace cudacore::compile {

/// The files that a compilation reads and the folders where it looks for others, to tell afterwards
/// whether somebody wrote to them meanwhile.
class WatchedFiles {
 public:
  /// Notes a file that was read. The links on its path are watched, too: one that leads elsewhere
  /// only meanwhile leaves no other trace.
  void add_file(std::string path) { files_.push_back(std::move(path)); }
  /// Notes a folder, "" for the current one, which shows when files last appeared in it or
  /// vanished: the compiler may have seen one that was there only meanwhile. Of a folder that
  /// doesn't exist, the closest one above that does is watched.
  void add_folder(std::string path) { folders_.insert(std::move(path)); }

  /// When all of them were last changed, as it is now.
  [[nodiscard]] Digest state() const;

 private:
  std::vector<std::string> files_;
  std::unordered_set<std::string> folders_;
};

}  // namespace cudacore::compile
