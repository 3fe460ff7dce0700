// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/block.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include "simulator/engine/image.hpp"
#include "simulator/engine/warp_run.hpp"
#include "simulator/memory/round_up.hpp"

namespace cudacore::simulator {
namespace {

constexpr std::size_t most_kept_clusters = 4;

/// The stack that calls need in addition to their variables, if the depth is known.
constexpr std::uint32_t room_for_calls = 1024;

std::uint32_t shared_bytes_of(const LaunchRequest& request) noexcept {
  return round_up(request.entry->shared_bytes, 16u) + request.dynamic_shared;
}

/// Released clusters of this host thread; the last one used is at the end.
std::vector<std::unique_ptr<ResidentCluster>>& kept() {
  thread_local std::vector<std::unique_ptr<ResidentCluster>> clusters;
  return clusters;
}

bool same(const Dim3& a, const Dim3& b) noexcept { return a.x == b.x && a.y == b.y && a.z == b.z; }

bool fits(const ResidentCluster& cluster, const LaunchRequest& request) noexcept {
  const ResidentBlock& first = *cluster.resident.front();
  return cluster.entry == request.entry && same(cluster.threads, request.block) &&
         same(cluster.shape, request.cluster) && first.shared_bytes == shared_bytes_of(request) &&
         first.local_stride == local_bytes_of(request) &&
         !cluster.image.owner_before(request.image) && !request.image.owner_before(cluster.image);
}

void number_threads(Block& block, const Dim3& shape) noexcept {
  for (std::uint32_t thread = 0; thread < block.threads; ++thread) {
    Warp& warp = block.warps[thread / warp_size];
    const unsigned lane = thread % warp_size;
    warp.tid[0][lane] = thread % shape.x;
    warp.tid[1][lane] = thread / shape.x % shape.y;
    warp.tid[2][lane] = thread / shape.x / shape.y;
  }
}

std::unique_ptr<ResidentBlock> make_block(const LaunchRequest& request) {
  auto block = std::make_unique<ResidentBlock>();
  block->threads = static_cast<std::uint32_t>(request.block.count());
  block->shared_bytes = shared_bytes_of(request);
  block->shared_memory = aligned_bytes(std::max<std::size_t>(block->shared_bytes, 1));
  block->shared = block->shared_memory.get();
  block->local_stride = local_bytes_of(request);
  block->local_memory = aligned_bytes(std::size_t{block->local_stride} * block->threads);
  block->local = block->local_memory.get();
  const std::size_t warps = (block->threads + warp_size - 1) / warp_size;
  block->warps = std::vector<Warp>(warps);
  block->states = std::vector<WarpState>(warps);
  for (std::uint32_t i = 0; i < warps; ++i) {
    block->warps[i].block = block.get();
    block->warps[i].index = i;
    block->warps[i].groups.reserve(warp_size);
  }
  number_threads(*block, request.block);
  return block;
}

std::unique_ptr<ResidentCluster> make_cluster(const LaunchRequest& request) {
  auto cluster = std::make_unique<ResidentCluster>();
  cluster->image = request.image;
  cluster->entry = request.entry;
  cluster->threads = request.block;
  cluster->shape = request.cluster;
  const auto count = static_cast<std::uint32_t>(request.cluster.count());
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    cluster->resident.push_back(make_block(request));
    ResidentBlock& block = *cluster->resident.back();
    block.home = cluster.get();
    block.cluster = count > 1 ? cluster.get() : nullptr;
    block.cluster_rank = rank;
    cluster->blocks.push_back(&block);
  }
  return cluster;
}

void start_block(ResidentBlock& block, Grid& grid, Worker& worker) {
  const Function& entry = *grid.request().entry;
  const std::uint32_t align = std::max<std::uint32_t>(entry.local_align, 1);
  block.grid = &grid;
  block.living = block.threads;
  block.barriers.fill(Barrier{});
  block.next_warp = 0;
  block.idle = 0;
  block.asleep = 0;
  const auto warps = static_cast<std::uint32_t>(block.warps.size());
  block.ready = warps == warp_size ? all_lanes : (1u << warps) - 1;
  for (Warp& warp : block.warps) {
    WarpState& state = block.states[warp.index];
    Frame* const frame = state.frames.take(entry);
    if (frame == nullptr) throw std::bad_alloc();
    const std::uint32_t lanes = std::min(warp_size, block.threads - warp.index * warp_size);
    const std::uint32_t mask = lanes == warp_size ? all_lanes : (1u << lanes) - 1;
    frame->caller = nullptr;
    frame->call = nullptr;
    frame->lanes = mask;
    frame->depth = 0;
    frame->local_base = round_up(local_begin, align);
    frame->local_top = frame->local_base + entry.local_bytes;
    warp.frame = frame;
    warp.rows = frame->rows;
    warp.pc = entry.code.data();
    warp.active = mask;
    warp.living = mask;
    warp.worker = &worker;
    warp.groups.clear();
    state.favoured = all_lanes;
    state.next_favoured = 0;
    state.turn = longest_turn;
    state.cluster_arrived = 0;
  }
}

/// Frees all frames but a few. Returns the size of what remains.
std::size_t trim(const ResidentCluster& cluster) noexcept {
  std::size_t bytes = 0;
  for (const auto& block : cluster.resident) {
    bytes += block->shared_bytes + std::size_t{block->local_stride} * block->threads;
    for (WarpState& state : block->states) {
      state.frames.trim();
      bytes += state.frames.bytes();
    }
  }
  return bytes;
}

}  // namespace

std::uint32_t local_bytes_of(const LaunchRequest& request) noexcept {
  const Function& entry = *request.entry;
  const std::uint32_t known = std::max(entry.stack_bytes, entry.local_bytes) + entry.local_align;
  const std::uint32_t bytes =
      std::max(request.stack_bytes, entry.recursive ? known : known + room_for_calls);
  return round_up(bytes, 64u);
}

std::unique_ptr<ResidentCluster> make_resident(Grid& grid, std::uint64_t index, Worker& worker) {
  const LaunchRequest& request = grid.request();
  std::unique_ptr<ResidentCluster> cluster;
  auto& clusters = kept();
  for (auto it = clusters.rbegin(); it != clusters.rend(); ++it) {
    if (!fits(**it, request)) continue;
    cluster = std::move(*it);
    clusters.erase(std::next(it).base());
    break;
  }
  if (cluster == nullptr) cluster = make_cluster(request);

  const Dim3& shape = request.cluster;
  const std::uint64_t across = request.grid.x / shape.x;
  const std::uint64_t down = request.grid.y / shape.y;
  const Dim3 corner{static_cast<std::uint32_t>(index % across) * shape.x,
                    static_cast<std::uint32_t>(index / across % down) * shape.y,
                    static_cast<std::uint32_t>(index / across / down) * shape.z};
  cluster->arrived = 0;
  for (const auto& block : cluster->resident) {
    const std::uint32_t rank = block->cluster_rank;
    block->index = Dim3{corner.x + rank % shape.x, corner.y + rank / shape.x % shape.y,
                        corner.z + rank / shape.x / shape.y};
    start_block(*block, grid, worker);
  }
  return cluster;
}

void release_resident(std::unique_ptr<ResidentCluster> cluster) noexcept {
  cluster->bytes = trim(*cluster);
  if (cluster->bytes > most_kept_bytes) return;
  auto& clusters = kept();
  while (clusters.size() == most_kept_clusters || kept_bytes() + cluster->bytes > most_kept_bytes) {
    clusters.erase(clusters.begin());
  }
  try {
    clusters.reserve(most_kept_clusters);
    clusters.push_back(std::move(cluster));
  } catch (const std::bad_alloc&) {
    // Not kept.
  }
}

std::size_t kept_bytes() noexcept {
  std::size_t bytes = 0;
  for (const auto& cluster : kept()) bytes += cluster->bytes;
  return bytes;
}

}  // namespace cudacore::simulator
