// SPDX-License-Identifier: Apache-2.0
//
// The frames of one warp's calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <vector>

#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {

/// Uninitialized bytes at a multiple of 64.
struct FreeAligned {
  void operator()(std::byte* bytes) const noexcept {
    ::operator delete[](bytes, std::align_val_t{64});
  }
};
using AlignedBytes = std::unique_ptr<std::byte[], FreeAligned>;
/// @throws std::bad_alloc
[[nodiscard]] AlignedBytes aligned_bytes(std::size_t size);

/// Hands out frames. Keeps returned frames by function, because their constants are still in place.
class FrameArena {
 public:
  /// How much host memory the frames of a warp may take.
  static constexpr std::size_t limit = std::size_t{64} << 20;

  /// Returns a frame with its constants and its mask of ones; rows and masks are undefined, and
  /// CC.CF is clear. Returns nullptr if the limit or the host's memory would be exceeded.
  [[nodiscard]] Frame* take(const Function& function) noexcept;
  void give_back(Frame* frame) noexcept;
  /// Frees all but a few frames; no frame may be in use.
  void trim() noexcept;
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Pool {
    const Function* function;
    Frame* free;  ///< linked by Frame::caller
  };
  [[nodiscard]] Frame* make(const Function& function);
  [[nodiscard]] Pool& pool_of(const Function& function);

  std::vector<Pool> pools_;
  std::vector<AlignedBytes> owned_;
  std::size_t bytes_ = 0;
};

}  // namespace cudacore::simulator
