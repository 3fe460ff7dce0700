// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/frames.hpp"

#include <cstring>
#include <utility>

#include "simulator/engine/image.hpp"
#include "simulator/memory/round_up.hpp"

namespace cudacore::simulator {
namespace {

constexpr std::size_t header = round_up(sizeof(Frame), std::size_t{64});
constexpr std::size_t kept_after_trim = std::size_t{256} << 10;

}  // namespace

AlignedBytes aligned_bytes(std::size_t size) {
  return AlignedBytes(static_cast<std::byte*>(::operator new[](size, std::align_val_t{64})));
}

FrameArena::Pool& FrameArena::pool_of(const Function& function) {
  for (Pool& pool : pools_) {
    if (pool.function == &function) return pool;
  }
  return pools_.emplace_back(Pool{&function, nullptr});
}

Frame* FrameArena::make(const Function& function) {
  const std::size_t size = header + function.frame_bytes;
  if (bytes_ + size > limit) return nullptr;
  std::byte* const bytes = owned_.emplace_back(aligned_bytes(size)).get();
  bytes_ += size;
  Frame* const frame = ::new (bytes) Frame;
  frame->function = &function;
  frame->rows = bytes + header;
  const std::uint32_t ones = all_lanes;
  std::memcpy(frame->rows + true_mask, &ones, sizeof ones);
  if (!function.constants.empty()) {
    std::memcpy(frame->rows + function.constants_begin, function.constants.data(),
                function.constants.size());
  }
  return frame;
}

Frame* FrameArena::take(const Function& function) noexcept {
  try {
    Pool& pool = pool_of(function);
    Frame* frame = pool.free;
    if (frame != nullptr) {
      pool.free = frame->caller;
    } else {
      frame = make(function);
      if (frame == nullptr) return nullptr;
    }
    std::memset(frame->rows + carry_mask, 0, sizeof(std::uint32_t));
    return frame;
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void FrameArena::give_back(Frame* frame) noexcept {
  for (Pool& pool : pools_) {
    if (pool.function != frame->function) continue;
    frame->caller = std::exchange(pool.free, frame);
    return;
  }
}

void FrameArena::trim() noexcept {
  if (bytes_ <= kept_after_trim) return;
  pools_.clear();
  owned_.clear();
  bytes_ = 0;
}

}  // namespace cudacore::simulator
