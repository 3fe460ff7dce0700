// SPDX-License-Identifier: Apache-2.0
//
// How instructions access memory: from an address in a state space to the bytes on the host.
//
// Every access is checked, to the byte, against the live allocations, the shared memory of the
// block and of its cluster, the local memory of the thread, and the launch's parameters. Generic
// addresses of shared, local and parameter memory are the host addresses of the bytes.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simulator/engine/grid.hpp"
#include "simulator/engine/machine.hpp"
#include "simulator/memory/address_space.hpp"

namespace cudacore::simulator {

/// What an address is relative to.
enum class Space : std::uint8_t {
  generic,
  global,
  constant,  ///< 64-bit addresses, like those of global memory
  shared,    ///< from shared_begin; the rank of another block of the cluster + 1 above
             ///< cluster_rank_shift
  local,     ///< from local_begin
  param,     ///< from the first byte of the launch's parameters
};

enum class Access : std::uint8_t { read, write, update };

/// The location of a lane's bytes [address, address + size); nullptr after a fault.
///
/// @param align what the address must be a multiple of; 0 means size if that is a power of two up
/// to 32, as for a register or a vector of registers, and 1 otherwise.
[[nodiscard]] std::byte* resolve(Warp& warp, const Instruction& in, Space space,
                                 std::uint64_t address, std::size_t size, Access access,
                                 unsigned lane, std::size_t align = 0) noexcept;

/// The same for several lanes: at[i] for a lane i whose address is bases[i] + offset. Returns false
/// after a fault, which is that of the lowest faulting lane.
[[nodiscard]] bool resolve_lanes(Warp& warp, const Instruction& in, Space space,
                                 const std::uint64_t* bases, std::uint64_t offset,
                                 std::uint32_t lanes, std::size_t size, Access access,
                                 std::byte** at) noexcept;
/// With 32-bit bases; for shared and local memory, the sum also wraps at 32 bits.
[[nodiscard]] bool resolve_lanes(Warp& warp, const Instruction& in, Space space,
                                 const std::uint32_t* bases, std::uint64_t offset,
                                 std::uint32_t lanes, std::size_t size, Access access,
                                 std::byte** at) noexcept;

/// The thread's number in its block.
[[nodiscard, gnu::always_inline]] inline std::uint32_t thread_of(const Warp& warp,
                                                                 unsigned lane) noexcept {
  return warp.index * warp_size + lane;
}

/// The generic address for an address in a space; if the address is outside of the space, so is the
/// result.
[[nodiscard]] std::uint64_t to_generic(const Warp& warp, Space space, std::uint64_t address,
                                       unsigned lane) noexcept;
/// The reverse. The result for shared memory of another block in the cluster includes the block's
/// rank.
[[nodiscard]] std::uint64_t from_generic(const Warp& warp, Space space, std::uint64_t address,
                                         unsigned lane) noexcept;
/// The rank, in the cluster, of the block whose shared memory contains a generic address; -1 if
/// there is none.
[[nodiscard]] int rank_of_shared(const Block& block, std::uint64_t generic_address) noexcept;

/// The conditions under which a CachedRange is valid: the current allocations, and what this grid
/// may access.
[[nodiscard, gnu::always_inline]] inline std::uint64_t range_tag(const Block& block) noexcept {
  return AddressSpace::generation() ^ block.grid->access_key();
}

/// The allocation around an address, if this grid may access it, stored as the worker's range for
/// an instruction; nullptr if there is none.
[[nodiscard]] const CachedRange* find_range(const Warp& warp, const Instruction& in,
                                            std::uint64_t address) noexcept;

/// Where a worker remembers the range that an instruction used.
[[nodiscard, gnu::always_inline]] inline CachedRange& range_of(Worker& worker,
                                                               const Instruction& in) noexcept {
  return worker
      .ranges[(reinterpret_cast<std::uintptr_t>(&in) / sizeof(Instruction)) % worker.ranges.size()];
}

}  // namespace cudacore::simulator
