// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: tiles, coalesced and partitioned groups, collectives over them.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

template <int size>
__global__ void tile(const int* in, int* out) {
  const auto group = cg::tiled_partition<size>(cg::this_thread_block());
  const int i = threadIdx.x;
  const int value = in[i];
  out[i] = group.thread_rank() + 100 * group.meta_group_rank() + 10000 * group.meta_group_size();
  out[128 + i] = group.shfl(value, size / 2);
  out[256 + i] = group.shfl_down(value, 1);
  out[384 + i] = group.shfl_up(value, 2);
  out[512 + i] = group.shfl_xor(value, size - 1);
  out[640 + i] = group.any(value > 0) + 2 * group.all(value > 0) + 4 * group.ballot(value % 2);
  out[768 + i] = group.match_any(value % 3);
  group.sync();
  out[896 + i] = cg::reduce(group, value, cg::plus<int>());
  out[1024 + i] = cg::reduce(group, value, cg::greater<int>());
  out[1152 + i] = cg::reduce(group, value, cg::bit_xor<int>());
  out[1280 + i] = cg::inclusive_scan(group, value);
  out[1408 + i] = cg::exclusive_scan(group, value, cg::bit_or<int>());
  out[1536 + i] = cg::reduce(group, value, [](int a, int b) { return a * 3 + b; });
}

template <int size>
__global__ void big_tile(const int* in, int* out) {
  __shared__ cg::block_tile_memory<256> memory;
  const auto block = cg::this_thread_block(memory);
  const auto group = cg::tiled_partition<size>(block);
  const int i = threadIdx.x;
  out[i] = cg::reduce(group, in[i], cg::plus<int>());
  group.sync();
  out[256 + i] = group.shfl(in[i], size - 3);
  out[512 + i] = group.any(in[i] > 1000000000) + 2 * group.all(in[i] != 0);
  out[768 + i] = cg::inclusive_scan(group, in[i], cg::plus<int>());
}

template <class T>
__global__ void reduce_types(const T* in, T* out) {
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const int i = threadIdx.x;
  out[i] = cg::reduce(warp, in[i], cg::plus<T>());
  out[128 + i] = cg::reduce(warp, in[i], cg::less<T>());
  out[256 + i] = cg::inclusive_scan(warp, in[i]);
}

__global__ void coalesced(const int* in, int* out) {
  const int i = threadIdx.x;
  const int value = in[i];
  if (value % 3 != 0) {
    const cg::coalesced_group group = cg::coalesced_threads();
    out[i] = group.thread_rank() + 100 * group.size();
    out[128 + i] = group.shfl(value, 0);
    out[256 + i] = group.shfl_up(value, 1);
    out[384 + i] = group.shfl_down(value, 2);
    out[512 + i] = cg::reduce(group, value, cg::plus<int>());
    out[640 + i] = cg::inclusive_scan(group, value, cg::plus<int>());
    out[768 + i] = group.ballot(value > 0);
    group.sync();
    const auto parts = cg::labeled_partition(group, i % 5);
    out[896 + i] = cg::reduce(parts, value, cg::greater<int>()) ^ parts.size();
  }
}

__global__ void partitions(const int* in, int* out) {
  const int i = threadIdx.x;
  const int value = in[i];
  const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
  const auto labeled = cg::labeled_partition(warp, value % 4);
  out[i] = labeled.thread_rank() + 100 * labeled.size() + 10000 * labeled.meta_group_rank();
  out[128 + i] = cg::reduce(labeled, value, cg::plus<int>());
  const auto halves = cg::binary_partition(warp, value > 0);
  out[256 + i] = halves.thread_rank() + 100 * halves.size();
  out[384 + i] = cg::exclusive_scan(halves, value);
  const auto quarter = cg::tiled_partition(cg::this_thread_block(), 8);
  out[512 + i] = quarter.thread_rank() + 100 * quarter.size();
  quarter.sync();
  cg::invoke_one(halves, [&] { atomicAdd(&out[640 + i / 32], static_cast<int>(halves.size())); });
}

__global__ void block(const int* in, int* out) {
  const auto block = cg::this_thread_block();
  const int i = static_cast<int>(block.thread_rank());
  const dim3 at = block.thread_index();
  const dim3 extents = block.dim_threads();
  out[i] = at.x + 100 * at.y + 10000 * at.z + extents.x * extents.y * 7;
  __shared__ int data[128];
  cg::memcpy_async(block, data, in, sizeof(data));
  cg::wait(block);
  out[128 + i] = data[127 - i];
  block.sync();
  cg::memcpy_async(block, data, 100, in + 3, 90);
  cg::wait_prior<0>(block);
  out[256 + i] = i < 90 ? data[i] : 0;
  auto token = block.barrier_arrive();
  block.barrier_wait(cuda::std::move(token));
  const auto tile = cg::tiled_partition<16>(block);
  cg::memcpy_async(tile, data + tile.meta_group_rank() * 16, in + tile.meta_group_rank() * 16,
                   sizeof(int) * 16);
  cg::wait(tile);
  out[384 + i] = data[i ^ 5];
}

__global__ void grid(const int* in, int* out) {
  const auto grid = cg::this_grid();
  const int i = static_cast<int>(grid.thread_rank());
  const int count = static_cast<int>(grid.size());
  int value = in[i];
  int* scratch = out + count;
  for (int step = 0; step < 4; ++step) {
    scratch[i] = value;
    grid.sync();
    value = value * 3 + scratch[(i * 37 + step) % count];
    grid.sync();
  }
  out[i] = value + grid.block_rank() + grid.num_blocks();
}

#if __CUDA_ARCH__ >= 900
__global__ void cluster(const int* in, int* out) {
  const auto cluster = cg::this_cluster();
  __shared__ int data[64];
  const int i = static_cast<int>(cluster.thread_rank());
  const int at = blockIdx.x * 64 + threadIdx.x;
  data[threadIdx.x] = in[at];
  cluster.sync();
  const unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
  const int* other = cluster.map_shared_rank(data, next);
  out[at] = other[63 - threadIdx.x] + i + 1000 * cluster.query_shared_rank(other);
  const int value = data[threadIdx.x];
  auto token = cluster.barrier_arrive();
  cluster.barrier_wait(cuda::std::move(token));
  atomicAdd(cluster.map_shared_rank(data, 0), value);
  cluster.sync();
  out[256 + at] = threadIdx.x == 0 ? data[0] : 0;
}
#endif
