// SPDX-License-Identifier: Apache-2.0
//
// The state of execution: decoded instructions, and the warps, frames, blocks and grids that they
// work on.
//
// A warp is 32 lanes. A register is a row of 32 adjacent values, so that an instruction is a loop
// over a row, which the compiler turns into vector code. A predicate is one 32-bit mask. The rows
// of a function call are in a frame; an instruction refers to them by their offset in it. Lanes
// that have diverged are groups: each has a next instruction, a frame and a mask. The group that is
// furthest behind runs first, and groups that meet become one.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace cudacore::simulator {

struct Block;
struct Cluster;
struct Function;
struct Instruction;
struct Warp;
struct Worker;
class Grid;
class Image;

inline constexpr unsigned warp_size = 32;
inline constexpr std::uint32_t all_lanes = ~std::uint32_t{0};

/// Runs one instruction for the lanes of the running group. Warp::pc is already past the
/// instruction.
using Handler = void (*)(Warp& warp, const Instruction& instruction);

/// The offset of a missing operand.
inline constexpr std::uint32_t no_operand = ~std::uint32_t{0};

/// Offsets in every frame: a mask of ones, the carry flags (CC.CF) of the lanes, and a mask that is
/// never read, for unwanted results ("_"). Unwanted rows go to Function::sink.
inline constexpr std::uint32_t true_mask = 0;
inline constexpr std::uint32_t carry_mask = 4;
inline constexpr std::uint32_t sink_mask = 8;

/// A decoded instruction: one cache line.
struct alignas(64) Instruction {
  Handler run = nullptr;
  std::array<std::uint32_t, 6> op{no_operand, no_operand, no_operand, no_operand,
                                  no_operand, no_operand};  ///< see engine/form_table.hpp
  std::uint32_t guard = true_mask;      ///< offset of the mask of lanes that may run it
  std::uint32_t guard_flip = 0;         ///< all_lanes for "@!p"
  std::uint64_t imm = 0;                ///< offset of an address, index of a target, an immediate
  const std::uint32_t* list = nullptr;  ///< what vector operands index into
  std::uint32_t where = 0;              ///< index of Function::places
  std::int32_t imm2 = 0;                ///< offset of a second address
};
static_assert(sizeof(Instruction) == 64);

struct Dim3 {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
  [[nodiscard]] constexpr std::uint64_t count() const noexcept { return std::uint64_t{x} * y * z; }
};

/// A call in progress, for all lanes that made it together.
struct Frame {
  Frame* caller = nullptr;
  const Function* function = nullptr;
  const Instruction* call = nullptr;  ///< the call instruction in the caller
  std::byte* rows = nullptr;          ///< Function::frame_bytes, 64-byte aligned
  std::uint32_t lanes = 0;            ///< those that have not returned from it or exited
  std::uint32_t local_base = 0;       ///< local address at which the function's own variables begin
  std::uint32_t local_top = 0;        ///< first free local address, alloca included
  std::uint32_t depth = 0;            ///< 0 for the kernel
};

/// Why a group does not run.
enum class Wait : std::uint8_t {
  none,
  barrier,  ///< bar.sync and similar: Group::detail is the barrier's number
  lanes,    ///< a .sync of the warp: for the lanes in Group::detail
  cluster,  ///< barrier.cluster.wait
  time,     ///< nanosleep
};

/// Lanes that follow the same path.
struct Group {
  const Instruction* pc = nullptr;
  Frame* frame = nullptr;
  std::uint32_t lanes = 0;
  Wait wait = Wait::none;
  std::uint32_t detail = 0;
};

/// How a kernel can end early.
enum class FaultKind : std::uint8_t {
  illegal_address,      ///< CUDA_ERROR_ILLEGAL_ADDRESS
  misaligned_address,   ///< CUDA_ERROR_MISALIGNED_ADDRESS
  illegal_instruction,  ///< CUDA_ERROR_ILLEGAL_INSTRUCTION
  invalid_pc,           ///< CUDA_ERROR_INVALID_PC: a call of something that is not a function
  assertion,            ///< CUDA_ERROR_ASSERT
  trap,                 ///< CUDA_ERROR_LAUNCH_FAILED: trap, brkpt
  stack_overflow,       ///< CUDA_ERROR_LAUNCH_FAILED
  deadlock,             ///< CUDA_ERROR_LAUNCH_TIMEOUT: every lane of a block waits
  out_of_memory,        ///< CUDA_ERROR_OUT_OF_MEMORY: of the host, for frames or blocks
  cancelled,            ///< its context is gone
};

/// What happened, in which thread, and where; the driver logs its text().
struct Fault {
  FaultKind kind = FaultKind::trap;
  std::string message;  ///< complete: kernel, block, thread, PTX line, source line and reason
};

/// The running warp. Handlers use the members before `groups`; the rest belongs to the scheduler.
struct alignas(64) Warp {
  std::byte* rows = nullptr;          ///< of the running group's frame
  const Instruction* pc = nullptr;    ///< the next instruction
  std::uint32_t active = 0;           ///< lanes of the running group
  std::int32_t slice = 0;             ///< instructions left before another group may run
  const Instruction* low = nullptr;   ///< jumps to this or below, or to `high` and above,
  const Instruction* high = nullptr;  ///< end the slice, because lanes wait there
  Frame* frame = nullptr;             ///< of the running group
  Block* block = nullptr;
  Worker* worker = nullptr;                                   ///< the one that runs it now
  std::uint32_t index = 0;                                    ///< in its block
  std::uint32_t living = 0;                                   ///< lanes that have not exited
  std::array<std::array<std::uint32_t, warp_size>, 3> tid{};  ///< %tid.x, .y, .z
  std::vector<Group> groups;                                  ///< all except the running one

  /// The lanes that run the instruction: those of the group, minus those that its guard excludes.
  [[nodiscard, gnu::always_inline]] std::uint32_t enabled(const Instruction& in) const noexcept {
    return active & (*reinterpret_cast<const std::uint32_t*>(rows + in.guard) ^ in.guard_flip);
  }
  /// The row at an offset, as 32 values of T.
  template <class T>
  [[nodiscard, gnu::always_inline]] T* row(std::uint32_t offset) const noexcept {
    return reinterpret_cast<T*>(rows + offset);
  }
  /// The mask (predicate) at an offset.
  [[nodiscard, gnu::always_inline]] std::uint32_t& mask(std::uint32_t offset) const noexcept {
    return *reinterpret_cast<std::uint32_t*>(rows + offset);
  }
  /// Sets the mask's bits for the enabled lanes, and leaves the others unchanged.
  [[gnu::always_inline]] void set_mask(std::uint32_t offset, std::uint32_t lanes,
                                       std::uint32_t bits) const noexcept {
    std::uint32_t& word = mask(offset);
    word = (word & ~lanes) | (bits & lanes);
  }
  /// Ends the slice after this instruction, so that others can run.
  [[gnu::always_inline]] void yield() noexcept { slice = 0; }

  /// Ends the grid because of a lane's error. Only the first fault of a grid is reported. The
  /// handler must return after this call. The detail says what happened and why, as in "reads 4
  /// bytes at 0x7f..., which is 16 bytes past the end of a live allocation of 1024 bytes at
  /// 0x7f...".
  void fault(const Instruction& in, FaultKind kind, unsigned lane,
             std::string_view detail) noexcept;
};

/// A range of addresses that was looked up before, and can be reused while the generation stays the
/// same.
struct CachedRange {
  std::uint64_t begin = 1;
  std::uint64_t end = 0;
  std::int64_t to_host = 0;  ///< added to an address, gives the position of the bytes
  std::uint64_t generation = 0;
  bool writable = false;
  std::uint32_t last = 0;  ///< low bits of the instruction's last address: to look ahead
};

/// The state of a host thread, which its blocks share.
struct Worker {
  unsigned index = 0;
  /// Ranges by instruction, direct-mapped.
  std::array<CachedRange, 64> ranges{};
};

/// One of a block's sixteen barriers.
struct Barrier {
  std::uint32_t arrived = 0;   ///< threads
  std::uint32_t expected = 0;  ///< threads; 0: all living threads
  std::uint32_t padding = 0;   ///< lanes without a thread, in warps that arrived: these count too
  std::uint32_t result_and = all_lanes;  ///< of bar.red, over those that arrived
  std::uint32_t result_or = 0;
  std::uint32_t result_count = 0;
};

/// Where shared and local addresses begin. Nothing is below, so that null pointers are detected.
inline constexpr std::uint32_t shared_begin = 0x400;
inline constexpr std::uint32_t local_begin = 0x100;
/// In a shared::cluster address of another block, the bits from this one on are the block's rank +
/// 1.
inline constexpr unsigned cluster_rank_shift = 24;

/// A thread block, as data that any worker can continue with.
struct Block {
  Grid* grid = nullptr;
  Dim3 index{0, 0, 0};             ///< %ctaid
  std::byte* shared = nullptr;     ///< the byte at shared address shared_begin
  std::uint32_t shared_bytes = 0;  ///< static and dynamic
  std::byte* local = nullptr;      ///< the byte at local address local_begin of thread 0
  std::uint32_t local_stride = 0;  ///< bytes of local memory of each thread
  std::uint32_t threads = 0;
  std::uint32_t living = 0;  ///< threads that have not exited
  std::array<Barrier, 16> barriers{};
  std::vector<Warp> warps;
  Cluster* cluster = nullptr;  ///< nullptr: it is alone
  std::uint32_t cluster_rank = 0;
};

/// Blocks that can access each other's shared memory.
struct Cluster {
  std::vector<Block*> blocks;  ///< by rank
  Dim3 shape;
};

}  // namespace cudacore::simulator
