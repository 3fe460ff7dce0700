// SPDX-License-Identifier: Apache-2.0
#include <cub/block/block_adjacent_difference.cuh>
#include <cub/block/block_discontinuity.cuh>
#include <cub/block/block_histogram.cuh>
#include <cub/block/block_radix_rank.cuh>
#include <cub/block/block_run_length_decode.cuh>
#include <cub/block/radix_rank_sort_operations.cuh>

#include "cub_types.cuh"

template <cub::BlockHistogramAlgorithm algorithm, int threads, int each>
__global__ void histogram(const u8* in, u32* out) {
  using Histogram = cub::BlockHistogram<u8, threads, each, 256, algorithm>;
  __shared__ typename Histogram::TempStorage storage;
  __shared__ u32 counts[256];
  u8 items[each];
  for (int i = 0; i < each; ++i) items[i] = in[threadIdx.x * each + i];
  Histogram(storage).Histogram(items, counts);
  __syncthreads();
  for (int i = 0; i < each; ++i) items[i] = items[i] / 3;
  Histogram(storage).Composite(items, counts);
  __syncthreads();
  for (int i = threadIdx.x; i < 256; i += threads) out[i] = counts[i];
}

template <class T, int threads, int each>
__global__ void discontinuity(const T* in, u8* out) {
  using Discontinuity = cub::BlockDiscontinuity<T, threads>;
  __shared__ typename Discontinuity::TempStorage storage;
  constexpr int count = threads * each;
  const int base = threadIdx.x * each;
  T items[each];
  bool heads[each];
  bool tails[each];
  for (int i = 0; i < each; ++i) items[i] = in[(base + i) / 3 % 7];
  Discontinuity(storage).FlagHeads(heads, items, Unequal{});
  __syncthreads();
  for (int i = 0; i < each; ++i) out[base + i] = heads[i];
  Discontinuity(storage).FlagTails(tails, items, Unequal{}, in[0]);
  __syncthreads();
  for (int i = 0; i < each; ++i) out[count + base + i] = tails[i];
  Discontinuity(storage).FlagHeadsAndTails(heads, in[0], tails, in[1], items, Unequal{});
  for (int i = 0; i < each; ++i) out[2 * count + base + i] = heads[i] + 2 * tails[i];
}

struct Minus {
  template <class T>
  __device__ T operator()(const T& a, const T& b) const {
    return static_cast<T>(a - b);
  }
};

template <class T, int threads, int each>
__global__ void difference(const T* in, T* out) {
  using Difference = cub::BlockAdjacentDifference<T, threads>;
  __shared__ typename Difference::TempStorage storage;
  constexpr int count = threads * each;
  const int base = threadIdx.x * each;
  T items[each];
  T results[each];
  for (int i = 0; i < each; ++i) items[i] = in[base + i];
  Difference(storage).SubtractLeft(items, results, Minus{});
  __syncthreads();
  for (int i = 0; i < each; ++i) out[base + i] = results[i];
  Difference(storage).SubtractRight(items, results, Minus{});
  __syncthreads();
  for (int i = 0; i < each; ++i) out[count + base + i] = results[i];
  Difference(storage).SubtractLeftPartialTile(items, results, Minus{}, count - 13, in[7]);
  for (int i = 0; i < each; ++i) out[2 * count + base + i] = results[i];
}

template <int threads, int each, int bits, class Rank>
__device__ void rank_with(const u32* in, u32* out) {
  using Digits = cub::BFEDigitExtractor<u32>;
  __shared__ typename Rank::TempStorage storage;
  u32 keys[each];
  int ranks[each];
  for (int i = 0; i < each; ++i) keys[i] = in[threadIdx.x * each + i];
  Rank(storage).RankKeys(keys, ranks, Digits(4, bits));
  for (int i = 0; i < each; ++i) out[threadIdx.x * each + i] = ranks[i];
}

template <int threads, int each, int bits, bool descending>
__global__ void radix_rank(const u32* in, u32* out) {
  rank_with<threads, each, bits, cub::BlockRadixRank<threads, bits, descending>>(in, out);
}

template <int threads, int each, int bits, bool descending>
__global__ void radix_rank_match(const u32* in, u32* out) {
  rank_with<threads, each, bits, cub::BlockRadixRankMatch<threads, bits, descending>>(in, out);
}

template <class T, int threads>
__global__ void run_length_decode(const T* in, T* out, u32* offsets) {
  using Decode = cub::BlockRunLengthDecode<T, threads, 2, 4>;
  __shared__ typename Decode::TempStorage storage;
  T values[2];
  u32 lengths[2];
  for (int i = 0; i < 2; ++i) {
    values[i] = in[threadIdx.x * 2 + i];
    lengths[i] = (threadIdx.x * 5 + i * 3) % 7 + 1;
  }
  u32 total = 0;
  Decode decode(storage, values, lengths, total);
  for (u32 done = 0; done < total; done += threads * 4) {
    T items[4];
    u32 places[4];
    decode.RunLengthDecode(items, places, done);
    for (int i = 0; i < 4; ++i) {
      const u32 place = done + threadIdx.x * 4 + i;
      if (place < total) {
        out[place] = items[i];
        offsets[place] = places[i];
      }
    }
  }
}
