// SPDX-License-Identifier: Apache-2.0
//
// Threads that wait for each other: barriers, warps, clusters, grids; and what they can't wait for.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <ctime>
#include <string>
#include <thread>

#include "execution_test_support.hpp"

namespace cudacore::simulator::testing {
namespace {

constexpr Dim3 one_warp{32, 1, 1};

TEST(ExecutionWaits, BarrierWithResults) {
  Kernel kernel(R"(
    setp.lt.u32 %p1, %r2, %r1;
    bar.red.popc.u32 %r6, 0, %p1;
    bar.red.and.pred %p2, 0, %p1;
    barrier.red.or.aligned.pred %p3, 0, %p1;
    selp.u32 %r7, 256, 0, %p2; selp.u32 %r8, 512, 0, %p3;
    add.u32 %r6, %r6, %r7; add.u32 %r6, %r6, %r8;
    st.global.u32 [%rd3], %r6; ret;)");
  for (const std::uint32_t n : {0u, 40u, 200u}) {
    const auto out = kernel.results({2, 1, 1}, {200, 1, 1}, n);
    const std::uint32_t expected = n + (n == 200 ? 256 : 0) + (n != 0 ? 512 : 0);
    for (unsigned i = 0; i < 400; ++i) ASSERT_EQ(out[i], expected) << i;
  }
}

/// Warp 0 produces in rounds what warp 1 consumes, with two barriers of 64 threads.
TEST(ExecutionWaits, NamedBarriersOfSomeWarps) {
  Kernel kernel(R"(
    .shared .align 4 .b32 value;
    mov.u32 %r10, 0; mov.u32 %r11, 0;
    setp.ge.u32 %p1, %r2, 64; @%p1 bra END;
    setp.ge.u32 %p2, %r2, 32; @%p2 bra CONSUMER;
    PRODUCER: bar.sync 1, 64;
    setp.eq.u32 %p3, %r2, 0; @%p3 st.shared.u32 [value], %r10;
    bar.arrive 2, 64;
    add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 50; @%p4 bra PRODUCER;
    bra END;
    CONSUMER: bar.arrive 1, 64;
    bar.sync 2, 64;
    ld.shared.u32 %r6, [value]; add.u32 %r11, %r11, %r6;
    add.u32 %r10, %r10, 1; setp.lt.u32 %p4, %r10, 50; @%p4 bra CONSUMER;
    END: st.global.u32 [%rd3], %r11; ret;)");
  const auto out = kernel.results({1, 1, 1}, {128, 1, 1});
  for (unsigned i = 0; i < 128; ++i) EXPECT_EQ(out[i], i / 32 == 1 ? 1225u : 0u) << i;
}

TEST(ExecutionWaits, EndedThreadsAreNotWaitedFor) {
  Kernel kernel(R"(
    setp.ge.u32 %p1, %r2, 45; @%p1 ret;
    bar.sync 0; st.global.u32 [%rd3], 1; ret;)");
  const auto out = kernel.results({1, 1, 1}, {256, 1, 1});
  for (unsigned i = 0; i < 256; ++i) EXPECT_EQ(out[i], i < 45 ? 1u : 0u) << i;
}

TEST(ExecutionWaits, LanesMayArriveApart) {
  Kernel kernel(R"(
    setp.lt.u32 %p1, %r2, 16; @%p1 bra LOW;
    barrier.sync 0; bra END;
    LOW: barrier.sync 0;
    END: st.global.u32 [%rd3], 1; ret;)");
  const auto out = kernel.results({1, 1, 1}, {64, 1, 1});
  for (unsigned i = 0; i < 64; ++i) EXPECT_EQ(out[i], 1u) << i;
}

TEST(ExecutionWaits, DeadlockSaysWhoWaitsWhere) {
  Kernel kernel(R"(
    setp.lt.u32 %p1, %r2, 32; @%p1 bra LOW;
    bar.sync 3; bra END;
    LOW: bar.sync 5, 96;
    END: ret;)");
  expect_fault(kernel.run({2, 1, 1}, {64, 1, 1}), FaultKind::deadlock,
               {"warp 0, lanes 0xffffffff at bar.sync at PTX line 14 for barrier 5, "
                "where 32 threads of 96 have arrived",
                "warp 1, lanes 0xffffffff at bar.sync at PTX line 13 for barrier 3"});
}

TEST(ExecutionWaits, LanesThatNeverComeAreADeadlock) {
  Kernel kernel(R"(
    setp.lt.u32 %p1, %r2, 16; @%p1 bra LOW;
    bar.sync 0; bra END;
    LOW: bar.warp.sync 0xffffffff;
    END: ret;)");
  expect_fault(kernel.run({1, 1, 1}, one_warp), FaultKind::deadlock, {"for the lanes 0xffffffff"});
}

TEST(ExecutionWaits, ShuffleFromBothBranches) {
  Kernel kernel(R"(
    setp.lt.u32 %p1, %r2, 16; @%p1 bra LOW;
    shfl.sync.bfly.b32 %r6, %r2, 31, 31, -1; bra END;
    LOW: shfl.sync.bfly.b32 %r6, %r2, 31, 31, -1;
    END: st.global.u32 [%rd3], %r6; ret;)");
  const auto out = kernel.results({1, 1, 1}, one_warp);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(out[i], 31 - i) << i;
}

TEST(ExecutionWaits, ShuffleModesAndSegments) {
  Kernel kernel(R"(
    shfl.sync.up.b32 %r6|%p1, %r2, 1, 0x1800, -1;
    shfl.sync.down.b32 %r7|%p2, %r2, 3, 0x181f, -1;
    shfl.sync.idx.b32 %r8|%p3, %r2, 5, 0x181f, -1;
    selp.u32 %r9, 1, 0, %p1; selp.u32 %r10, 2, 0, %p2; selp.u32 %r11, 4, 0, %p3;
    or.b32 %r9, %r9, %r10; or.b32 %r9, %r9, %r11;
    shl.b32 %r7, %r7, 8; shl.b32 %r8, %r8, 16; shl.b32 %r9, %r9, 24;
    or.b32 %r6, %r6, %r7; or.b32 %r6, %r6, %r8; or.b32 %r6, %r6, %r9;
    st.global.u32 [%rd3], %r6; ret;)");
  const auto out = kernel.results({1, 1, 1}, one_warp);
  for (std::uint32_t i = 0; i < 32; ++i) {
    const std::uint32_t first = i / 8 * 8;
    const bool up = i != first;
    const bool down = i + 3 < first + 8;
    EXPECT_EQ(out[i], (up ? i - 1 : i) | (down ? i + 3 : i) << 8 | (first + 5) << 16 |
                          (4u | (down ? 2u : 0u) | (up ? 1u : 0u)) << 24)
        << i;
  }
}

TEST(ExecutionWaits, VotesMatchesAndReductions) {
  Kernel kernel(R"(
    and.b32 %r6, %r2, 3; setp.eq.u32 %p1, %r6, 1;
    vote.sync.ballot.b32 %r7, %p1, -1;
    match.any.sync.b32 %r8, %r6, -1;
    redux.sync.add.s32 %r9, %r2, -1;
    redux.sync.max.u32 %r10, %r6, 0xffffffff;
    vote.sync.any.pred %p2, %p1, -1; vote.all.sync.pred %p3, !%p1, -1; vote.sync.uni.pred %p4, %p1, -1;
    match.all.sync.b32 %r12|%p5, %r3, -1;
    elect.sync %r13|%p6, -1;
    selp.u32 %r14, 1, 0, %p2; selp.u32 %r15, 2, 0, %p3; selp.u32 %r16, 4, 0, %p4;
    selp.u32 %r17, 8, 0, %p5; selp.u32 %r18, 16, 0, %p6;
    or.b32 %r14, %r14, %r15; or.b32 %r14, %r14, %r16; or.b32 %r14, %r14, %r17;
    or.b32 %r14, %r14, %r18;
    mul.wide.u32 %rd5, %r2, 20; add.u64 %rd5, %rd1, %rd5;
    st.global.u32 [%rd5], %r7; st.global.u32 [%rd5+4], %r8; st.global.u32 [%rd5+8], %r9;
    st.global.u32 [%rd5+12], %r10; st.global.u32 [%rd5+16], %r14; ret;)");
  const auto out = kernel.results({1, 1, 1}, one_warp);
  for (std::uint32_t i = 0; i < 32; ++i) {
    EXPECT_EQ(out[i * 5], 0x22222222u);
    EXPECT_EQ(out[i * 5 + 1], 0x11111111u << i % 4);
    EXPECT_EQ(out[i * 5 + 2], 496u);
    EXPECT_EQ(out[i * 5 + 3], 3u);
    EXPECT_EQ(out[i * 5 + 4], 1u | 8u | (i == 0 ? 16u : 0u));
  }
}

TEST(ExecutionWaits, ReservedSharedMemoryLiesApart) {
  Kernel kernel(R"(.shared .align 4 .b8 own[32];
    .func (.reg .b32 %f1) reserved() { mov.u32 %f1, %reserved_smem_offset_1; ret; })",
                R"(
    mov.u32 %r6, own; call (%r7), reserved;
    setp.ne.u32 %p1, %r2, 0;
    @%p1 bra WAIT;
    mov.u32 %r8, 7; mov.u32 %r9, 8;
    st.shared.u32 [%r6+28], %r8; st.shared.u32 [%r7], %r9; st.shared.u32 [%r7+284], %r8;
    WAIT: bar.warp.sync -1;
    ld.shared.u32 %r10, [%r6+28]; ld.shared.u32 %r11, [%r7]; ld.shared.u32 %r12, [%r7+284];
    mad.lo.u32 %r10, %r10, 100, %r11; mad.lo.u32 %r10, %r10, 10, %r12;
    st.global.u32 [%rd3], %r10; ret;)");
  EXPECT_EQ(kernel.results({1, 1, 1}, one_warp)[31], 7087u);
}

TEST(ExecutionWaits, TilesOfOneWarp) {
  Kernel kernel(R"(
    and.b32 %r6, %r2, 24; mov.u32 %r7, 255; shl.b32 %r7, %r7, %r6;
    bar.warp.sync %r7;
    redux.sync.add.u32 %r8, %r2, %r7; st.global.u32 [%rd3], %r8; ret;)");
  const auto out = kernel.results({1, 1, 1}, one_warp);
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(out[i], i / 8 * 64 + 28) << i;
}

/// The way cooperative groups do it.
TEST(ExecutionWaits, CooperativeGridsSynchronise) {
  std::string body = R"(
    mov.u32 %r6, %envreg2; mov.u32 %r7, %envreg1; mov.b64 %rd5, {%r6, %r7};
    setp.eq.u64 %p1, %rd5, 0; @%p1 trap;
    mov.u32 %r8, %nctaid.x; mov.u32 %r20, 0;
    ROUND:
    red.global.add.u32 [%rd1], 1;
    barrier.sync 0;
    setp.ne.u32 %p2, %r2, 0; @%p2 bra JOIN;
    setp.eq.u32 %p3, %r3, 0; sub.u32 %r9, 0x80000001, %r8; selp.b32 %r9, %r9, 1, %p3;
    atom.add.release.gpu.u32 %r10, [%rd5+4], %r9;
    LOOK: ld.acquire.gpu.u32 %r11, [%rd5+4];
    xor.b32 %r12, %r10, %r11; setp.gt.s32 %p4, %r12, -1; @%p4 bra LOOK;
    JOIN: barrier.sync 0;
    ld.volatile.global.u32 %r13, [%rd1];
    add.u32 %r20, %r20, 1;
    mul.lo.u32 %r14, %r8, %r4; mul.lo.u32 %r14, %r14, %r20;
    setp.lt.u32 %p5, %r13, %r14; @%p5 trap;
    setp.lt.u32 %p6, %r20, 5; @%p6 bra ROUND; ret;)";
  Kernel kernel(body);
  kernel.request().cooperative = true;
  kernel.request().resident_blocks = 24;
  EXPECT_EQ(kernel.results({24, 1, 1}, {64, 1, 1})[0], 24u * 64 * 5);
}

TEST(ExecutionWaits, Clusters) {
  Kernel kernel(R"(
    mov.u32 %r6, %clusterid.x; mul.wide.u32 %rd5, %r6, 4; add.u64 %rd6, %rd1, %rd5;
    red.global.add.u32 [%rd6], 1;
    barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;
    ld.volatile.global.u32 %r7, [%rd6];
    barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
    mov.u32 %r8, %cluster_ctarank; shl.b32 %r8, %r8, 16; or.b32 %r7, %r7, %r8;
    add.u64 %rd3, %rd3, 1024; st.global.u32 [%rd3], %r7; ret;)");
  kernel.request().cluster = {4, 1, 1};
  const auto out = kernel.results({12, 1, 1}, {40, 1, 1});
  for (std::uint32_t i = 0; i < 480; ++i) {
    EXPECT_EQ(out[256 + i], 160 | (i / 40 % 4) << 16) << i;
  }
}

TEST(ExecutionWaits, NanosleepLetsOthersRun) {
  Kernel kernel(R"(
    setp.eq.u32 %p1, %r2, 127; @%p1 bra SET;
    LOOP: nanosleep.u32 100; ld.volatile.global.u32 %r6, [%rd1]; setp.eq.u32 %p2, %r6, 0;
    @%p2 bra LOOP; ret;
    SET: st.volatile.global.u32 [%rd1], 1; ret;)");
  EXPECT_EQ(kernel.results({1, 1, 1}, {128, 1, 1})[0], 1u);
}

/// Every thread sleeps n times, for 900 us plus its own number.
constexpr const char* sleeps = R"(
    mov.u32 %r10, 0; mad.lo.u32 %r11, %r2, 1000, 900000;
    LOOP: setp.ge.u32 %p1, %r10, %r1; @%p1 bra END;
    nanosleep.u32 %r11; add.u32 %r10, %r10, 1; bra LOOP;
    END: st.global.u32 [%rd3], %r10; ret;)";

std::chrono::steady_clock::duration time_of(Kernel& kernel, Dim3 grid, Dim3 block,
                                            std::uint32_t n) {
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(kernel.results(grid, block, n)[0], n);
  return std::chrono::steady_clock::now() - begin;
}

TEST(ExecutionWaits, NanosleepTakesItsTime) {
  Kernel kernel(sleeps);
  EXPECT_GE(time_of(kernel, {1, 1, 1}, one_warp, 3), std::chrono::microseconds(2700));
}

TEST(ExecutionWaits, NanosleepTakesAMillisecondAtMost) {
  Kernel kernel("nanosleep.u32 0xffffffff; st.global.u32 [%rd3], %r1; ret;");
  const auto time = time_of(kernel, {1, 1, 1}, one_warp, 7);
  EXPECT_GE(time, std::chrono::milliseconds(1));
  EXPECT_LT(time, std::chrono::seconds(2));
}

/// Twice as many blocks as may be in progress: one after another, they would take 3 seconds.
TEST(ExecutionWaits, BlocksSleepSideBySide) {
  Kernel kernel(sleeps);
  kernel.request().resident_blocks = 16;
  const auto time = time_of(kernel, {32, 1, 1}, {128, 1, 1}, 100);
  EXPECT_GE(time, std::chrono::milliseconds(180));
  EXPECT_LT(time, std::chrono::milliseconds(2000));
}

TEST(ExecutionWaits, SleepersTakeNoProcessorTime) {
  Kernel kernel(sleeps);
  timespec begin{};
  timespec end{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
  const auto time = time_of(kernel, {1, 1, 1}, one_warp, 200);
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
  const auto taken = std::chrono::seconds(end.tv_sec - begin.tv_sec) +
                     std::chrono::nanoseconds(end.tv_nsec - begin.tv_nsec);
  EXPECT_LT(taken, time / 2);
}

/// Lanes of a warp, warps of a block and blocks of a cluster that don't sleep continue, and
/// sleepers wake while the others work.
TEST(ExecutionWaits, OthersGoOnWhileSomeSleep) {
  for (const unsigned sleeper : {0u, 31u, 32u, 64u}) {
    Kernel kernel(R"(
    setp.eq.u32 %p1, %r5, %r1; @%p1 bra SLEEP;
    red.global.add.u32 [%rd1+4096], 1;
    LOOP: ld.volatile.global.u32 %r6, [%rd1+4100]; setp.eq.u32 %p2, %r6, 0; @%p2 bra LOOP; ret;
    SLEEP: nanosleep.u32 50000; ld.volatile.global.u32 %r6, [%rd1+4096];
    setp.ne.u32 %p2, %r6, 127; @%p2 bra SLEEP;
    st.volatile.global.u32 [%rd1+4100], 1; ret;)");
    kernel.request().cluster = {2, 1, 1};
    const auto fault = kernel.run({2, 1, 1}, {64, 1, 1}, sleeper);
    EXPECT_FALSE(fault) << fault->message;
  }
}

/// A sleeping block may wait for one that has not started.
TEST(ExecutionWaits, SleepersLetBlocksStart) {
  Kernel kernel(R"(
    red.global.add.u32 [%rd1], 1;
    LOOP: nanosleep.u32 20; ld.volatile.global.u32 %r6, [%rd1];
    setp.lt.u32 %p2, %r6, %r1; @%p2 bra LOOP; ret;)");
  kernel.request().resident_blocks = 64;
  const auto fault = kernel.run({64, 1, 1}, one_warp, 64 * 32);
  EXPECT_FALSE(fault) << fault->message;
}

/// Sleepers and threads at a barrier: the barrier completes when the sleepers have woken.
TEST(ExecutionWaits, SleepersAreNoDeadlock) {
  Kernel kernel(R"(
    setp.lt.u32 %p1, %r2, 40; @%p1 nanosleep.u32 300000;
    bar.sync 0; st.global.u32 [%rd3], 1; ret;)");
  const auto out = kernel.results({2, 1, 1}, {96, 1, 1});
  for (unsigned i = 0; i < 192; ++i) EXPECT_EQ(out[i], 1u) << i;
}

TEST(ExecutionWaits, EndlessSleepIsCancelled) {
  Kernel kernel("LOOP: nanosleep.u32 1000000; bra LOOP;");
  const auto fault = kernel.run({40, 1, 1}, {64, 1, 1}, 0, [](Grid& grid) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    grid.cancel();
  });
  expect_fault(fault, FaultKind::cancelled);
}

/// A sleeping kernel doesn't block others, no matter how few workers there are.
TEST(ExecutionWaits, KernelsRunBesideSleepingOnes) {
  Kernel sleeping("LOOP: nanosleep.u32 1000000; bra LOOP;");
  Kernel working("st.global.u32 [%rd3], 1; ret;");
  const auto fault = sleeping.run({40, 1, 1}, {64, 1, 1}, 0, [&](Grid& grid) {
    for (int i = 0; i < 20; ++i) EXPECT_EQ(working.results({2, 1, 1}, one_warp)[63], 1u);
    grid.cancel();
  });
  EXPECT_TRUE(fault);
}

}  // namespace
}  // namespace cudacore::simulator::testing
