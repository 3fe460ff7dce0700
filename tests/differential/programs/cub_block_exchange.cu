// SPDX-License-Identifier: Apache-2.0
#include <cub/block/block_exchange.cuh>
#include <cub/block/block_shuffle.cuh>

#include "cub_types.cuh"

template <class T, int threads, int each, bool sliced>
__global__ void exchange(const T* in, T* out) {
  using Exchange = cub::BlockExchange<T, threads, each, sliced>;
  __shared__ typename Exchange::TempStorage storage;
  constexpr int count = threads * each;
  T items[each];
  T results[each];
  int ranks[each];
  for (int i = 0; i < each; ++i) {
    const int place = threadIdx.x * each + i;
    items[i] = in[place];
    ranks[i] = (place * 7 + 3) % count;  // 7 has no divisor in common with any count here.
  }
  const auto keep = [&](int part) {
    __syncthreads();
    for (int i = 0; i < each; ++i) out[part * count + threadIdx.x * each + i] = results[i];
  };
  Exchange(storage).StripedToBlocked(items, results);
  keep(0);
  Exchange(storage).BlockedToStriped(items, results);
  keep(1);
  Exchange(storage).WarpStripedToBlocked(items, results);
  keep(2);
  Exchange(storage).BlockedToWarpStriped(items, results);
  keep(3);
  Exchange(storage).ScatterToBlocked(items, results, ranks);
  keep(4);
  Exchange(storage).ScatterToStriped(items, results, ranks);
  keep(5);
  if constexpr (!sliced) {  // Storage for one slice does not do for this one.
    for (int i = 0; i < each; ++i) {
      if (i == 1) ranks[i] = -1;
      results[i] = items[i];
    }
    Exchange(storage).ScatterToStripedGuarded(items, results, ranks);
    for (int i = 0; i < each; ++i) {
      const int place = i * threads + threadIdx.x;
      // What no item went to has no value.
      bool written = false;
      for (int from = 0; from < count; ++from) {
        written |= from % each != 1 && (from * 7 + 3) % count == place;
      }
      if (written) out[6 * count + place] = results[i];
    }
  }
}

template <class T, int threads>
__global__ void shuffle(const T* in, T* out) {
  using Shuffle = cub::BlockShuffle<T, threads>;
  __shared__ typename Shuffle::TempStorage storage;
  const int thread = threadIdx.x;
  const T item = in[thread];
  T result = in[0];
  Shuffle(storage).Offset(item, result, -3);
  __syncthreads();
  out[thread] = result;
  Shuffle(storage).Rotate(item, result, 5);
  __syncthreads();
  out[threads + thread] = result;
  T items[3] = {item, in[thread + 1], in[thread + 2]};
  T results[3] = {in[0], in[0], in[0]};
  T edge = in[0];
  Shuffle(storage).Up(items, results, edge);
  __syncthreads();
  for (int i = 0; i < 3; ++i) {
    if (thread + i > 0) out[2 * threads + thread * 3 + i] = results[i];
  }
  Shuffle(storage).Down(items, results);
  for (int i = 0; i < 3; ++i) {
    if (thread + 1 < threads || i < 2) out[5 * threads + thread * 3 + i] = results[i];
  }
}
