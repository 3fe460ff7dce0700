// SPDX-License-Identifier: Apache-2.0
#include "simulator/memory/allocation_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <map>
#include <random>

namespace cudacore::simulator {
namespace {

using Reference = std::map<std::uint64_t, std::uint64_t>;  // address to id

std::uint64_t id_of(const Allocation* found) { return found == nullptr ? 0 : found->id; }

void expect_same(const AllocationTable& table, const Reference& reference, std::uint64_t address) {
  const auto above = reference.upper_bound(address);
  const std::uint64_t next = above == reference.end() ? 0 : above->second;
  const std::uint64_t before = above == reference.begin() ? 0 : std::prev(above)->second;
  const auto here = reference.find(address);
  ASSERT_EQ(id_of(table.above(address)), next) << address;
  ASSERT_EQ(id_of(table.at_or_below(address)), before) << address;
  ASSERT_EQ(id_of(table.at(address)), here == reference.end() ? 0 : here->second) << address;
}

TEST(AllocationTable, AgreesWithAMapWhileItGrowsAndShrinks) {
  std::mt19937_64 random(1);
  AllocationTable table;
  Reference reference;
  std::uint64_t id = 0;
  for (const int inserts : {9, 5, 1, 8, 2}) {  // out of ten steps
    for (int step = 0; step < 4000; ++step) {
      const std::uint64_t address = random() % 4096 * 16;
      if (static_cast<int>(random() % 10) < inserts) {
        Allocation allocation;
        allocation.address = address;
        allocation.id = ++id;
        table.insert(allocation);
        reference[address] = id;
      } else {
        table.erase(address);
        reference.erase(address);
      }
      ASSERT_EQ(table.size(), reference.size());
      expect_same(table, reference, random() % 65600);
      expect_same(table, reference, address);
    }
  }
  while (!reference.empty()) {
    const std::uint64_t address = reference.begin()->first;
    table.erase(address);
    reference.erase(address);
    expect_same(table, reference, address);
  }
  EXPECT_EQ(table.size(), 0u);
  EXPECT_EQ(table.above(0), nullptr);
}

}  // namespace
}  // namespace cudacore::simulator
