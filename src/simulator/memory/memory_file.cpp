// SPDX-License-Identifier: Apache-2.0
#include "simulator/memory/memory_file.hpp"

#include <algorithm>
#include <string_view>
#include <type_traits>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace cudacore::simulator {
namespace {

constexpr std::string_view magic = "cudacore share2";  // with its null byte, 16 bytes
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
static_assert(std::is_trivially_copyable_v<MemoryFileNote>);

bool has_magic(const MemoryFileNote& note) noexcept {
  return std::equal(magic.begin(), magic.end(), note.magic.begin()) && note.magic.back() == '\0';
}

/// Writes the note behind the memory, and fixes the size.
bool prepare(int descriptor, const MemoryFileNote& note) noexcept {
  const auto place = static_cast<off_t>(note.size + note.records);
  return ftruncate(descriptor, place + static_cast<off_t>(sizeof note)) == 0 &&
         pwrite(descriptor, &note, sizeof note, place) == sizeof note &&
         fcntl(descriptor, F_ADD_SEALS, seals) == 0;
}

/// Reads the note of a file whose size cannot change any more.
bool read_note(int descriptor, MemoryFileNote& note) noexcept {
  struct stat status {};
  if (fcntl(descriptor, F_GET_SEALS) != seals || fstat(descriptor, &status) != 0) return false;
  const auto place = status.st_size - static_cast<off_t>(sizeof note);
  return place > 0 && pread(descriptor, &note, sizeof note, place) == sizeof note &&
         has_magic(note) && note.size <= static_cast<std::uint64_t>(place) &&
         note.records == static_cast<std::uint64_t>(place) - note.size;
}

}  // namespace

std::shared_ptr<const MemoryFile> MemoryFile::create(std::size_t size, MemoryFileNote note) {
  if (size > (std::size_t{1} << 46U)) return nullptr;
  std::copy(magic.begin(), magic.end(), note.magic.begin());
  note.size = size;
  if (getrandom(&note.id, sizeof note.id, 0) != sizeof note.id) return nullptr;
  auto file = std::make_shared<MemoryFile>(-1, note);
  file->descriptor_ = memfd_create("cudacore memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  return file->descriptor_ >= 0 && prepare(file->descriptor_, note) ? file : nullptr;
}

std::shared_ptr<const MemoryFile> MemoryFile::open(int descriptor) {
  MemoryFileNote note;
  if (descriptor < 0 || !read_note(descriptor, note)) return nullptr;
  auto file = std::make_shared<MemoryFile>(-1, note);
  file->descriptor_ = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  return file->descriptor_ >= 0 ? file : nullptr;
}

MemoryFile::~MemoryFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool MemoryFile::is_same(const MemoryFile& other) const noexcept {
  struct stat mine {};
  struct stat theirs {};
  return fstat(descriptor_, &mine) == 0 && fstat(other.descriptor_, &theirs) == 0 &&
         mine.st_dev == theirs.st_dev && mine.st_ino == theirs.st_ino;
}

int MemoryFile::duplicate() const noexcept { return fcntl(descriptor_, F_DUPFD_CLOEXEC, 3); }

bool MemoryFile::read_records(std::size_t offset, std::span<std::byte> bytes) const noexcept {
  if (offset > note_.records || bytes.size() > note_.records - offset) return false;
  const auto place = static_cast<off_t>(note_.size + offset);
  return pread(descriptor_, bytes.data(), bytes.size(), place) ==
         static_cast<ssize_t>(bytes.size());
}

bool MemoryFile::write_records(std::size_t offset,
                               std::span<const std::byte> bytes) const noexcept {
  if (offset > note_.records || bytes.size() > note_.records - offset) return false;
  const auto place = static_cast<off_t>(note_.size + offset);
  return pwrite(descriptor_, bytes.data(), bytes.size(), place) ==
         static_cast<ssize_t>(bytes.size());
}

bool MemoryFile::map(std::byte* place, std::size_t size) const noexcept {
  return mmap(place, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, descriptor_, 0) !=
         MAP_FAILED;
}

void map_nothing(std::byte* place, std::size_t size, bool is_accessible) noexcept {
  const int protection = is_accessible ? PROT_READ | PROT_WRITE : PROT_NONE;
  static_cast<void>(mmap(place, size, protection,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0));
}

}  // namespace cudacore::simulator
