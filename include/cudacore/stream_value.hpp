// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <cudacore/buffer.hpp>
#include <cudacore/stream.hpp>

namespace cudacore {

/// What a word of memory, `w`, must be for a stream to go on (CUstreamWaitValue_flags).
enum class WaitCondition : std::uint8_t {
  greater_or_equal,  ///< w >= value, in cyclic order: the signed difference is not negative
  equal,             ///< w == value
  any_bit,           ///< (w & value) != 0
  nor,               ///< ~(w | value) != 0: some bit is 0 in both
};

/// A word of 4 or 8 bytes that streams write, or wait for, in memory that devices can access.
struct StreamWord {
  Buffer buffer{nullptr};  ///< may be closed, for an address alone
  std::size_t offset = 0;  ///< of the word in the buffer; without one, its address
  std::size_t size = 4;    ///< 4 or 8 bytes

  /// The word at the start of a buffer, or further into it.
  [[nodiscard]] static StreamWord in(Buffer buffer, std::size_t offset = 0, std::size_t size = 4);
  /// The word at an address of other code.
  [[nodiscard]] static StreamWord at(CUdeviceptr address, std::size_t size = 4);
};

/// Writes a word once all work queued so far is done (cuStreamWriteValue32, cuStreamWriteValue64).
/// Whoever sees the value sees all earlier writes of the stream too.
/// @throw std::invalid_argument if the word has another size, is not aligned to it, or the value
/// doesn't fit; std::out_of_range if it lies outside of the buffer; NotSupportedError for words of
/// 8 bytes that the device can't write.
void write_value(const Stream& stream, const StreamWord& word, std::uint64_t value);

/// Makes later work on the stream wait until a word meets the condition (cuStreamWaitValue32,
/// cuStreamWaitValue64). Nothing ends the wait but the word: a kernel, a copy, another stream or
/// the host must write it, and no work that does may be queued behind the wait. With `flush`, what
/// other devices have written through the bus is visible to later work.
/// @throw std::invalid_argument and std::out_of_range as write_value(); NotSupportedError for
/// conditions that the device doesn't know.
void wait_value(const Stream& stream, const StreamWord& word, std::uint64_t value,
                WaitCondition condition = WaitCondition::greater_or_equal, bool flush = false);

}  // namespace cudacore
