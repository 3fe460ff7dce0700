// SPDX-License-Identifier: Apache-2.0
//
// The memory of a pool that processes share: one file, whose pieces are allocated by the process
// that made it. The others map all of it, and are told of single pieces.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "simulator/api/memory/memory_object.hpp"
#include "simulator/memory/memory_file.hpp"

namespace cudacore::simulator {

/// What one process tells another of a piece (CUmemPoolPtrExportData). It is not trusted.
struct PieceNote {
  std::uint64_t magic = 0;
  std::uint64_t pool = 0;    ///< the id of the pool's file
  std::uint64_t record = 0;  ///< where the file says the same of the piece
  std::uint64_t serial = 0;  ///< never used again
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::array<std::uint64_t, 2> unused{};

  bool operator==(const PieceNote&) const = default;
};

/// Mapped twice if it is memory of a device, like DeviceMemory. Any thread may call any function.
class PoolFile {
 public:
  /// The memory of a new pool, of which at most `capacity` bytes are used at a time. Null if the
  /// host cannot provide it.
  static std::shared_ptr<PoolFile> create(std::size_t capacity, MemoryFileNote note);
  /// The memory behind a descriptor, which stays the caller's; null if it is not one of a pool.
  static std::shared_ptr<PoolFile> open(int descriptor);
  PoolFile(std::shared_ptr<const MemoryFile> file, bool is_of_another)
      : is_imported(is_of_another), file_(std::move(file)) {}
  ~PoolFile();
  PoolFile(const PoolFile&) = delete;
  PoolFile& operator=(const PoolFile&) = delete;

  const bool is_imported;

  /// The offset of a new piece; nothing if there is no room.
  [[nodiscard]] std::optional<std::size_t> take(std::size_t size);
  /// Ends a piece of take() or import_piece().
  void release(std::size_t offset) noexcept;
  /// Lets other processes import a piece of take(); returns false if they know too many already.
  [[nodiscard]] bool export_piece(std::size_t offset, std::size_t size, PieceNote& note);
  /// Checks what another process says of a piece. Refuses one that it has freed, one that is
  /// imported already, and everything else that cannot be.
  [[nodiscard]] CUresult import_piece(const PieceNote& note);

  [[nodiscard]] const MemoryFileNote& note() const noexcept { return file_->note(); }
  /// A descriptor for the caller to close; -1 if the process has no more.
  [[nodiscard]] int duplicate() const noexcept { return file_->duplicate(); }
  /// Where a piece is for devices, and for the engine.
  [[nodiscard]] std::uint64_t address(std::size_t offset) const noexcept;
  [[nodiscard]] std::byte* bytes(std::size_t offset) const noexcept {
    return bytes_->bytes() + offset;
  }
  [[nodiscard]] const std::shared_ptr<const HostPages>& pages() const noexcept { return bytes_; }

 private:
  struct Piece {
    std::size_t size = 0;  ///< with the gap behind it
    std::optional<PieceNote> note{};
  };

  [[nodiscard]] bool map();
  [[nodiscard]] bool write_record(const PieceNote& note) const noexcept;

  const std::shared_ptr<const MemoryFile> file_;
  std::shared_ptr<const HostPages> addresses_;  ///< null for memory of the host
  std::shared_ptr<const HostPages> bytes_;
  std::mutex mutex_;  ///< guards everything below
  std::map<std::size_t, Piece> pieces_;
  std::size_t filled_ = 0;  ///< there are no gaps below it
  std::vector<std::uint64_t> free_records_;
  std::uint64_t next_record_ = 0;
  std::uint64_t next_serial_ = 1;
};

/// The file of a pool that other processes may share; logs why there can be none.
CUresult make_pool_file(const CUmemPoolProps& properties, const Device* device,
                        std::shared_ptr<PoolFile>& file);

}  // namespace cudacore::simulator
