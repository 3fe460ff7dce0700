// SPDX-License-Identifier: Apache-2.0
//
// From the handle in a register to the texture or surface object, checked.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <memory>
#include <string>

#include "simulator/engine/grid.hpp"
#include "simulator/engine/texture.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: shared by files of forms

/// Reports a lane's use of an object that it may not use.
inline void refuse_object(Warp& warp, const Instruction& in, unsigned lane,
                          const char* detail) noexcept {
  warp.fault(in, FaultKind::illegal_address, lane, detail);
}

/// Reports a value that is not a handle: "uses 0x2a, which is not a live texture object"
inline void refuse_handle(Warp& warp, const Instruction& in, unsigned lane, std::uint64_t handle,
                          const char* kind) noexcept {
  std::array<char, 80> text{};
  constexpr std::size_t digits = 16;
  char* at = std::ranges::copy(std::string_view("uses 0x"), text.data()).out;
  at = std::to_chars(at, at + digits, handle, 16).ptr;
  at = std::ranges::copy(std::string_view(", which is not a live "), at).out;
  at = std::ranges::copy(std::string_view(kind), at).out;
  warp.fault(in, FaultKind::illegal_address, lane,
             {text.data(), static_cast<std::size_t>(at - text.data())});
}

inline bool is_destroyed(const Array& array) noexcept {
  return array.destroyed.load(std::memory_order_acquire);
}

/// Finds the objects of a warp's lanes: usually, all have the same handle.
template <class Object>
class HandleLookup {
 public:
  HandleLookup(Warp& warp, const Instruction& in, unsigned operand) noexcept
      : warp_(warp), in_(in), handles_(warp.row<std::uint64_t>(in.op[operand])) {}

  /// Null after a fault.
  const Object* find(unsigned lane) noexcept {
    const std::uint64_t handle = handles_[lane] + in_.imm;
    if (object_ != nullptr && handle == handle_) return object_.get();
    handle_ = handle;
    object_ = find_live(handle, lane);
    return object_.get();
  }

 private:
  std::shared_ptr<const Object> find_live(std::uint64_t handle, unsigned lane) noexcept;
  [[nodiscard]] bool is_of_device(int device) const noexcept {
    return device == warp_.block->grid->request().device;
  }

  Warp& warp_;
  const Instruction& in_;
  const std::uint64_t* handles_;
  std::uint64_t handle_ = 0;
  std::shared_ptr<const Object> object_;
};

template <>
inline std::shared_ptr<const Texture> HandleLookup<Texture>::find_live(std::uint64_t handle,
                                                                       unsigned lane) noexcept {
  auto texture = textures().find(handle);
  if (texture == nullptr) {
    refuse_handle(warp_, in_, lane, handle, "texture object");
    return nullptr;
  }
  if (!is_of_device(texture->device)) {
    refuse_object(warp_, in_, lane, "uses a texture object of another device");
    return nullptr;
  }
  if (!texture->levels.empty() && is_destroyed(*texture->levels.front())) {
    refuse_object(warp_, in_, lane, "uses a texture of an array that was destroyed");
    return nullptr;
  }
  return texture;
}

template <>
inline std::shared_ptr<const Surface> HandleLookup<Surface>::find_live(std::uint64_t handle,
                                                                       unsigned lane) noexcept {
  auto surface = surfaces().find(handle);
  if (surface == nullptr) {
    refuse_handle(warp_, in_, lane, handle, "surface object");
    return nullptr;
  }
  if (!is_of_device(surface->array->device)) {
    refuse_object(warp_, in_, lane, "uses a surface object of another device");
    return nullptr;
  }
  if (is_destroyed(*surface->array)) {
    refuse_object(warp_, in_, lane, "uses a surface of an array that was destroyed");
    return nullptr;
  }
  return surface;
}

/// Calls use(lane) for each enabled lane, until it returns false.
template <class Use>
void for_each_enabled(const Warp& warp, const Instruction& in, Use use) {
  const std::uint32_t lanes = warp.enabled(in);
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    if ((lanes >> lane & 1) != 0 && !use(lane)) return;
  }
}

/// A lane's element of a vector operand.
template <class T>
T element_of(const Warp& warp, const Instruction& in, unsigned operand, unsigned index,
             unsigned lane) noexcept {
  return warp.row<T>(in.list[in.op[operand] + index])[lane];
}

}  // namespace
}  // namespace cudacore::simulator
