// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <cudacore/buffer.hpp>
#include <cudacore/memory_location.hpp>

namespace cudacore {

/// A range of managed memory, with advice to the driver on where its pages should be.
///
/// Advice is the driver's: nothing of it is kept here. Everything throws std::invalid_argument for
/// a buffer that is closed or empty, or whose memory is not managed, and NotSupportedError for what
/// the driver lacks.
class ManagedBuffer : public Buffer {
 public:
  explicit ManagedBuffer(Buffer buffer) noexcept : Buffer(std::move(buffer)) {}

  /// Whether the pages are mostly read, so that devices get copies of them (cuMemAdvise,
  /// cuMemRangeGetAttributes).
  [[nodiscard]] bool read_mostly() const;
  void set_read_mostly(bool on) const;

  /// Where the pages should stay; unset for nowhere, or if they differ.
  [[nodiscard]] std::optional<MemoryLocation> preferred_location() const;
  void set_preferred_location(const std::optional<MemoryLocation>& location) const;

  /// For which devices, and whether for the host, the pages stay mapped wherever they are.
  [[nodiscard]] std::vector<MemoryLocation> accessed_by() const;
  /// Adds a device, or the host, or removes it. The host takes no NUMA node here.
  void set_accessed_by(const MemoryLocation& location, bool on) const;

  /// Where the last prefetch was to; unset if there was none, or if it differs between the pages.
  [[nodiscard]] std::optional<MemoryLocation> last_prefetch_location() const;

  /// Moves the pages, in the order of the stream (cuMemPrefetchAsync).
  void prefetch(const MemoryLocation& location, const Stream& stream) const;
  /// Drops the contents, so that later moves need not copy them (cuMemDiscardBatchAsync). Reading
  /// the memory before it is written, or prefetched, gives no particular values. The stream is not
  /// the legacy default stream.
  void discard(const Stream& stream) const;
  /// Drops the contents and moves the pages (cuMemDiscardAndPrefetchBatchAsync).
  void discard_prefetch(const MemoryLocation& location, const Stream& stream) const;
};

// Batches, each one call of the driver (13.0), on another stream than the legacy default stream.
// There is one location for all buffers, or one for each. No graph can have them: on a stream that
// is being captured, they throw std::invalid_argument.

/// Prefetches several buffers (cuMemPrefetchBatchAsync).
void prefetch_batch(std::span<const ManagedBuffer> buffers,
                    std::span<const MemoryLocation> locations, const Stream& stream);
/// Discards several buffers (cuMemDiscardBatchAsync).
void discard_batch(std::span<const ManagedBuffer> buffers, const Stream& stream);
/// Discards and prefetches several buffers (cuMemDiscardAndPrefetchBatchAsync).
void discard_prefetch_batch(std::span<const ManagedBuffer> buffers,
                            std::span<const MemoryLocation> locations, const Stream& stream);

}  // namespace cudacore
