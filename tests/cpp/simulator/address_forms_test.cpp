// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdint>
#include <string>

#include "memory_test_support.hpp"

namespace cudacore::simulator::testing {
namespace {

Isa any_isa() { return available_isas().front(); }

class AddressForms : public ::testing::Test {
 protected:
  template <class To, class From>
  Row<To> run(std::string_view key, std::string_view signature, const Row<From>& from,
              std::uint32_t second = 0) {
    OneInstruction instruction(any_isa(), key, signature);
    around_.place(instruction);
    instruction.row<From>(1) = from;
    if (signature.size() > 2) instruction.row<std::uint32_t>(2).fill(second);
    instruction.run();
    EXPECT_FALSE(around_.fault());
    return instruction.row<To>(0);
  }
  std::uint32_t test(std::string_view key, std::uint64_t address) {
    OneInstruction instruction(any_isa(), key, "px");
    around_.place(instruction);
    instruction.mask(0) = 0;
    instruction.row<std::uint64_t>(1).fill(address);
    instruction.run();
    return instruction.mask(0);
  }
  static std::uint64_t number(const void* host) { return reinterpret_cast<std::uint64_t>(host); }

  Surroundings around_;
};

Row<std::uint64_t> all(std::uint64_t value) {
  Row<std::uint64_t> row;
  row.fill(value);
  return row;
}

TEST_F(AddressForms, ConversionsGoThereAndBack) {
  for (const char* space :
       {".global", ".const", ".shared", ".shared::cluster", ".local", ".param"}) {
    const Row<std::uint64_t> from = all(shared_begin + 12);
    const auto generic = run<std::uint64_t>(std::string("cvta") + space + ".u64", "xx", from);
    const auto back = run<std::uint64_t>(std::string("cvta.to") + space + ".u64", "xx", generic);
    EXPECT_EQ(back, from) << space;
  }
  EXPECT_EQ(run<std::uint64_t>("cvta.shared.u64", "xx", all(shared_begin + 12))[5],
            number(around_.block().shared) + 12);
  EXPECT_EQ(run<std::uint64_t>("cvta.local.u64", "xx", all(local_begin + 8))[5],
            number(around_.block().local) + 5 * Surroundings::local_stride + 8);
}

TEST_F(AddressForms, TellsSpacesApart) {
  const std::uint64_t shared = number(around_.block().shared);
  const std::uint64_t other = number(around_.block(1).shared);
  const std::uint64_t local = number(around_.block().local);
  const std::uint64_t param = number(around_.request().parameters.data());
  const std::uint64_t global = around_.allocate(16).address;
  const std::uint64_t constant = around_.allocate(16, true).address;
  EXPECT_EQ(test("isspacep.shared", shared), all_lanes);
  EXPECT_EQ(test("isspacep.shared", other), 0u);
  EXPECT_EQ(test("isspacep.shared::cluster", other), all_lanes);
  EXPECT_EQ(test("isspacep.local", local), all_lanes);
  EXPECT_EQ(test("isspacep.param", param), all_lanes);
  EXPECT_EQ(test("isspacep.const", constant), all_lanes);
  EXPECT_EQ(test("isspacep.global", global), all_lanes);
  EXPECT_EQ(test("isspacep.global", param), all_lanes) << "its window is in the global one";
  for (const std::uint64_t address : {shared, other, local, constant}) {
    EXPECT_EQ(test("isspacep.global", address), 0u);
  }
}

TEST_F(AddressForms, MapsToBlocksOfTheCluster) {
  Row<std::uint32_t> from;
  from.fill(shared_begin + 4);
  const auto window = run<std::uint32_t>("mapa.shared::cluster.u32", "www", from, 1);
  EXPECT_EQ(window[0], (2u << cluster_rank_shift) + shared_begin + 4);
  EXPECT_EQ(run<std::uint32_t>("getctarank.shared::cluster.u32", "ww", window)[7], 1u);
  EXPECT_EQ(run<std::uint32_t>("mapa.shared::cluster.u32", "www", window, 0), from);
  const auto own = all(number(around_.block().shared) + 4);
  const auto generic = run<std::uint64_t>("mapa.u64", "xxw", own, 1);
  EXPECT_EQ(generic[3], number(around_.block(1).shared) + 4);
  EXPECT_EQ(run<std::uint32_t>("getctarank.u64", "wx", generic)[7], 1u);
  EXPECT_EQ(run<std::uint32_t>("getctarank.u64", "wx", own)[7], 0u);
  EXPECT_EQ(run<std::uint64_t>("mapa.u64", "xxw", generic, 0), own);
}

TEST_F(AddressForms, AllocatesOnTheStack) {
  OneInstruction save(any_isa(), "stacksave.u64", "x");
  OneInstruction allocate(any_isa(), "alloca.u64", "xx?i");
  OneInstruction restore(any_isa(), "stackrestore.u64", "x");
  for (OneInstruction* each : {&save, &allocate, &restore}) around_.place(*each);
  around_.frame().lanes = all_lanes;
  around_.frame().local_top = local_begin + 3;
  save.run();
  EXPECT_EQ(save.row<std::uint64_t>(0)[9], local_begin + 3);
  for (unsigned i = 0; i < warp_size; ++i) allocate.row<std::uint64_t>(1)[i] = i;
  allocate.set_immediate(2, 32);
  allocate.run();
  EXPECT_EQ(allocate.row<std::uint64_t>(0)[9], local_begin + 32);
  EXPECT_EQ(around_.frame().local_top, local_begin + 32 + 31);
  restore.row<std::uint64_t>(0) = save.row<std::uint64_t>(0);
  restore.run(1);
  EXPECT_EQ(around_.frame().local_top, local_begin + 32 + 31) << "others may use theirs";
  restore.run();
  EXPECT_EQ(around_.frame().local_top, local_begin + 3);
  allocate.row<std::uint64_t>(1).fill(Surroundings::local_stride);
  allocate.run();
  const auto fault = around_.fault();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, FaultKind::stack_overflow);
}

}  // namespace
}  // namespace cudacore::simulator::testing
