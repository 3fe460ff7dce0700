// SPDX-License-Identifier: Apache-2.0
#include <cub/block/block_reduce.cuh>

#include "cub_types.cuh"

template <class T, cub::BlockReduceAlgorithm algorithm, int x, int y = 1, int z = 1>
__global__ void reduce(const T* in, T* out) {
  using Reduce = cub::BlockReduce<T, x, algorithm, y, z>;
  __shared__ typename Reduce::TempStorage storage;
  const int thread = (threadIdx.z * y + threadIdx.y) * x + threadIdx.x;
  T items[4];
  for (int i = 0; i < 4; ++i) items[i] = in[thread * 4 + i];
  const T sum = Reduce(storage).Sum(items);
  __syncthreads();
  const T largest = Reduce(storage).Reduce(items[0], Larger{});
  __syncthreads();
  const T some = Reduce(storage).Sum(items[0], x * y * z - 37);
  __syncthreads();
  const T few = Reduce(storage).Reduce(items[1], Larger{}, 3);
  if (thread == 0) {
    out[0] = sum;
    out[1] = largest;
    out[2] = some;
    out[3] = few;
  }
}
