// SPDX-License-Identifier: Apache-2.0
//
// Control flow of the simulator's warps: divergence, calls, spinning, and how grids end.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "execution_test_support.hpp"
#include "simulator/engine/block.hpp"

namespace cudacore::simulator::testing {
namespace {

constexpr Dim3 one_warp{32, 1, 1};

TEST(Execution, LoopsThatLanesLeaveEarly) {
  Kernel kernel(R"(
    mov.u32 %r6, 0; mov.u32 %r7, 0;
    LOOP: setp.ge.u32 %p1, %r6, %r2;
    @%p1 bra DONE;
    add.u32 %r7, %r7, %r6; add.u32 %r6, %r6, 1;
    bra LOOP;
    DONE: st.global.u32 [%rd3], %r7; ret;)");
  const auto out = kernel.results({3, 1, 1}, {100, 1, 1});
  for (std::uint32_t i = 0; i < 300; ++i) {
    const std::uint32_t t = i % 100;
    EXPECT_EQ(out[i], t * (t - 1) / 2) << i;
  }
}

TEST(Execution, LanesMeetAgain) {
  Kernel kernel(R"(
    and.b32 %r6, %r2, 1; setp.eq.u32 %p1, %r6, 0;
    @%p1 bra EVEN;
    mov.u32 %r7, 1; bra MEET;
    EVEN: mov.u32 %r7, 2;
    MEET: activemask.b32 %r8; st.global.u32 [%rd3], %r8; ret;)");
  const auto out = kernel.results({1, 1, 1}, one_warp);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(out[i], all_lanes) << i;
}

TEST(Execution, GuardedExitLeavesTheOthers) {
  Kernel kernel(R"(
    setp.lt.u32 %p1, %r2, 7;
    @%p1 exit;
    activemask.b32 %r8; st.global.u32 [%rd3], %r8;
    @!%p1 ret;
    st.global.u32 [%rd3], 1; ret;)");
  const auto out = kernel.results({1, 1, 1}, one_warp);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(out[i], i < 7 ? 0 : 0xffffff80) << i;
}

TEST(Execution, LookUpsThatAPredicateJoins) {
  for (const bool joins_with_and : {false, true}) {
    Kernel kernel(std::string(R"(
      and.b32 %r6, %r2, 1; setp.ne.u32 %p1, %r6, 0;
      and.b32 %r7, %r2, 2;)") +
                  "lop3." + (joins_with_and ? "and" : "or") + R"(.b32 %r8|%p2, %r7, 3, 7, 0x80, %p1;
      selp.u32 %r9, 16, 0, %p2;
      add.u32 %r9, %r9, %r8;
      st.global.u32 [%rd3], %r9; ret;)");
    const auto out = kernel.results({1, 1, 1}, one_warp);
    for (std::uint32_t i = 0; i < 32; ++i) {
      const bool joined = joins_with_and ? (i & 3) == 3 : (i & 3) != 0;
      EXPECT_EQ(out[i], (i & 2) + (joined ? 16 : 0)) << i;
    }
  }
}

TEST(Execution, AlignedParameters) {
  Kernel kernel(R"(.visible .entry aligned(.param .u64 out, .param .align 32 .b8 a[32])
{
  .reg .b64 %rd<9>;
  mov.b64 %rd6, a;
  ld.param.v4.b64 {%rd2, %rd3, %rd4, %rd5}, [a];
  ld.param.v4.b64 {%rd2, %rd3, %rd4, %rd5}, [%rd6];
  ld.param.u64 %rd1, [out];
  st.global.v2.b64 [%rd1], {%rd2, %rd5};
})",
                "ret;");
  LaunchRequest& request = kernel.request();
  request.entry = request.image->find_entry("aligned");
  request.parameters.resize(64);
  const std::uint64_t values[] = {5, 6, 7, 8};
  std::memcpy(request.parameters.data() + 32, values, sizeof values);
  const auto out = kernel.results({1, 1, 1}, {1, 1, 1});
  EXPECT_EQ(out[0], 5u);
  EXPECT_EQ(out[2], 8u);
}

TEST(Execution, ABlockAloneIsTheFirstOfItsCluster) {
  Kernel kernel(".shared .align 4 .u32 word;", R"(
    mov.u32 %r6, word; or.b32 %r7, %r6, 0x1000000;
    st.shared.u32 [%r6], 17;
    ld.shared::cluster.u32 %r8, [%r7];
    st.global.u32 [%rd3], %r8; ret;)");
  EXPECT_EQ(kernel.results({1, 1, 1}, {1, 1, 1})[0], 17u);
}

TEST(Execution, BranchTables) {
  Kernel kernel(R"(
    and.b32 %r6, %r2, 3;
    TABLE: .branchtargets A, B, C, B;
    brx.idx %r6, TABLE;
    A: mov.u32 %r7, 10; bra END;
    B: mov.u32 %r7, 20; bra END;
    C: mov.u32 %r7, 30;
    END: st.global.u32 [%rd3], %r7; ret;)");
  const auto out = kernel.results({1, 1, 1}, {64, 1, 1});
  const std::uint32_t expected[] = {10, 20, 30, 20};
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(out[i], expected[i % 4]) << i;
}

constexpr std::string_view lock_body = R"(
    LOOP: atom.global.cas.b32 %r6, [%rd1], 0, 1;
    setp.ne.u32 %p1, %r6, 0;
    @%p1 bra LOOP;
    ld.volatile.global.u32 %r7, [%rd1+4]; add.u32 %r7, %r7, 1;
    st.volatile.global.u32 [%rd1+4], %r7;
    membar.gl; atom.global.exch.b32 %r8, [%rd1], 0; ret;)";

TEST(Execution, SpinLockWithinAWarp) {
  EXPECT_EQ(Kernel(lock_body).results({1, 1, 1}, one_warp)[1], 32u);
}

TEST(Execution, SpinLockBetweenWarpsAndBlocks) {
  EXPECT_EQ(Kernel(lock_body).results({6, 1, 1}, {96, 1, 1})[1], 576u);
}

TEST(Execution, BlocksMayWaitForLaterOnes) {
  Kernel kernel(R"(
    atom.global.add.u32 %r6, [%rd1], 1;
    WAIT: ld.acquire.gpu.global.u32 %r7, [%rd1];
    setp.lt.u32 %p1, %r7, %r1;
    @%p1 bra WAIT; ret;)");
  EXPECT_EQ(kernel.results({16, 1, 1}, {1, 1, 1}, 16)[0], 16u);
}

TEST(Execution, ManyBlocks) {
  Kernel kernel(R"(red.global.add.u32 [%rd1], 1; ret;)");
  EXPECT_EQ(kernel.results({50, 10, 4}, {8, 3, 2})[0], 50u * 10 * 4 * 48);
}

TEST(Execution, Recursion) {
  Kernel kernel(R"(
.func (.param .b32 result) fib(.param .b32 n)
{
  .reg .pred %p; .reg .b32 %a<6>;
  ld.param.b32 %a0, [n];
  setp.lt.u32 %p, %a0, 2;
  @%p bra END;
  { .param .b32 x; .param .b32 y;
    sub.u32 %a1, %a0, 1; st.param.b32 [x], %a1; call.uni (y), fib, (x); ld.param.b32 %a2, [y]; }
  { .param .b32 x; .param .b32 y;
    sub.u32 %a1, %a0, 2; st.param.b32 [x], %a1; call.uni (y), fib, (x); ld.param.b32 %a3, [y]; }
  add.u32 %a0, %a2, %a3;
  END: st.param.b32 [result], %a0; ret;
})",
                R"(
    rem.u32 %r6, %r2, 12;
    { .param .b32 x; .param .b32 y;
      st.param.b32 [x], %r6; call.uni (y), fib, (x); ld.param.b32 %r7, [y]; }
    st.global.u32 [%rd3], %r7; ret;)");
  const auto out = kernel.results({2, 1, 1}, {48, 1, 1});
  const std::uint32_t fib[] = {0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89};
  for (unsigned i = 0; i < 96; ++i) EXPECT_EQ(out[i], fib[i % 48 % 12]) << i;
}

constexpr std::string_view pointees = R"(
.func (.param .b32 result) twice(.param .b32 x)
{
  .reg .b32 %a; ld.param.b32 %a, [x]; add.u32 %a, %a, %a; st.param.b32 [result], %a; ret;
}
.func (.param .b32 result) square(.param .b32 x)
{
  .reg .b32 %a; ld.param.b32 %a, [x]; mul.lo.u32 %a, %a, %a; st.param.b32 [result], %a; ret;
}
.global .align 8 .u64 table[3] = {twice, square, 0};)";

constexpr std::string_view call_through_table = R"(
    mul.wide.u32 %rd5, %r6, 8; mov.u64 %rd6, table; add.u64 %rd6, %rd6, %rd5;
    ld.global.u64 %rd7, [%rd6];
    { .param .b32 x; .param .b32 y; st.param.b32 [x], %r2;
      P: .callprototype (.param .b32 _) _ (.param .b32 _);
      call (y), %rd7, (x), P; ld.param.b32 %r7, [y]; }
    st.global.u32 [%rd3], %r7; ret;)";

TEST(Execution, IndirectCallsGoByLane) {
  Kernel kernel(pointees, "and.b32 %r6, %r2, 1;" + std::string(call_through_table));
  const auto out = kernel.results({1, 1, 1}, one_warp);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i % 2 != 0 ? i * i : 2 * i);
}

TEST(Execution, CallOfWhatIsNoFunction) {
  Kernel kernel(pointees, "mov.u32 %r6, 2;" + std::string(call_through_table));
  expect_fault(kernel.run({1, 1, 1}, one_warp), FaultKind::invalid_pc, {"not a function"});
}

TEST(Execution, ExitWithinCalls) {
  Kernel kernel(R"(
.func leave(.param .b32 x)
{
  .reg .pred %p; .reg .b32 %a; ld.param.b32 %a, [x]; setp.gt.u32 %p, %a, 9;
  @%p exit;
  ret;
}
.func middle(.param .b32 x)
{
  .reg .b32 %a; ld.param.b32 %a, [x];
  { .param .b32 y; st.param.b32 [y], %a; call leave, (y); }
  ret;
})",
                R"(
    { .param .b32 x; st.param.b32 [x], %r2; call middle, (x); }
    bar.sync 0;
    st.global.u32 [%rd3], 1; ret;)");
  const auto out = kernel.results({1, 1, 1}, {64, 1, 1});
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(out[i], i <= 9 ? 1u : 0u) << i;
}

TEST(Execution, EndlessRecursionOverflowsTheStack) {
  Kernel kernel(R"(
.func endless(.param .b32 x)
{
  .reg .b32 %a; ld.param.b32 %a, [x];
  { .param .b32 y; st.param.b32 [y], %a; call endless, (y); }
  ret;
})",
                R"({ .param .b32 x; st.param.b32 [x], %r2; call endless, (x); } ret;)");
  for (const std::uint32_t bytes : {1024u, 1u << 20}) {
    kernel.request().stack_bytes = bytes;
    expect_fault(kernel.run({1, 1, 1}, one_warp), FaultKind::stack_overflow,
                 {"of endless", "PTX line "});
  }
}

TEST(Execution, TrapNamesItsPlace) {
  Kernel kernel(R"(
    setp.ne.u32 %p1, %r2, 37; @%p1 bra END;
    trap;
    END: ret;)");
  expect_fault(kernel.run({2, 1, 1}, {64, 1, 1}), FaultKind::trap,
               {"kernel 'k', block (", "thread (37,0,0): trap at PTX line 13"});
}

TEST(Execution, EndlessKernelIsCancelled) {
  Kernel kernel("LOOP: bra LOOP; ret;");
  using Clock = std::chrono::steady_clock;
  Clock::time_point cancelled;
  const auto fault = kernel.run({40, 1, 1}, {256, 1, 1}, 0, [&](Grid& grid) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    cancelled = Clock::now();
    grid.cancel();
  });
  expect_fault(fault, FaultKind::cancelled);
  EXPECT_LT(Clock::now() - cancelled, std::chrono::seconds(2));
}

TEST(Execution, EndlessKernelLeavesRoomForOthers) {
  Kernel endless("LOOP: bra LOOP; ret;");
  const auto fault = endless.run({64, 1, 1}, one_warp, 0, [&](Grid& grid) {
    EXPECT_EQ(Kernel("st.global.u32 [%rd3], 5; ret;").results({1, 1, 1}, one_warp)[3], 5u);
    grid.cancel();
  });
  EXPECT_TRUE(fault);
}

TEST(Execution, WhatAThreadKeepsOfEndedBlocksIsBounded) {
  Kernel kernel("LOOP: bra LOOP; ret;");
  kernel.request().stack_bytes = 10u << 10;
  const auto fault = kernel.run({1, 1, 1}, {1024, 1, 1}, 0, [](Grid& grid) {
    Worker worker;
    std::vector<std::unique_ptr<ResidentCluster>> ended;
    for (unsigned i = 0; i < 6; ++i) ended.push_back(make_resident(grid, 0, worker));
    for (auto& cluster : ended) {
      release_resident(std::move(cluster));
      EXPECT_GT(kept_bytes(), std::size_t{10} << 20);
      EXPECT_LE(kept_bytes(), most_kept_bytes);
    }
    grid.cancel();
  });
  EXPECT_TRUE(fault);
}

TEST(Execution, CountsThreadInstructions) {
  Kernel kernel("setp.eq.u32 %p1, %r2, 5; @%p1 bra END; END: ret;");
  std::atomic<std::uint64_t> few{0};
  std::atomic<std::uint64_t> many{0};
  kernel.request().thread_instructions = &few;
  static_cast<void>(kernel.results({1, 1, 1}, {1, 1, 1}));
  kernel.request().thread_instructions = &many;
  static_cast<void>(kernel.results({10, 1, 1}, {100, 1, 1}));
  EXPECT_GE(few, 2u);
  EXPECT_EQ(many, 1000 * few);
}

TEST(Execution, SpecialRegisters) {
  Kernel kernel(R"(
    mov.u32 %r6, %laneid; mov.u32 %r7, %warpid; shl.b32 %r7, %r7, 8; or.b32 %r6, %r6, %r7;
    mov.u32 %r7, %nctaid.x; shl.b32 %r7, %r7, 16; or.b32 %r6, %r6, %r7;
    mov.u32 %r8, %lanemask_lt; popc.b32 %r8, %r8; shl.b32 %r8, %r8, 24; or.b32 %r6, %r6, %r8;
    st.global.u32 [%rd3], %r6; ret;)");
  const auto out = kernel.results({2, 1, 1}, {64, 1, 1});
  for (std::uint32_t i = 0; i < 128; ++i) {
    const std::uint32_t lane = i % 32;
    EXPECT_EQ(out[i], lane | (i % 64 / 32) << 8 | 2 << 16 | lane << 24) << i;
  }
}

}  // namespace
}  // namespace cudacore::simulator::testing
