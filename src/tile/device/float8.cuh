// SPDX-License-Identifier: Apache-2.0
#pragma once

// Floats of eight bits and fewer. Numbers beyond the largest become the largest.

#include <cudacore/tile/base.cuh>

namespace cudacore_tile {

// How a number between two that a type has becomes one of them.
enum class Rounding { rn, rz, rm, rp, ra };

// The bits, without the sign, of |x| rounded to `mantissa` bits.
template <int mantissa, int bias, Rounding rounding>
__device__ __forceinline__ u32 small_bits(f32 x) {
  const u32 all = __float_as_uint(x) & 0x7FFFFFFF;
  // Away from zero is up for positive numbers and down for negative ones.
  const bool away = rounding == Rounding::rp ? !(x < 0) : rounding == Rounding::rm ? x < 0 : false;
  if (int(all >> 23) - 127 < 1 - bias) {
    // In units of the subnormal numbers.
    const f32 units = __uint_as_float(all) * __uint_as_float(u32(bias - 1 + mantissa + 127) << 23);
    return u32(rounding == Rounding::rn ? rintf(units) : away ? ceilf(units) : floorf(units));
  }
  constexpr int dropped = 23 - mantissa;
  constexpr u32 rest = (1u << dropped) - 1;
  const u32 added = rounding == Rounding::rn ? rest / 2 + ((all >> dropped) & 1) : away ? rest : 0;
  return ((all + added) >> dropped) - (u32(127 - bias) << mantissa);
}

template <int mantissa, int bias>
__device__ __forceinline__ f32 small_value(u32 bits) {
  const u32 exponent = bits >> mantissa;
  const u32 rest = bits & ((1u << mantissa) - 1);
  if (exponent == 0) return f32(rest) * __uint_as_float(u32(1 - bias - mantissa + 127) << 23);
  return __uint_as_float((exponent + 127 - bias) << 23 | rest << (23 - mantissa));
}

#define TILE_SMALL_FLOAT(name, exponent_bits, mantissa, bias, largest, nan, has_sign)                \
  struct name {                                                                                      \
    u8 bits;                                                                                         \
    name() = default;                                                                                \
    __device__ __forceinline__ explicit name(f32 x) { bits = rounded<Rounding::rn>(x); }             \
    template <Rounding rounding>                                                                     \
    __device__ __forceinline__ static u8 rounded(f32 x) {                                            \
      if (x != x) return nan;                                                                        \
      if (!has_sign && x < 0) return 0;                                                              \
      const u32 size = small_bits<mantissa, bias, rounding>(x);                                      \
      const u32 sign = has_sign ? (__float_as_uint(x) >> 31) << (exponent_bits + mantissa) : 0;      \
      return u8(sign | (size > largest ? largest : size));                                           \
    }                                                                                                \
    __device__ __forceinline__ static name of(u8 bits) {                                             \
      name x;                                                                                        \
      x.bits = bits;                                                                                 \
      return x;                                                                                      \
    }                                                                                                \
    __device__ __forceinline__ operator f32() const {                                                \
      constexpr u32 sign_bit = has_sign ? 1u << (exponent_bits + mantissa) : 0;                      \
      const u32 size = bits & ((1u << (exponent_bits + mantissa)) - 1);                              \
      f32 x = small_value<mantissa, bias>(size);                                                     \
      if (largest != nan && size > largest) x = special(size);                                       \
      return bits & sign_bit ? -x : x;                                                               \
    }                                                                                                \
    __device__ __forceinline__ static f32 special(u32 size);                                         \
  };

TILE_SMALL_FLOAT(e4m3, 4, 3, 7, 0x7E, 0x7F, true)
TILE_SMALL_FLOAT(e5m2, 5, 2, 15, 0x7B, 0x7F, true)
TILE_SMALL_FLOAT(e5m3, 5, 3, 15, 0xFE, 0xFF, false)
TILE_SMALL_FLOAT(e2m1, 2, 1, 1, 0x7, 0x7, true)

__device__ __forceinline__ f32 e4m3::special(u32) { return __int_as_float(0x7FFFFFFF); }
__device__ __forceinline__ f32 e5m2::special(u32 size) {
  return __int_as_float(size == 0x7C ? 0x7F800000 : 0x7FFFFFFF);
}
__device__ __forceinline__ f32 e5m3::special(u32) { return __int_as_float(0x7FFFFFFF); }
__device__ __forceinline__ f32 e2m1::special(u32) { return 0; }

// Powers of two from 2^-127 to 2^127.
struct e8m0 {
  u8 bits;
  e8m0() = default;
  __device__ __forceinline__ explicit e8m0(f32 x) { bits = rounded<Rounding::rn>(x); }
  template <Rounding rounding>
  __device__ __forceinline__ static u8 rounded(f32 x) {
    if (x != x) return 0xFF;
    if (x <= 0) return 0;
    const u32 all = __float_as_uint(x);
    const u32 rest = all & 0x7FFFFF;
    u32 exponent = all >> 23;
    if (exponent == 0) return rest > 0x400000 && rounding != Rounding::rz && rounding != Rounding::rm;
    if (rounding == Rounding::rn ? rest > 0x400000 || (rest == 0x400000 && (exponent & 1)) : rounding == Rounding::rp && rest != 0) ++exponent;
    return u8(exponent > 0xFE ? 0xFE : exponent);
  }
  __device__ __forceinline__ static e8m0 of(u8 bits) {
    e8m0 x;
    x.bits = bits;
    return x;
  }
  __device__ __forceinline__ operator f32() const {
    if (bits == 0xFF) return __int_as_float(0x7FFFFFFF);
    return bits == 0 ? __uint_as_float(0x400000) : __uint_as_float(u32(bits) << 23);
  }
};

}  // namespace cudacore_tile
