// SPDX-License-Identifier: Apache-2.0
#include <cub/block/block_load.cuh>
#include <cub/block/block_store.cuh>

#include "cub_types.cuh"

template <class T, cub::BlockLoadAlgorithm loading, cub::BlockStoreAlgorithm storing, int threads,
          int each>
__global__ void load_store(const T* in, T* out) {
  using Load = cub::BlockLoad<T, threads, each, loading>;
  using Store = cub::BlockStore<T, threads, each, storing>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Store::TempStorage store;
  } storage;
  constexpr int count = threads * each;
  T items[each];
  // Whole tiles, and one that ends early.
  Load(storage.load).Load(const_cast<T*>(in), items);
  __syncthreads();
  for (int i = 0; i < each; ++i) items[i] = items[i] + items[each - 1];
  Store(storage.store).Store(out, items);
  __syncthreads();
  Load(storage.load).Load(in + count, items, count - 45, in[3]);
  __syncthreads();
  for (int i = 0; i + 1 < each; ++i) items[i] = items[i] + items[i + 1];
  Store(storage.store).Store(out + count, items, count - 21);
}
