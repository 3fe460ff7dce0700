// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include "cudacore/event.hpp"
#include "cudacore/stream.hpp"
#include "owner/owned_handles.hpp"
#include "runtime/free_blocks.hpp"

namespace cudacore {

/// What identifies a stream for the life of the process, whoever else has it and whatever takes its
/// handle later. 0 for the per-thread default stream, which is a different one in each thread.
/// @throw Error if the driver doesn't know the stream.
[[nodiscard]] std::uint64_t stream_key(const owner::StreamBox& stream);

/// How to wait for the work that may still use free blocks: for what a stream has queued, or for an
/// event. Neither is known if the stream has ended unnoticed; then only its context can be waited
/// for.
struct Order {
  std::shared_ptr<owner::StreamBox> stream;
  std::optional<Event> event;

  [[nodiscard]] bool is_known() const noexcept { return stream != nullptr || event.has_value(); }
  /// Whether the stream is being captured: nothing outside the capture may wait for it, or ask.
  [[nodiscard]] bool is_captured() const;
  /// Whether all the work is done. @pre is_known()
  [[nodiscard]] bool is_done() const;
  /// An event behind the work. @pre is_known()
  [[nodiscard]] Event mark() const;
};

/// The free blocks of a stream: later work on it may use them at once, work on other streams after
/// a wait. Or, without a stream and without an event, those that no work uses any more.
struct BlockList {
  std::uint64_t key = 0;
  CUstream stream = nullptr;                   ///< only to be shown: it may have ended
  std::shared_ptr<error::ContextBox> context;  ///< null for blocks that no work uses
  /// A stream that ends: its end moves the blocks behind an event.
  std::weak_ptr<owner::StreamBox> ending;
  /// A default stream, which lasts as long as its context, or the stream of is_behind_capture().
  std::shared_ptr<owner::StreamBox> lasting;
  /// A stream that others may destroy at any time, or that has ended: recorded after each free, or
  /// at its end.
  std::optional<Event> event;
  bool has_ended = false;
  std::array<FreeBlocks, size_classes> free;
  std::size_t blocks = 0;
  std::uint64_t inserts = 0;  ///< how many blocks were inserted here
  unsigned moving = 0;        ///< blocks that may come back: the list must stay

  /// Whether a free needs no event, because one can be recorded when another stream needs it.
  [[nodiscard]] bool records_late() const noexcept {
    return lasting != nullptr || (!has_ended && !ending.expired());
  }
  /// Whether the stream was being captured when the blocks were put here. It has no key then, and
  /// stays until they are moved.
  [[nodiscard]] bool is_behind_capture() const noexcept { return key == 0 && lasting != nullptr; }
  [[nodiscard]] Order order() const {
    return {lasting != nullptr ? lasting : ending.lock(), event};
  }
  [[nodiscard]] Block* find(BlockSize wanted) const noexcept {
    return free[static_cast<std::size_t>(wanted.kind)].find(wanted);
  }
  /// Adds a block, coalesced with its free neighbors of this list, and returns what it became part
  /// of. `merged` gets the nodes that are not needed any more.
  Block& insert(Block& block, Block*& merged) noexcept;
  void remove(Block& block) noexcept;
  [[nodiscard]] Block* any() const noexcept;
};

}  // namespace cudacore
