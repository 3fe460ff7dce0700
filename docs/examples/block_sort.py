# SPDX-License-Identifier: Apache-2.0
"""Sort: CUB's block-wide radix sort, chosen and compiled from Python."""

import numpy as np
from cudacore import Device, Program

SOURCE = """
#include <cub/block/block_load.cuh>
#include <cub/block/block_radix_sort.cuh>
#include <cub/block/block_store.cuh>

// Each block sorts a row of threads * items keys, and says where each key was.
template <typename Key, int threads, int items>
__global__ void __launch_bounds__(threads) sort_rows(Key* rows, int* places) {
  using Load = cub::BlockLoad<Key, threads, items, cub::BLOCK_LOAD_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<Key, threads, items, int>;
  using Store = cub::BlockStore<Key, threads, items, cub::BLOCK_STORE_TRANSPOSE>;
  using StorePlaces = cub::BlockStore<int, threads, items, cub::BLOCK_STORE_TRANSPOSE>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
    typename Store::TempStorage store;
    typename StorePlaces::TempStorage store_places;
  } shared;

  const size_t first = blockIdx.x * size_t(threads * items);
  Key keys[items];
  int values[items];
  Load(shared.load).Load(rows + first, keys);
  for (int i = 0; i < items; ++i) values[i] = threadIdx.x * items + i;
  __syncthreads();
  Sort(shared.sort).Sort(keys, values);
  __syncthreads();
  Store(shared.store).Store(rows + first, keys);
  __syncthreads();
  StorePlaces(shared.store_places).Store(places + first, values);
}
"""
THREADS, ITEMS, ROWS = 128, 8, 50
name = f"sort_rows<float, {THREADS}, {ITEMS}>"
sort_rows = Program(SOURCE, "c++").compile(name_expressions=[name]).get_kernel(name)

rows = np.random.default_rng(0).normal(size=(ROWS, THREADS * ITEMS)).astype("float32")

device = Device()
d_rows, places = device.to_device(rows), device.allocate(rows.size * 4)
sort_rows[ROWS, THREADS](d_rows, places)

np.testing.assert_array_equal(d_rows.to_host("float32", rows.shape), np.sort(rows))
np.testing.assert_array_equal(places.to_host("int32", rows.shape), np.argsort(rows, kind="stable"))
print(
    f"{ROWS} rows of {rows.shape[1]} keys: sorted, and agree with NumPy; "
    f"{sort_rows.attributes.shared_size_bytes} bytes of shared memory per block"
)
