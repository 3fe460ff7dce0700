// SPDX-License-Identifier: Apache-2.0
//
// The driver's handles: values that look like pointers, but are looked up and never dereferenced.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace cudacore::simulator {

/// Live objects of one type, by handle. A handle has the form of a pointer and contains the type,
/// the slot and how many times the slot was used before, so that anything a program passes can be
/// distinguished from a live handle without reading memory. Slots are never freed. Any thread may
/// call any function.
template <class Handle, class T>
class HandleTable {
 public:
  /// The tag is 1 to 19, and different for each type.
  explicit constexpr HandleTable(unsigned tag) noexcept : tag_(tag) {}
  HandleTable(const HandleTable&) = delete;
  HandleTable& operator=(const HandleTable&) = delete;

  /// @throws std::bad_alloc
  Handle insert(std::shared_ptr<T> object) {
    const std::uint32_t index = take_slot();
    Slot& slot = *find_slot(index);
    const Lock lock(slot);
    slot.object = std::move(object);
    slot.live = true;
    return reinterpret_cast<Handle>(encode(index, slot.generation));
  }

  /// The live object; null for anything else.
  [[nodiscard]] std::shared_ptr<T> find(Handle handle) const noexcept {
    const auto value = reinterpret_cast<std::uintptr_t>(handle);
    Slot* slot = slot_of(value);
    if (slot == nullptr) return nullptr;
    const Lock lock(*slot);
    return slot->live && slot->generation == generation_of(value) ? slot->object : nullptr;
  }

  /// Invalidates the handle and returns the object; null if it was not live.
  std::shared_ptr<T> erase(Handle handle) {
    const auto value = reinterpret_cast<std::uintptr_t>(handle);
    Slot* slot = slot_of(value);
    if (slot == nullptr) return nullptr;
    std::shared_ptr<T> object;
    {
      const Lock lock(*slot);
      if (!slot->live || slot->generation != generation_of(value)) return nullptr;
      object = std::move(slot->object);
      slot->object = nullptr;
      slot->live = false;
      slot->generation = (slot->generation + 1) & generation_mask;
    }
    const std::scoped_lock lock(mutex_);
    free_.push_back(index_of(value));
    return object;
  }

  /// Whether the handle was ever handed out; find() says whether it is live.
  [[nodiscard]] bool is_known(Handle handle) const noexcept {
    const auto value = reinterpret_cast<std::uintptr_t>(handle);
    Slot* slot = slot_of(value);
    if (slot == nullptr) return false;
    const Lock lock(*slot);
    return generation_of(value) < slot->generation || slot->live;
  }

 private:
  static constexpr unsigned index_shift = 4;
  static constexpr unsigned index_bits = 22;
  static constexpr unsigned generation_shift = index_shift + index_bits;
  static constexpr unsigned generation_bits = 16;
  static constexpr unsigned tag_shift = generation_shift + generation_bits;
  static constexpr std::uint32_t generation_mask = (1U << generation_bits) - 1;
  static constexpr std::uint32_t chunk_slots = 1024;
  /// A slot is not reused until this many others are free, so that an old handle stays invalid for
  /// long.
  static constexpr std::size_t resting_slots = 256;

  struct Slot {
    std::atomic_flag busy;
    bool live = false;
    std::uint32_t generation = 0;
    std::shared_ptr<T> object;
  };
  struct Chunk {
    std::array<Slot, chunk_slots> slots;
  };

  class Lock {
   public:
    explicit Lock(Slot& slot) noexcept : slot_(slot) {
      while (slot_.busy.test_and_set(std::memory_order_acquire)) {
        while (slot_.busy.test(std::memory_order_relaxed)) {
        }
      }
    }
    ~Lock() { slot_.busy.clear(std::memory_order_release); }
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    Slot& slot_;
  };

  [[nodiscard]] std::uintptr_t encode(std::uint32_t index,
                                      std::uint32_t generation) const noexcept {
    return std::uintptr_t{tag_} << tag_shift | std::uintptr_t{generation} << generation_shift |
           std::uintptr_t{index} << index_shift;
  }
  static std::uint32_t index_of(std::uintptr_t value) noexcept {
    return static_cast<std::uint32_t>(value >> index_shift) & ((1U << index_bits) - 1);
  }
  static std::uint32_t generation_of(std::uintptr_t value) noexcept {
    return static_cast<std::uint32_t>(value >> generation_shift) & generation_mask;
  }
  [[nodiscard]] Slot* find_slot(std::uint32_t index) const noexcept {
    Chunk* chunk = chunks_[index / chunk_slots].load(std::memory_order_acquire);
    return chunk != nullptr ? &chunk->slots[index % chunk_slots] : nullptr;
  }
  [[nodiscard]] Slot* slot_of(std::uintptr_t value) const noexcept {
    const bool well_formed = value >> tag_shift == tag_ && (value & ((1U << index_shift) - 1)) == 0;
    return well_formed ? find_slot(index_of(value)) : nullptr;
  }

  std::uint32_t take_slot() {
    const std::scoped_lock lock(mutex_);
    if (free_.size() > resting_slots) {
      const std::uint32_t index = free_.front();
      free_.pop_front();
      return index;
    }
    if (slots_ >> index_bits != 0) throw std::bad_alloc();
    if (slots_ % chunk_slots == 0) {
      chunks_[slots_ / chunk_slots].store(std::make_unique<Chunk>().release(),
                                          std::memory_order_release);
    }
    return slots_++;
  }

  unsigned tag_;
  std::mutex mutex_;
  std::uint32_t slots_ = 0;
  std::deque<std::uint32_t> free_;
  std::array<std::atomic<Chunk*>, (1U << index_bits) / chunk_slots> chunks_{};
};

}  // namespace cudacore::simulator
