// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <vector>

#include "simulator/engine/schedule.hpp"
#include "simulator/memory/address_space.hpp"

namespace cudacore::simulator {
namespace {

/// Workspaces of all cooperative grids. Their memory stays registered, because erasing an
/// allocation makes every worker look up its ranges again.
class Workspaces {
 public:
  static Workspaces& instance() {
    static Workspaces* const workspaces = std::make_unique<Workspaces>().release();
    return *workspaces;
  }

  std::uint64_t take() {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) grow();
    const std::uint64_t address = free_.back();
    free_.pop_back();
    std::memset(reinterpret_cast<void*>(address), 0, slot);
    return address;
  }

  void release(std::uint64_t address) noexcept {
    const std::scoped_lock lock(mutex_);
    free_.push_back(address);  // Never exceeds the capacity that grow() reserved.
  }

 private:
  static constexpr std::size_t slot = 64;
  static constexpr std::size_t slots = 64;
  struct alignas(slot) Slab {
    std::array<std::byte, slot * slots> bytes;
  };

  void grow() {
    slabs_.push_back(std::make_unique<Slab>());
    free_.reserve(slabs_.size() * slots);
    const auto address = reinterpret_cast<std::uint64_t>(slabs_.back()->bytes.data());
    AddressSpace::instance().insert(Allocation{.address = address,
                                               .size = sizeof(Slab),
                                               .host = slabs_.back()->bytes.data(),
                                               .kind = MemoryKind::pinned});
    for (std::size_t i = 0; i < slots; ++i) free_.push_back(address + i * slot);
  }

  std::mutex mutex_;
  std::vector<std::unique_ptr<Slab>> slabs_;
  std::vector<std::uint64_t> free_;
};

}  // namespace

std::uint64_t take_workspace() { return Workspaces::instance().take(); }

void release_workspace(std::uint64_t address) noexcept { Workspaces::instance().release(address); }

}  // namespace cudacore::simulator
