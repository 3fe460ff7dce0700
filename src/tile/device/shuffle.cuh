// SPDX-License-Identifier: Apache-2.0
#pragma once

// Elements of other lanes.

#include <cudacore/tile/base.cuh>

namespace cudacore_tile {

template <class T>
__device__ __forceinline__ T shuffle_xor(T x, int mask) {
  if constexpr (sizeof(T) == 8) {
    return bits_as<T>(__shfl_xor_sync(0xFFFFFFFF, bits_as<u64>(x), mask));
  } else if constexpr (sizeof(T) == 4) {
    return bits_as<T>(__shfl_xor_sync(0xFFFFFFFF, bits_as<u32>(x), mask));
  } else if constexpr (sizeof(T) == 2) {
    return bits_as<T>(u16(__shfl_xor_sync(0xFFFFFFFF, u32(bits_as<u16>(x)), mask)));
  } else {
    return bits_as<T>(u8(__shfl_xor_sync(0xFFFFFFFF, u32(bits_as<u8>(x)), mask)));
  }
}
template <class T>
__device__ __forceinline__ T shuffle(T x, u32 lane) {
  if constexpr (sizeof(T) == 8) {
    return bits_as<T>(__shfl_sync(0xFFFFFFFF, bits_as<u64>(x), lane));
  } else if constexpr (sizeof(T) == 4) {
    return bits_as<T>(__shfl_sync(0xFFFFFFFF, bits_as<u32>(x), lane));
  } else if constexpr (sizeof(T) == 2) {
    return bits_as<T>(u16(__shfl_sync(0xFFFFFFFF, u32(bits_as<u16>(x)), lane)));
  } else {
    return bits_as<T>(u8(__shfl_sync(0xFFFFFFFF, u32(bits_as<u8>(x)), lane)));
  }
}
template <class T>
__device__ __forceinline__ void swap(T& a, T& b) {
  const T kept = a;
  a = b;
  b = kept;
}

}  // namespace cudacore_tile
