// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <unistd.h>

#include "simulator/memory/address_space.hpp"
#include "simulator/memory/device_memory.hpp"

namespace cudacore::simulator {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

/// Whether the host may read a byte. The operating system's kernel answers that without a signal.
bool is_readable(std::uint64_t address) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) ADD_FAILURE() << "no pipe";
  const bool readable = write(ends[1], reinterpret_cast<const void*>(address), 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

Allocation at(std::uint64_t address, std::size_t size) {
  Allocation allocation;
  allocation.address = address;
  allocation.size = size;
  return allocation;
}

TEST(AddressSpace, FindsTheAllocationOfEveryByte) {
  AddressSpace space;
  space.insert(at(1000, 10));
  space.insert(at(1010, 5));
  space.insert(at(2000, 1));
  for (const auto& [address, begin] :
       {std::pair{1000u, 1000u}, {1009u, 1000u}, {1010u, 1010u}, {2000u, 2000u}}) {
    EXPECT_EQ(space.find(address)->address, begin);
  }
  for (const unsigned address : {999u, 1015u, 2001u}) EXPECT_FALSE(space.find(address));
  EXPECT_EQ(space.count(), 3u);
}

TEST(AddressSpace, KnowsWhatIsNearest) {
  AddressSpace space;
  space.insert(at(1000, 10));
  space.insert(at(2000, 10));
  EXPECT_FALSE(space.nearest_below(1000));
  EXPECT_EQ(space.nearest_below(1500)->address, 1000u);
  EXPECT_EQ(space.nearest_below(9000)->address, 2000u);
  EXPECT_EQ(space.nearest_above(0)->address, 1000u);
  EXPECT_EQ(space.nearest_above(1500)->address, 2000u);
  EXPECT_FALSE(space.nearest_above(2000));
}

TEST(AddressSpace, RemembersWhatWasErased) {
  AddressSpace space;
  const std::uint64_t first = space.insert(at(1000, 10));
  const std::uint64_t before = AddressSpace::generation();
  EXPECT_FALSE(space.erase(1001));
  EXPECT_EQ(AddressSpace::generation(), before);
  EXPECT_EQ(space.erase(1000)->id, first);
  EXPECT_NE(AddressSpace::generation(), before);
  EXPECT_FALSE(space.find(1005));
  EXPECT_EQ(space.erased(1005)->size, 10u);
  EXPECT_FALSE(space.erased(1010));
  EXPECT_NE(space.insert(at(1000, 4)), first);
  for (std::uint64_t i = 0; i < 3000; ++i) {
    space.insert(at(10000 + i, 1));
    space.erase(10000 + i);
  }
  EXPECT_FALSE(space.erased(1005)) << "only the youngest are kept";
  EXPECT_TRUE(space.erased(12999));
}

TEST(AddressSpace, FindsAmongManyAsFastAsAmongFew) {
  const auto time = [](std::size_t count) {
    AddressSpace space;
    for (std::size_t i = 0; i < count; ++i) space.insert(at(4096 + i * 512, 256));
    std::mt19937_64 random(1);
    auto best = std::chrono::nanoseconds::max();
    for (int repeat = 0; repeat < 5; ++repeat) {
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < 2000; ++i) {
        EXPECT_TRUE(space.find(4096 + random() % count * 512 + 255));
      }
      best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - begin);
    }
    return best;
  };
  // 400 times as many: a linear search would take that much longer.
  EXPECT_LT(time(200'000), 60 * time(500));
}

TEST(DeviceMemory, GivesBytesThatOnlyTheEngineReads) {
  DeviceMemory memory(3, 4 * mib);
  const Allocation a = memory.allocate(100).value();
  EXPECT_EQ(a.size, 100u);
  EXPECT_EQ(a.device, 3);
  EXPECT_EQ(a.kind, MemoryKind::device);
  EXPECT_NE(reinterpret_cast<std::uint64_t>(a.host), a.address);
  EXPECT_TRUE(memory.contains(a.address));
  EXPECT_FALSE(memory.contains(reinterpret_cast<std::uint64_t>(a.host)));
  EXPECT_FALSE(is_readable(a.address));
  std::memset(a.host, 1, a.size);
  EXPECT_EQ(AddressSpace::instance().find(a.address + 99)->id, a.id);
  EXPECT_FALSE(AddressSpace::instance().find(a.address + 100)) << "bounds are exact to the byte";
  EXPECT_TRUE(memory.free(a.address));
  EXPECT_FALSE(memory.free(a.address)) << "a double free";
  EXPECT_FALSE(AddressSpace::instance().find(a.address));
}

TEST(DeviceMemory, Aligns) {
  DeviceMemory memory(0, 64 * mib);
  for (const std::size_t align : {1u, 256u, 512u, 4096u, 1u << 20, 2u << 20}) {
    const Allocation a = memory.allocate(3, align).value();
    EXPECT_EQ(a.address % std::max<std::size_t>(align, 256), 0u);
    EXPECT_EQ(reinterpret_cast<std::uint64_t>(a.host) % std::max<std::size_t>(align, 256), 0u);
  }
  EXPECT_EQ(memory.allocate(2 * mib)->address % 512, 0u);
}

TEST(DeviceMemory, LeavesGapsBetweenPieces) {
  DeviceMemory memory(0, mib);
  const Allocation a = memory.allocate(256).value();
  const Allocation b = memory.allocate(256).value();
  EXPECT_FALSE(AddressSpace::instance().find(a.end()));
  EXPECT_NE(a.end(), b.address);
}

TEST(DeviceMemory, IsFullAtItsCapacityWhateverTheSizes) {
  DeviceMemory memory(0, mib);
  EXPECT_EQ(memory.capacity(), mib);
  EXPECT_FALSE(memory.allocate(mib + 1));
  EXPECT_FALSE(memory.allocate(std::numeric_limits<std::size_t>::max()));
  EXPECT_FALSE(memory.allocate(0));
  std::vector<std::uint64_t> pieces;
  while (const auto piece = memory.allocate(256)) pieces.push_back(piece->address);
  EXPECT_EQ(pieces.size(), mib / 256);
  EXPECT_EQ(memory.available(), 0u);
  // Every other piece is free: half of the memory, but no more than 256 contiguous bytes.
  for (std::size_t i = 0; i < pieces.size(); i += 2) EXPECT_TRUE(memory.free(pieces[i]));
  EXPECT_EQ(memory.available(), mib / 2);
  for (std::size_t i = 0; i < pieces.size() / 2; ++i) EXPECT_TRUE(memory.allocate(200));
  EXPECT_FALSE(memory.allocate(1));
}

TEST(DeviceMemory, HoldsFreedPiecesBackUntilTheyAreNeeded) {
  DeviceMemory memory(0, 8 * mib);
  const Allocation first = memory.allocate(2 * mib).value();
  memory.free(first.address);
  EXPECT_EQ(memory.available(), memory.capacity()) << "a quarantined piece counts as free";
  EXPECT_NE(memory.allocate(2 * mib)->address, first.address);
  EXPECT_EQ(AddressSpace::instance().erased(first.address + 5)->id, first.id);
  // Nevertheless, all of it can be allocated at once.
  DeviceMemory other(0, 8 * mib);
  for (int i = 0; i < 100; ++i) {
    const auto whole = other.allocate(8 * mib);
    ASSERT_TRUE(whole);
    whole->host[8 * mib - 1] = std::byte{1};
    EXPECT_FALSE(other.allocate(1));
    other.free(whole->address);
  }
}

TEST(DeviceMemory, JoinsFreePieces) {
  DeviceMemory memory(0, 32 * mib);
  std::mt19937_64 random(7);
  std::vector<std::uint64_t> live;
  for (int i = 0; i < 20'000; ++i) {
    if (live.empty() || random() % 2 == 0) {
      if (const auto a = memory.allocate(1 + random() % 100'000)) live.push_back(a->address);
    } else {
      std::swap(live[random() % live.size()], live.back());
      ASSERT_TRUE(memory.free(live.back()));
      live.pop_back();
    }
  }
  for (const std::uint64_t address : live) memory.free(address);
  EXPECT_EQ(memory.available(), memory.capacity());
  EXPECT_TRUE(memory.allocate(32 * mib)) << "nothing is left in pieces";
}

TEST(DeviceMemory, TakesItsAllocationsAlongWhenItGoes) {
  std::uint64_t address = 0;
  {
    DeviceMemory memory(0, mib);
    address = memory.allocate(100)->address;
  }
  EXPECT_FALSE(AddressSpace::instance().find(address));
}

TEST(DeviceMemory, ServesManyThreads) {
  DeviceMemory memory(0, 16 * mib);
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::mt19937_64 random(t);
      std::vector<Allocation> live;
      for (int i = 0; i < 2000; ++i) {
        if (live.size() < 8) {
          const auto a = memory.allocate(1 + random() % 4096);
          if (!a) {
            ++wrong;
            continue;
          }
          std::memset(a->host, static_cast<int>(t + 1), a->size);
          live.push_back(*a);
        } else {
          const Allocation a = live[random() % live.size()];
          const auto found = AddressSpace::instance().find(a.address + a.size - 1);
          if (!found || found->id != a.id) ++wrong;
          for (std::size_t k = 0; k < a.size; ++k) {
            if (a.host[k] != static_cast<std::byte>(t + 1)) ++wrong;
          }
          std::erase_if(live, [&](const Allocation& each) { return each.id == a.id; });
          if (!memory.free(a.address)) ++wrong;
        }
      }
      for (const Allocation& a : live) memory.free(a.address);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(memory.available(), memory.capacity());
}

}  // namespace
}  // namespace cudacore::simulator
