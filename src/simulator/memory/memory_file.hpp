// SPDX-License-Identifier: Apache-2.0
//
// Memory that several processes can map: an anonymous file, which a file descriptor stands for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace cudacore::simulator {

/// What the file says about its memory. It comes from another process: everything must be checked.
struct MemoryFileNote {
  std::array<char, 16> magic{};
  std::uint64_t size = 0;     ///< bytes of memory, at the beginning
  std::uint64_t records = 0;  ///< bytes between the memory and the note, for the user
  std::uint64_t id = 0;       ///< random
  std::int32_t kind = 0;      ///< the values and their meanings are those of the user
  std::int32_t place = 0;
  std::int32_t device = -1;
  std::int32_t flags = 0;
};

/// Owns one descriptor. The file's size is sealed, so that no process can take memory away from
/// another that has mapped it. Zeroed at first.
class MemoryFile {
 public:
  /// Null if the host cannot provide it. Fills in the note's magic, size and id.
  static std::shared_ptr<const MemoryFile> create(std::size_t size, MemoryFileNote note);
  /// The file behind a descriptor, which stays the caller's; null if it is not one of ours.
  static std::shared_ptr<const MemoryFile> open(int descriptor);
  MemoryFile(int descriptor, const MemoryFileNote& note) noexcept
      : descriptor_(descriptor), note_(note) {}
  ~MemoryFile();
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  [[nodiscard]] std::size_t size() const noexcept { return note_.size; }
  [[nodiscard]] int descriptor() const noexcept { return descriptor_; }
  [[nodiscard]] const MemoryFileNote& note() const noexcept { return note_; }
  /// Whether both are the same memory.
  [[nodiscard]] bool is_same(const MemoryFile& other) const noexcept;
  /// A descriptor for the caller to close; -1 if the process has no more.
  [[nodiscard]] int duplicate() const noexcept;
  /// Reads and writes what is between the memory and the note; returns false if that fails.
  [[nodiscard]] bool read_records(std::size_t offset, std::span<std::byte> bytes) const noexcept;
  [[nodiscard]] bool write_records(std::size_t offset,
                                   std::span<const std::byte> bytes) const noexcept;
  /// Replaces what is mapped at [place, place + size) by the memory's beginning, which can then be
  /// read and written there. Returns false if that fails.
  [[nodiscard]] bool map(std::byte* place, std::size_t size) const noexcept;

 private:
  int descriptor_;
  MemoryFileNote note_;
};

/// Replaces what is mapped there by zeros that take no memory until they are written; if they are
/// not accessible, accesses fault.
void map_nothing(std::byte* place, std::size_t size, bool is_accessible) noexcept;

}  // namespace cudacore::simulator
