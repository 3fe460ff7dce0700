// SPDX-License-Identifier: Apache-2.0
#include <cub/warp/warp_exchange.cuh>
#include <cub/warp/warp_load.cuh>
#include <cub/warp/warp_merge_sort.cuh>
#include <cub/warp/warp_reduce.cuh>
#include <cub/warp/warp_scan.cuh>
#include <cub/warp/warp_store.cuh>

#include "cub_types.cuh"

template <class T, int width>
__global__ void reduce(const T* in, T* out) {
  using Reduce = cub::WarpReduce<T, width>;
  __shared__ typename Reduce::TempStorage storage[128 / width];
  const int thread = threadIdx.x;
  const int warp = thread / width;
  const bool first = thread % width == 0;
  const T item = in[thread];
  const int flag = thread * 5 % 7 < 2;
  const T sum = Reduce(storage[warp]).Sum(item);
  __syncwarp();
  const T largest = Reduce(storage[warp]).Reduce(item, Larger{});
  __syncwarp();
  const T some = Reduce(storage[warp]).Sum(item, (width + 1) / 2);
  __syncwarp();
  const T heads = Reduce(storage[warp]).HeadSegmentedSum(item, flag);
  __syncwarp();
  const T tails = Reduce(storage[warp]).TailSegmentedReduce(item, flag, Larger{});
  if (first) {
    out[warp * 3] = sum;
    out[warp * 3 + 1] = largest;
    out[warp * 3 + 2] = some;
  }
  // Only the first of a segment has its sum.
  if (first || flag) out[400 + thread] = heads;
  if (first || (thread - 1) * 5 % 7 < 2) out[528 + thread] = tails;
}

template <class T, int width>
__global__ void scan(const T* in, T* out) {
  using Scan = cub::WarpScan<T, width>;
  __shared__ typename Scan::TempStorage storage[128 / width];
  const int thread = threadIdx.x;
  const int warp = thread / width;
  const T item = in[thread];
  T inclusive, exclusive, total;
  Scan(storage[warp]).InclusiveSum(item, inclusive, total);
  __syncwarp();
  out[thread] = inclusive;
  out[128 + thread] = total;
  Scan(storage[warp]).ExclusiveScan(item, exclusive, in[0], Larger{});
  __syncwarp();
  out[256 + thread] = exclusive;
  Scan(storage[warp]).Scan(item, inclusive, exclusive, in[1], Larger{});
  __syncwarp();
  out[384 + thread] = inclusive;
  out[512 + thread] = exclusive;
  out[640 + thread] = Scan(storage[warp]).Broadcast(item, width / 2);
}

template <class T, int width, int each, cub::WarpExchangeAlgorithm algorithm>
__global__ void exchange(const T* in, T* out) {
  using Exchange = cub::WarpExchange<T, each, width, algorithm>;
  __shared__ typename Exchange::TempStorage storage[128 / width];
  const int warp = threadIdx.x / width;
  T items[each];
  T results[each];
  for (int i = 0; i < each; ++i) items[i] = in[threadIdx.x * each + i];
  Exchange(storage[warp]).StripedToBlocked(items, results);
  __syncwarp();
  for (int i = 0; i < each; ++i) out[threadIdx.x * each + i] = results[i];
  Exchange(storage[warp]).BlockedToStriped(items, results);
  for (int i = 0; i < each; ++i) out[(128 + threadIdx.x) * each + i] = results[i];
}

template <class T, int width, int each>
__global__ void merge_sort(const T* in, T* out) {
  using Sort = cub::WarpMergeSort<T, each, width>;
  __shared__ typename Sort::TempStorage storage[128 / width];
  const int warp = threadIdx.x / width;
  T keys[each];
  for (int i = 0; i < each; ++i) keys[i] = in[threadIdx.x * each + i];
  Sort(storage[warp]).Sort(keys, Less{});
  for (int i = 0; i < each; ++i) out[threadIdx.x * each + i] = keys[i];
}

template <class T, int width, int each, cub::WarpLoadAlgorithm loading,
          cub::WarpStoreAlgorithm storing>
__global__ void load_store(const T* in, T* out) {
  using Load = cub::WarpLoad<T, each, loading, width>;
  using Store = cub::WarpStore<T, each, storing, width>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage[128 / width];
  const int warp = threadIdx.x / width;
  const int base = warp * width * each;
  T items[each];
  Load(storage[warp].load).Load(in + base, items);
  __syncwarp();
  for (int i = 0; i < each; ++i) items[i] = items[i] + items[each - 1];
  Store(storage[warp].store).Store(out + base, items);
  __syncwarp();
  Load(storage[warp].load).Load(in + base, items, width * each - 9, in[3]);
  __syncwarp();
  Store(storage[warp].store).Store(out + 128 * each + base, items, width * each - 5);
}
