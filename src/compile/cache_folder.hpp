// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "driver/descriptor.hpp"

namespace cudacore::compile {

/// The files of the cache, in a folder that only this user can write to: entries, whose names are
/// digests, and notes about them, "compilers/NVRTC", which don't count as files below.
///
/// Any number of processes may use it at once, also without locks: a file is complete when it gets
/// its name, and is never changed. All functions report failure by what they return; problem()
/// says why.
class CacheFolder {
 public:
  struct Usage {
    std::uint64_t files = 0;
    std::uint64_t bytes = 0;  ///< on the disk, in blocks of 4 KiB
  };
  enum class Missing : std::uint8_t { create, leave };
  enum class Purpose : std::uint8_t { use, check };

  /// Opens the cache below a folder, which is refused if others can write to it: if it belongs to
  /// another user, is a link, or its mode lets them.
  CacheFolder(const std::filesystem::path& folder, Missing missing);

  [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(files_); }
  /// Why the last call failed; empty if a folder or file simply isn't there.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

  /// The content of a file, which counts as used now unless it is only checked.
  [[nodiscard]] std::optional<std::string> read(const std::string& name,
                                                Purpose purpose = Purpose::use);
  /// Writes a file as a whole, and removes the least recently used ones if all together are larger
  /// than `limit`.
  bool write(const std::string& name, std::string_view content, std::uint64_t limit);
  void remove(const std::string& name);
  [[nodiscard]] Usage usage();
  /// The names of the files that were used last: at most so many, and so many bytes.
  [[nodiscard]] std::vector<std::string> last_used(std::size_t files, std::uint64_t bytes);
  /// Removes all files, and the notes; returns how many files.
  std::uint64_t clear();

 private:
  /// The folder of a file, one of 256, or that of the notes.
  [[nodiscard]] driver::Descriptor open_shard(const std::string& shard, Missing missing);
  [[nodiscard]] driver::Descriptor open_folder(int parent, const std::string& name,
                                               Missing missing);
  [[nodiscard]] bool is_ours(const driver::Descriptor& opened, const std::string& what);
  /// Adds to the approximate size of all files, which is the size of a file itself, so that no
  /// lock is needed; removes files if it gets too large. If that size can't be kept, looks at all
  /// files each time.
  void count(std::uint64_t blocks, std::uint64_t limit);
  void fail(const std::string& what, int error);

  std::filesystem::path path_;
  driver::Descriptor files_;
  std::string problem_;
};

}  // namespace cudacore::compile
