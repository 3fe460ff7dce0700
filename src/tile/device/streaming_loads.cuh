// SPDX-License-Identifier: Apache-2.0
#pragma once

// Loads of what a block reads once, which leave the first level of the cache to what all blocks
// read.

#include <cudacore/tile/base.cuh>

namespace cudacore_tile {

__device__ __forceinline__ void load_past_cache(uint4& words, const void* from) {
  asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
      : "=r"(words.x), "=r"(words.y), "=r"(words.z), "=r"(words.w)
      : "l"(__cvta_generic_to_global(from)));
}
__device__ __forceinline__ void load_past_cache(uint2& words, const void* from) {
  asm("ld.global.nc.L1::no_allocate.v2.u32 {%0, %1}, [%2];"
      : "=r"(words.x), "=r"(words.y)
      : "l"(__cvta_generic_to_global(from)));
}
template <class Word>
__device__ __forceinline__ void load_past_cache(Word& word, const void* from) {
  word = __ldg((const Word*)from);
}
template <int count, class T>
__device__ __forceinline__ Words<count, T> load_words_stream(const T* from) {
  Words<count, T> words;
  load_past_cache(words, from);
  return words;
}
template <int count, class T>
__device__ __forceinline__ Words<count, T> load_words_stream_if(bool inside, const T* from, T pad) {
  Words<count, T> words;
  fill_words(words, pad);
  if (inside) load_past_cache(words, from);
  return words;
}

}  // namespace cudacore_tile
