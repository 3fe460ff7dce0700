// SPDX-License-Identifier: Apache-2.0
#include <cub/block/block_merge_sort.cuh>
#include <cub/block/block_radix_sort.cuh>

#include "cub_types.cuh"

template <class T, int threads, int each>
__global__ void radix_sort(const T* in, T* out) {
  using Sort = cub::BlockRadixSort<T, threads, each>;
  __shared__ typename Sort::TempStorage storage;
  constexpr int count = threads * each;
  const int base = threadIdx.x * each;
  T keys[each];
  for (int i = 0; i < each; ++i) keys[i] = in[base + i];
  Sort(storage).Sort(keys);
  __syncthreads();
  for (int i = 0; i < each; ++i) out[base + i] = keys[i];
  for (int i = 0; i < each; ++i) keys[i] = in[base + i];
  Sort(storage).SortDescendingBlockedToStriped(keys);
  for (int i = 0; i < each; ++i) out[count + i * threads + threadIdx.x] = keys[i];
}

template <class T, int threads, int each>
__global__ void radix_sort_pairs(const T* in, T* out, u32* places) {
  using Sort = cub::BlockRadixSort<T, threads, each, u32>;
  __shared__ typename Sort::TempStorage storage;
  const int base = threadIdx.x * each;
  T keys[each];
  u32 values[each];
  for (int i = 0; i < each; ++i) {
    keys[i] = in[base + i];
    values[i] = base + i;
  }
  Sort(storage).Sort(keys, values);
  for (int i = 0; i < each; ++i) {
    out[base + i] = keys[i];
    places[base + i] = values[i];
  }
}

template <int begin, int end>
__global__ void radix_sort_bits(const u32* in, u32* out) {
  using Sort = cub::BlockRadixSort<u32, 64, 3>;
  __shared__ typename Sort::TempStorage storage;
  u32 keys[3];
  for (int i = 0; i < 3; ++i) keys[i] = in[threadIdx.x * 3 + i];
  Sort(storage).Sort(keys, begin, end);
  for (int i = 0; i < 3; ++i) out[threadIdx.x * 3 + i] = keys[i];
}

__global__ void radix_sort_struct(const Pair* in, Pair* out) {
  using Sort = cub::BlockRadixSort<Pair, 128, 2>;
  __shared__ typename Sort::TempStorage storage;
  Pair keys[2];
  for (int i = 0; i < 2; ++i) keys[i] = in[threadIdx.x * 2 + i];
  Sort(storage).Sort(keys, PairKey{});
  for (int i = 0; i < 2; ++i) out[threadIdx.x * 2 + i] = keys[i];
}

template <class T, int threads, int each>
__global__ void merge_sort(const T* in, T* out, u32* places) {
  using Keys = cub::BlockMergeSort<T, threads, each>;
  using Pairs = cub::BlockMergeSort<T, threads, each, u32>;
  __shared__ union {
    typename Keys::TempStorage keys;
    typename Pairs::TempStorage pairs;
  } storage;
  constexpr int count = threads * each;
  const int base = threadIdx.x * each;
  T keys[each];
  u32 values[each];
  for (int i = 0; i < each; ++i) keys[i] = in[base + i];
  Keys(storage.keys).Sort(keys, Less{});
  for (int i = 0; i < each; ++i) out[base + i] = keys[i];
  __syncthreads();
  for (int i = 0; i < each; ++i) {
    keys[i] = in[base + i];
    values[i] = base + i;
  }
  T largest = in[0];
  for (int i = 1; i < count; ++i) largest = Less{}(largest, in[i]) ? in[i] : largest;
  Pairs(storage.pairs).StableSort(keys, values, Less{}, count - 19, largest);
  for (int i = 0; i < each; ++i) {
    if (base + i < count - 19) {
      out[count + base + i] = keys[i];
      places[base + i] = values[i];
    }
  }
}
