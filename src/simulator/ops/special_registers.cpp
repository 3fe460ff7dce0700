// SPDX-License-Identifier: Apache-2.0
#include <bit>
#include <chrono>
#include <cstdint>
#include <string>

#include "simulator/engine/block.hpp"
#include "simulator/engine/grid.hpp"
#include "simulator/engine/image.hpp"
#include "simulator/memory/round_up.hpp"
#include "simulator/ops/families.hpp"

namespace cudacore::simulator {
namespace {

/// Bytes of shared memory before the kernel's own: what the system reserves on a GPU.
constexpr std::uint32_t reserved_shared = shared_begin;
constexpr std::uint32_t most_warps = 64;  ///< per multiprocessor

const LaunchRequest& request_of(const Warp& warp) noexcept { return warp.block->grid->request(); }

/// Writes a value of each lane to op[0].
template <class T, auto value_of>
void read_lanes(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  T* const to = warp.row<T>(in.op[0]);
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    if ((lanes >> lane & 1) != 0) to[lane] = static_cast<T>(value_of(warp, lane));
  }
}

/// Writes a value that is the same for all lanes to op[0].
template <class T, auto value_of>
void read(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  const auto value = static_cast<T>(value_of(warp, in));
  T* const to = warp.row<T>(in.op[0]);
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    if ((lanes >> lane & 1) != 0) to[lane] = value;
  }
}

template <unsigned axis>
std::uint32_t tid(const Warp& warp, unsigned lane) {
  return warp.tid[axis][lane];
}
std::uint32_t lane_id(const Warp&, unsigned lane) { return lane; }
std::uint32_t mask_eq(const Warp&, unsigned lane) { return 1u << lane; }
std::uint32_t mask_lt(const Warp&, unsigned lane) { return (1u << lane) - 1; }
std::uint32_t mask_le(const Warp&, unsigned lane) { return (2u << lane) - 1; }
std::uint32_t mask_gt(const Warp&, unsigned lane) { return ~((2u << lane) - 1); }
std::uint32_t mask_ge(const Warp&, unsigned lane) { return ~((1u << lane) - 1); }

template <unsigned axis>
std::uint32_t of(const Dim3& shape) noexcept {
  return axis == 0 ? shape.x : axis == 1 ? shape.y : shape.z;
}
template <unsigned axis>
std::uint32_t ntid(const Warp& warp, const Instruction&) {
  return of<axis>(request_of(warp).block);
}
template <unsigned axis>
std::uint32_t ctaid(const Warp& warp, const Instruction&) {
  return of<axis>(warp.block->index);
}
template <unsigned axis>
std::uint32_t nctaid(const Warp& warp, const Instruction&) {
  return of<axis>(request_of(warp).grid);
}
template <unsigned axis>
std::uint32_t cluster_shape(const Warp& warp, const Instruction&) {
  return of<axis>(request_of(warp).cluster);
}
template <unsigned axis>
std::uint32_t clusterid(const Warp& warp, const Instruction& in) {
  return ctaid<axis>(warp, in) / cluster_shape<axis>(warp, in);
}
template <unsigned axis>
std::uint32_t nclusterid(const Warp& warp, const Instruction& in) {
  return nctaid<axis>(warp, in) / cluster_shape<axis>(warp, in);
}
template <unsigned axis>
std::uint32_t cluster_ctaid(const Warp& warp, const Instruction& in) {
  return ctaid<axis>(warp, in) % cluster_shape<axis>(warp, in);
}
std::uint32_t cluster_rank(const Warp& warp, const Instruction&) {
  return warp.block->cluster_rank;
}
std::uint32_t cluster_size(const Warp& warp, const Instruction&) {
  return static_cast<std::uint32_t>(request_of(warp).cluster.count());
}
void is_explicit_cluster(Warp& warp, const Instruction& in) {
  const LaunchRequest& request = request_of(warp);
  const bool is = request.entry->explicit_cluster || request.cluster.count() > 1;
  warp.set_mask(in.op[0], warp.enabled(in), is ? all_lanes : 0);
}

std::uint32_t warp_id(const Warp& warp, const Instruction&) { return warp.index; }
std::uint32_t block_number(const Warp& warp) noexcept {
  const Dim3& grid = request_of(warp).grid;
  const Dim3& at = warp.block->index;
  return at.x + grid.x * (at.y + grid.y * at.z);
}
std::uint32_t sm_id(const Warp& warp, const Instruction&) {
  const std::uint32_t count = request_of(warp).multiprocessors;
  return count == 0 ? 0 : block_number(warp) % count;
}
std::uint32_t sm_count(const Warp& warp, const Instruction&) {
  return request_of(warp).multiprocessors;
}
std::uint64_t grid_id(const Warp& warp, const Instruction&) { return request_of(warp).grid_id; }

std::uint64_t clock_now(const Warp&, const Instruction&) {
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
}
std::uint64_t timer_now(const Warp&, const Instruction&) {
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                        std::chrono::system_clock::now().time_since_epoch())
                                        .count());
}
template <auto now>
std::uint32_t high_half(const Warp& warp, const Instruction& in) {
  return static_cast<std::uint32_t>(now(warp, in) >> 32);
}

template <std::uint32_t value>
std::uint32_t constant(const Warp&, const Instruction&) {
  return value;
}
std::uint32_t dynamic_shared_bytes(const Warp& warp, const Instruction&) {
  return request_of(warp).dynamic_shared;
}
std::uint32_t total_shared_bytes(const Warp& warp, const Instruction&) {
  return warp.block->shared_bytes;
}
std::uint32_t all_shared_bytes(const Warp& warp, const Instruction&) {
  return warp.block->shared_bytes + reserved_shared;
}

/// The address of the memory with which the blocks of a cooperative grid synchronize is in two
/// environment registers, high half first.
std::uint32_t workspace_high(const Warp& warp, const Instruction&) {
  return static_cast<std::uint32_t>(warp.block->grid->workspace() >> 32);
}
std::uint32_t workspace_low(const Warp& warp, const Instruction&) {
  return static_cast<std::uint32_t>(warp.block->grid->workspace());
}

std::uint64_t parameters(const Warp& warp, const Instruction&) {
  return reinterpret_cast<std::uint64_t>(request_of(warp).parameters.data());
}
std::uint64_t local(const Warp& warp, const Instruction& in) {
  return warp.frame->local_base + in.imm;
}
std::uint64_t dynamic_shared(const Warp& warp, const Instruction& in) {
  return shared_begin + round_up(request_of(warp).entry->shared_bytes, 16u) + in.imm;
}

template <auto value_of>
void add(FormTable& table, const char* name) {
  table.add({"special.", name}, "w", read<std::uint32_t, value_of>);
}
template <auto value_of>
void add_wide(FormTable& table, const char* name) {
  table.add({"special.", name}, "x", read<std::uint64_t, value_of>);
}
template <auto value_of>
void add_lanes(FormTable& table, const char* name) {
  table.add({"special.", name}, "w", read_lanes<std::uint32_t, value_of>);
}

template <unsigned axis>
void add_axis(FormTable& table, const char* letter) {
  table.add({"special.%tid.", letter}, "w", read_lanes<std::uint32_t, tid<axis>>);
  table.add({"special.%ntid.", letter}, "w", read<std::uint32_t, ntid<axis>>);
  table.add({"special.%ctaid.", letter}, "w", read<std::uint32_t, ctaid<axis>>);
  table.add({"special.%nctaid.", letter}, "w", read<std::uint32_t, nctaid<axis>>);
  table.add({"special.%clusterid.", letter}, "w", read<std::uint32_t, clusterid<axis>>);
  table.add({"special.%nclusterid.", letter}, "w", read<std::uint32_t, nclusterid<axis>>);
  table.add({"special.%cluster_ctaid.", letter}, "w", read<std::uint32_t, cluster_ctaid<axis>>);
  table.add({"special.%cluster_nctaid.", letter}, "w", read<std::uint32_t, cluster_shape<axis>>);
}

}  // namespace

void add_special_registers(FormTable& table) {
  add_axis<0>(table, "x");
  add_axis<1>(table, "y");
  add_axis<2>(table, "z");
  add_lanes<lane_id>(table, "%laneid");
  add_lanes<mask_eq>(table, "%lanemask_eq");
  add_lanes<mask_le>(table, "%lanemask_le");
  add_lanes<mask_lt>(table, "%lanemask_lt");
  add_lanes<mask_ge>(table, "%lanemask_ge");
  add_lanes<mask_gt>(table, "%lanemask_gt");
  add<warp_id>(table, "%warpid");
  add<constant<most_warps>>(table, "%nwarpid");
  add<sm_id>(table, "%smid");
  add<sm_count>(table, "%nsmid");
  add_wide<grid_id>(table, "%gridid");
  add<cluster_rank>(table, "%cluster_ctarank");
  add<cluster_size>(table, "%cluster_nctarank");
  table.add({"special.%is_explicit_cluster"}, "p", is_explicit_cluster);

  add<clock_now>(table, "%clock");
  add<high_half<clock_now>>(table, "%clock_hi");
  add_wide<clock_now>(table, "%clock64");
  add_wide<timer_now>(table, "%globaltimer");
  add<timer_now>(table, "%globaltimer_lo");
  add<high_half<timer_now>>(table, "%globaltimer_hi");

  add<dynamic_shared_bytes>(table, "%dynamic_smem_size");
  add<total_shared_bytes>(table, "%total_smem_size");
  add<all_shared_bytes>(table, "%aggr_smem_size");
  add<constant<0>>(table, "%reserved_smem_offset_begin");
  add<constant<reserved_shared>>(table, "%reserved_smem_offset_end");
  add<constant<reserved_shared>>(table, "%reserved_smem_offset_cap");
  add<constant<0>>(table, "%reserved_smem_offset_0");

  for (unsigned i = 0; i < 32; ++i) {
    const std::string name = "%envreg" + std::to_string(i);
    if (i == 1) {
      add<workspace_high>(table, name.c_str());
    } else if (i == 2) {
      add<workspace_low>(table, name.c_str());
    } else {
      add<constant<0>>(table, name.c_str());
    }
  }
  for (unsigned i = 0; i < 8; ++i) {
    add<constant<0>>(table, ("%pm" + std::to_string(i)).c_str());
    add_wide<constant<0>>(table, ("%pm" + std::to_string(i) + "_64").c_str());
  }

  add_wide<parameters>(table, "%param_base");
  for (const char* const name : {"local", "%local"}) {
    add<local>(table, name);
    add_wide<local>(table, name);
  }
  for (const char* const name : {"dynamic_shared", "%dynamic_shared"}) {
    add<dynamic_shared>(table, name);
    add_wide<dynamic_shared>(table, name);
  }
}

}  // namespace cudacore::simulator
