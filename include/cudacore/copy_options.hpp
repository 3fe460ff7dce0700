// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include <cudacore/buffer.hpp>
#include <cudacore/memory_location.hpp>

namespace cudacore {

/// When a copy may read its source (CUmemcpySrcAccessOrder).
enum class MemcpySrcAccessOrder : std::uint8_t {
  stream,           ///< in the order of the stream
  during_api_call,  ///< at once: all reads are done when the call returns
  any,              ///< at any time until the copy is done
};

/// Whether a copy should overlap with kernels (CUmemcpyFlags).
enum class MemcpyOverlapMode : std::uint8_t { default_, prefer_overlap_with_compute };

/// What a copy may assume (CUmemcpyAttributes).
struct CopyOptions {
  MemcpySrcAccessOrder src_access_order = MemcpySrcAccessOrder::stream;
  /// Where the source should be taken to be, if its memory is managed or pageable.
  std::optional<MemoryLocation> src_location_hint{};
  std::optional<MemoryLocation> dst_location_hint{};
  MemcpyOverlapMode overlap_mode = MemcpyOverlapMode::default_;

  friend bool operator==(const CopyOptions&, const CopyOptions&) = default;
};

/// Copies several buffers, in no particular order, by one call of the driver (cuMemcpyBatchAsync,
/// 13.0). No source may overlap a destination. `options` are none, one for all copies, or one for
/// each. No graph can have such copies, and the legacy default stream takes none.
/// @throw std::invalid_argument if the numbers or the sizes differ, if a buffer is closed, or for
/// such a stream; NotSupportedError if the driver is older.
void copy_batch(std::span<const Buffer> destinations, std::span<const Buffer> sources,
                std::span<const CopyOptions> options, const Stream& stream);

}  // namespace cudacore
