// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <cudacore/memory_resource.hpp>

namespace cudacore {

class CachingPool;

/// What a caching pool has done, and what it has. Bytes are those that were asked for, before they
/// are rounded up, where nothing else is said.
struct CachingStatistics {
  std::uint64_t current_bytes = 0;  ///< in buffers
  std::uint64_t current_count = 0;  ///< buffers
  std::uint64_t peak_bytes = 0;     ///< the most that current_bytes was
  std::uint64_t peak_count = 0;
  std::uint64_t total_bytes = 0;  ///< in all buffers so far
  std::uint64_t total_count = 0;
  std::uint64_t used_bytes = 0;           ///< in blocks that buffers have, rounded up
  std::uint64_t free_bytes = 0;           ///< in free blocks
  std::uint64_t reserved_bytes = 0;       ///< taken from the upstream: used and free
  std::uint64_t peak_reserved_bytes = 0;  ///< the most that reserved_bytes was
  std::uint64_t num_free_blocks = 0;
  std::uint64_t num_segments = 0;
  std::uint64_t num_device_alloc = 0;   ///< segments taken from the upstream
  std::uint64_t num_device_free = 0;    ///< segments given back to it
  std::uint64_t num_stream_waits = 0;   ///< times that a stream waited for the memory of another
  std::uint64_t num_alloc_retries = 0;  ///< times that the cache was given back to find memory
  std::uint64_t num_ooms = 0;           ///< OutOfMemoryErrors
};

/// A part of a segment.
struct CachedBlock {
  CUdeviceptr address = 0;
  std::size_t size = 0;
  std::size_t requested_size = 0;  ///< 0 if it is free
  bool is_used = false;
  /// The stream that it was allocated on, or, if it is free, whose work may still use it; null if
  /// none does, or if the stream has ended.
  CUstream stream = nullptr;
};

/// Memory from the upstream, with its blocks by address.
struct CachedSegment {
  CUdeviceptr address = 0;
  std::size_t total_size = 0;
  std::string segment_type;  ///< "small", "medium" or "large": the requests that it serves
  std::vector<CachedBlock> blocks;
};

/// A pool that keeps what is freed for what is allocated next, above any other resource.
///
/// Memory is taken from the upstream in segments, and cut. What a stream frees, later work on that
/// stream may use at once, so that an allocation that finds a free block calls no driver and waits
/// for nothing. Other streams get the block once the work that may use it is done; if there is
/// nothing else left, they wait for that work, on the device.
///
/// Every buffer keeps the pool alive. Any thread may use it.
class CachingMemoryResource final : public MemoryResource {
 public:
  /// @param upstream what segments are taken from
  /// @param max_size the most to take from it, in bytes; 0 for no limit
  /// @throw std::invalid_argument if there is no upstream
  explicit CachingMemoryResource(std::shared_ptr<MemoryResource> upstream,
                                 std::size_t max_size = 0);
  ~CachingMemoryResource() override;

  /// Memory aligned to 512 bytes, as far as the upstream's is.
  /// @throw OutOfMemoryError with the statistics, once everything that is cached has been given
  /// back to the upstream, and that did not help; NotSupportedError if the stream is being captured
  /// into a graph; std::invalid_argument after close()
  [[nodiscard]] Buffer allocate(std::size_t size, const std::optional<Stream>& stream) override;
  [[nodiscard]] std::optional<Buffer> try_allocate(std::size_t size, const Stream& stream) override;
  /// Frees a buffer's memory before the buffer does, which then has nothing left to release.
  /// @throw std::invalid_argument if no buffer has it
  void deallocate(CUdeviceptr pointer, std::size_t size,
                  const std::optional<Stream>& stream) override;

  /// Gives memory that is not in use back to the upstream, until at most `min_bytes_to_keep` are
  /// reserved. Waits for the work that may still use it; the interrupt hook can end the wait.
  void trim(std::size_t min_bytes_to_keep = 0);
  /// Ends allocation. Free memory returns to the upstream now, that of buffers when they are freed.
  void close();
  [[nodiscard]] bool is_closed() const noexcept;

  [[nodiscard]] const std::shared_ptr<MemoryResource>& upstream() const noexcept {
    return upstream_;
  }
  /// 0 for no limit.
  [[nodiscard]] std::size_t max_size() const noexcept;
  [[nodiscard]] CachingStatistics statistics() const;
  /// Makes the peaks what there is now.
  void reset_peaks();
  /// Every segment, by address.
  [[nodiscard]] std::vector<CachedSegment> snapshot() const;

  /// What the upstream says when the pool is made, as all that follow.
  [[nodiscard]] bool is_device_accessible() const override { return is_device_accessible_; }
  [[nodiscard]] bool is_host_accessible() const override { return is_host_accessible_; }
  [[nodiscard]] bool is_managed() const override { return is_managed_; }
  [[nodiscard]] int device_id() const override { return device_id_; }
  /// What the upstream says at each call.
  [[nodiscard]] bool is_accessible_by_peer(CUdeviceptr pointer, int device) const override {
    return upstream_->is_accessible_by_peer(pointer, device);
  }
  [[nodiscard]] bool ends_with_reset() const noexcept override;

 private:
  struct Calls;

  std::shared_ptr<MemoryResource> upstream_;
  std::shared_ptr<CachingPool> pool_;
  bool is_device_accessible_ = false;
  bool is_host_accessible_ = false;
  bool is_managed_ = false;
  int device_id_ = -1;
};

}  // namespace cudacore
