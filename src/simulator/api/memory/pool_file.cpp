// SPDX-License-Identifier: Apache-2.0
#include "simulator/api/memory/pool_file.hpp"

#include <algorithm>
#include <deque>
#include <iterator>
#include <span>
#include <utility>

#include <fcntl.h>
#include <sys/mman.h>

#include "simulator/api/entry.hpp"
#include "simulator/memory/round_up.hpp"

namespace cudacore::simulator {
namespace {

/// What a note's kind says of a file.
constexpr std::int32_t pool_kind = 2;
constexpr std::uint64_t piece_magic = 0x3165'6365'6950'6363;  // "ccPiece1"
constexpr std::size_t piece_granule = 512;
constexpr std::size_t file_granule = std::size_t{2} << 20U;
/// How many pieces of a pool other processes may know.
constexpr std::uint64_t most_records = std::uint64_t{1} << 16U;
/// Pieces of at least this size return their pages to the host.
constexpr std::size_t least_release = std::size_t{64} << 10U;
constexpr std::size_t ended_most = 64;

std::shared_ptr<const HostPages> reserve_pages(std::size_t size) {
  void* pages = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) return nullptr;
  try {
    return std::make_shared<const HostPages>(static_cast<std::byte*>(pages), size);
  } catch (...) {
    munmap(pages, size);
    throw;
  }
}

/// Keeps addresses that ended lately: an instruction that found its bytes before may still use
/// them.
void keep_a_while(std::shared_ptr<const HostPages> pages) {
  static std::mutex& mutex = *std::make_unique<std::mutex>().release();
  static auto& kept = *std::make_unique<std::deque<std::shared_ptr<const HostPages>>>().release();
  std::shared_ptr<const HostPages> oldest;  // destroyed after the lock is released
  const std::scoped_lock lock(mutex);
  kept.push_back(std::move(pages));
  if (kept.size() <= ended_most) return;
  oldest = std::move(kept.front());
  kept.pop_front();
}

bool is_device_file(const MemoryFileNote& note) noexcept {
  return note.place == CU_MEM_LOCATION_TYPE_DEVICE;
}

}  // namespace

std::shared_ptr<PoolFile> PoolFile::create(std::size_t capacity, MemoryFileNote note) {
  note.kind = pool_kind;
  note.records = most_records * sizeof(PieceNote);
  // Gaps are free, and so is what memory of the host has no pages for.
  if (capacity > (std::size_t{1} << 44U)) return nullptr;
  const std::size_t span = round_up(2 * capacity, file_granule) + file_granule;
  auto file = MemoryFile::create(span, note);
  if (file == nullptr) return nullptr;
  auto pool = std::make_shared<PoolFile>(std::move(file), false);
  return pool->map() ? pool : nullptr;
}

std::shared_ptr<PoolFile> PoolFile::open(int descriptor) {
  auto file = MemoryFile::open(descriptor);
  if (file == nullptr) return nullptr;
  const MemoryFileNote& note = file->note();
  if (note.kind != pool_kind || note.size == 0 || note.size % file_granule != 0 ||
      note.records != most_records * sizeof(PieceNote)) {
    return nullptr;
  }
  auto pool = std::make_shared<PoolFile>(std::move(file), true);
  return pool->map() ? pool : nullptr;
}

PoolFile::~PoolFile() {
  if (bytes_ == nullptr) return;
  map_nothing(bytes_->bytes(), file_->size(), true);
  try {
    keep_a_while(std::move(bytes_));
  } catch (const std::bad_alloc&) {  // the addresses end now
  }
}

bool PoolFile::map() {
  bytes_ = reserve_pages(file_->size());
  if (is_device_file(note())) addresses_ = reserve_pages(file_->size());
  return bytes_ != nullptr && (addresses_ != nullptr || !is_device_file(note())) &&
         file_->map(bytes_->bytes(), file_->size());
}

std::uint64_t PoolFile::address(std::size_t offset) const noexcept {
  const HostPages& pages = addresses_ != nullptr ? *addresses_ : *bytes_;
  return reinterpret_cast<std::uint64_t>(pages.bytes()) + offset;
}

std::optional<std::size_t> PoolFile::take(std::size_t size) {
  if (size == 0 || size > file_->size()) return std::nullopt;
  const std::size_t takes = round_up(size, piece_granule) + piece_granule;
  const std::scoped_lock lock(mutex_);
  std::size_t offset = filled_;  // the first gap that is large enough
  for (auto next = pieces_.lower_bound(filled_); next != pieces_.end(); ++next) {
    if (next->first - offset >= takes) break;
    offset = next->first + next->second.size;
  }
  if (takes > file_->size() - offset) return std::nullopt;
  pieces_.emplace(offset, Piece{takes});
  if (offset == filled_) filled_ += takes;
  return offset;
}

void PoolFile::release(std::size_t offset) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = pieces_.find(offset);
  if (found == pieces_.end()) return;
  const auto& [size, note] = found->second;
  if (!is_imported) {
    if (note && write_record({.record = note->record})) free_records_.push_back(note->record);
    if (size >= least_release) {  // if this fails, we keep the pages, which does no harm
      static_cast<void>(fallocate(file_->descriptor(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                                  static_cast<off_t>(offset), static_cast<off_t>(size)));
    }
  }
  pieces_.erase(found);
  filled_ = std::min(filled_, offset);
}

bool PoolFile::export_piece(std::size_t offset, std::size_t size, PieceNote& note) {
  const std::scoped_lock lock(mutex_);
  const auto found = pieces_.find(offset);
  if (found == pieces_.end()) return false;
  std::optional<PieceNote>& known = found->second.note;
  if (!known) {
    PieceNote made{piece_magic, file_->note().id, 0, next_serial_, offset, size};
    if (!free_records_.empty()) {
      made.record = free_records_.back();
    } else if (next_record_ < most_records) {
      made.record = next_record_;
    } else {
      return false;
    }
    if (free_records_.capacity() <= next_record_) {  // release() must not fail
      free_records_.reserve(2 * (next_record_ + 1));
    }
    if (!write_record(made)) return false;
    ++next_serial_;
    if (made.record == next_record_) {
      ++next_record_;
    } else {
      free_records_.pop_back();
    }
    known = made;
  }
  note = *known;
  return true;
}

CUresult PoolFile::import_piece(const PieceNote& note) {
  if (note.magic != piece_magic || note.pool != file_->note().id || note.record >= most_records ||
      note.serial == 0 || note.size == 0 || note.offset % piece_granule != 0 ||
      note.offset > file_->size() || note.size > file_->size() - note.offset) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the data is not that of a pointer of this pool");
  }
  PieceNote record;
  if (!file_->read_records(note.record * sizeof record,
                           std::as_writable_bytes(std::span(&record, 1))) ||
      record != note) {
    return refuse(CUDA_ERROR_INVALID_VALUE,
                  "the pointer has been freed by the process that exported it");
  }
  const std::scoped_lock lock(mutex_);
  const auto after = pieces_.lower_bound(note.offset);
  const bool meets_next = after != pieces_.end() && after->first - note.offset < note.size;
  const bool meets_previous = after != pieces_.begin() &&
                              note.offset - std::prev(after)->first < std::prev(after)->second.size;
  if (meets_next || meets_previous) {
    return refuse(CUDA_ERROR_INVALID_VALUE, "the pointer is imported already");
  }
  pieces_.emplace(note.offset, Piece{static_cast<std::size_t>(note.size), note});
  return CUDA_SUCCESS;
}

bool PoolFile::write_record(const PieceNote& note) const noexcept {
  return file_->write_records(note.record * sizeof note, std::as_bytes(std::span(&note, 1)));
}

}  // namespace cudacore::simulator
