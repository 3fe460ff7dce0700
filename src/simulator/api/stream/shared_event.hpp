// SPDX-License-Identifier: Apache-2.0
//
// What processes share of an event: how often it was recorded, and how many of these records have
// been reached.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "simulator/api/memory/memory_object.hpp"
#include "simulator/api/stream/command_queue.hpp"
#include "simulator/memory/memory_file.hpp"

namespace cudacore::simulator {

/// What one process tells another of an event (CUipcEventHandle). It is not trusted. The file is
/// found by the process that has it open: nothing is left behind, and events of a process that has
/// ended can't be opened any more.
struct EventNote {
  std::uint64_t magic = 0;
  std::uint64_t id = 0;  ///< of the file
  std::int32_t process = 0;
  std::int32_t descriptor = -1;
  std::array<std::uint64_t, 5> unused{};
};

/// Any thread may call any function.
class SharedEvent {
 public:
  /// Null if the host cannot provide it.
  static std::shared_ptr<SharedEvent> create(const Device& device);
  /// The event of another process, or of this one; null if there is none.
  static std::shared_ptr<SharedEvent> open(const EventNote& note);
  SharedEvent(std::shared_ptr<const MemoryFile> file, std::shared_ptr<const HostPages> page,
              EventNote note) noexcept;

  [[nodiscard]] const EventNote& note() const noexcept { return note_; }
  /// The device's number before CUDA_VISIBLE_DEVICES is applied.
  [[nodiscard]] int physical_device() const noexcept { return file_->note().device; }

  /// Starts a record, and returns its number.
  [[nodiscard]] std::uint64_t begin_record() noexcept;
  void end_record(std::uint64_t number) noexcept;
  /// The number of the newest record; 0 if there is none.
  [[nodiscard]] std::uint64_t newest() const noexcept;
  /// Whether a record has been reached. It also has if the process that recorded last has ended.
  [[nodiscard]] bool has_reached(std::uint64_t number) const noexcept;
  /// Blocks until it has.
  void wait(std::uint64_t number) const noexcept;

 private:
  struct State {
    std::atomic<std::uint64_t> begun{0};
    std::atomic<std::uint64_t> reached{0};
    std::atomic<std::int32_t> recorder{0};
  };
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

  std::shared_ptr<const MemoryFile> file_;
  std::shared_ptr<const HostPages> page_;
  State* state_;
  EventNote note_;
};

/// Ends a record when it is its turn, or when it is dropped.
std::unique_ptr<Work> make_shared_mark(std::shared_ptr<SharedEvent> event, std::uint64_t number);
/// Waits for a record.
std::unique_ptr<Work> make_shared_wait(std::shared_ptr<const SharedEvent> event,
                                       std::uint64_t number);

}  // namespace cudacore::simulator
