// SPDX-License-Identifier: Apache-2.0
#include <cub/block/block_scan.cuh>

#include "cub_types.cuh"

template <class T>
struct Running {
  T total;
  __device__ T operator()(T aggregate) {
    const T before = total;
    total = total + aggregate;
    return before;
  }
};

template <class T, cub::BlockScanAlgorithm algorithm, int threads>
__global__ void scan(const T* in, T* out) {
  using Scan = cub::BlockScan<T, threads, algorithm>;
  __shared__ typename Scan::TempStorage storage;
  constexpr int count = threads * 4;
  const int base = threadIdx.x * 4;
  T items[4];
  T results[4];
  for (int i = 0; i < 4; ++i) items[i] = in[base + i];
  T total;
  Scan(storage).ExclusiveSum(items, results, total);
  __syncthreads();
  for (int i = 0; i < 4; ++i) out[base + i] = results[i];
  Scan(storage).InclusiveSum(items, results);
  __syncthreads();
  for (int i = 0; i < 4; ++i) out[count + base + i] = results[i];
  Scan(storage).InclusiveScan(items, results, Larger{});
  __syncthreads();
  for (int i = 0; i < 4; ++i) out[2 * count + base + i] = results[i];
  Scan(storage).ExclusiveScan(items, results, in[0], Larger{});
  __syncthreads();
  for (int i = 0; i < 4; ++i) out[3 * count + base + i] = results[i];
  Running<T> running{total};
  for (int part = 0; part < 2; ++part) {
    T one = items[part];
    Scan(storage).ExclusiveSum(one, one, running);
    __syncthreads();
    out[4 * count + part * threads + threadIdx.x] = one;
  }
}
