// SPDX-License-Identifier: Apache-2.0
#pragma once

// Arithmetic with a rounding mode, or with subnormal numbers taken for zero, as PTX has it.

#include <cudacore/tile/base.cuh>
#include <cudacore/tile/float8.cuh>

namespace cudacore_tile {

#define TILE_ONE(function, instruction, type, letter)                                       \
  __device__ __forceinline__ type function(type a) {                                        \
    asm(instruction " %0, %1;" : "=" letter(a) : letter(a));                                \
    return a;                                                                               \
  }
#define TILE_TWO(function, instruction, type, letter)                                       \
  __device__ __forceinline__ type function(type a, type b) {                                \
    asm(instruction " %0, %1, %2;" : "=" letter(a) : letter(a), letter(b));                 \
    return a;                                                                               \
  }
#define TILE_THREE(function, instruction, type, letter)                                     \
  __device__ __forceinline__ type function(type a, type b, type c) {                        \
    asm(instruction " %0, %1, %2, %3;" : "=" letter(a) : letter(a), letter(b), letter(c));  \
    return a;                                                                               \
  }
#define TILE_MODE(mode)                                        \
  TILE_TWO(add_##mode, "add." #mode ".f32", f32, "f")          \
  TILE_TWO(sub_##mode, "sub." #mode ".f32", f32, "f")          \
  TILE_TWO(mul_##mode, "mul." #mode ".f32", f32, "f")          \
  TILE_TWO(div_##mode, "div." #mode ".f32", f32, "f")          \
  TILE_ONE(sqrt_##mode, "sqrt." #mode ".f32", f32, "f")        \
  TILE_THREE(fma_##mode, "fma." #mode ".f32", f32, "f")        \
  TILE_TWO(add_##mode##_ftz, "add." #mode ".ftz.f32", f32, "f") \
  TILE_TWO(sub_##mode##_ftz, "sub." #mode ".ftz.f32", f32, "f") \
  TILE_TWO(mul_##mode##_ftz, "mul." #mode ".ftz.f32", f32, "f") \
  TILE_TWO(div_##mode##_ftz, "div." #mode ".ftz.f32", f32, "f") \
  TILE_ONE(sqrt_##mode##_ftz, "sqrt." #mode ".ftz.f32", f32, "f") \
  TILE_THREE(fma_##mode##_ftz, "fma." #mode ".ftz.f32", f32, "f") \
  TILE_TWO(add_##mode, "add." #mode ".f64", f64, "d")          \
  TILE_TWO(sub_##mode, "sub." #mode ".f64", f64, "d")          \
  TILE_TWO(mul_##mode, "mul." #mode ".f64", f64, "d")          \
  TILE_TWO(div_##mode, "div." #mode ".f64", f64, "d")          \
  TILE_ONE(sqrt_##mode, "sqrt." #mode ".f64", f64, "d")        \
  TILE_THREE(fma_##mode, "fma." #mode ".f64", f64, "d")

TILE_MODE(rn)
TILE_MODE(rz)
TILE_MODE(rm)
TILE_MODE(rp)

TILE_TWO(div_approx, "div.approx.f32", f32, "f")
TILE_TWO(div_approx_ftz, "div.approx.ftz.f32", f32, "f")
TILE_TWO(div_full, "div.full.f32", f32, "f")
TILE_TWO(div_full_ftz, "div.full.ftz.f32", f32, "f")
TILE_ONE(sqrt_approx, "sqrt.approx.f32", f32, "f")
TILE_ONE(sqrt_approx_ftz, "sqrt.approx.ftz.f32", f32, "f")
TILE_ONE(rsqrt_rn_ftz, "rsqrt.approx.ftz.f32", f32, "f")
TILE_ONE(rsqrt_approx, "rsqrt.approx.f32", f32, "f")
TILE_ONE(rsqrt_approx_ftz, "rsqrt.approx.ftz.f32", f32, "f")
TILE_ONE(exp2_rn_ftz, "ex2.approx.ftz.f32", f32, "f")
TILE_ONE(exp2_approx, "ex2.approx.f32", f32, "f")
TILE_ONE(exp2_approx_ftz, "ex2.approx.ftz.f32", f32, "f")
TILE_ONE(tanh_approx, "tanh.approx.f32", f32, "f")
TILE_TWO(min_rn_ftz, "min.ftz.f32", f32, "f")
TILE_TWO(max_rn_ftz, "max.ftz.f32", f32, "f")
__device__ __forceinline__ f32 exp_approx(f32 x) { return __expf(x); }
__device__ __forceinline__ f32 log_approx(f32 x) { return __logf(x); }
__device__ __forceinline__ f32 sin_approx(f32 x) { return __sinf(x); }
__device__ __forceinline__ f32 cos_approx(f32 x) { return __cosf(x); }

// A number that is too small to be normal is zero.
__device__ __forceinline__ f32 flushed(f32 x) {
  asm("add.ftz.f32 %0, %0, 0f80000000;" : "+f"(x));
  return x;
}
__device__ __forceinline__ f32 least_nan_ftz(f32 a, f32 b) { return least_nan(flushed(a), flushed(b)); }
__device__ __forceinline__ f32 greatest_nan_ftz(f32 a, f32 b) { return greatest_nan(flushed(a), flushed(b)); }

template <Rounding rounding>
__device__ __forceinline__ f32 single(f64 x) {
  if constexpr (rounding == Rounding::rn) return __double2float_rn(x);
  if constexpr (rounding == Rounding::rz) return __double2float_rz(x);
  if constexpr (rounding == Rounding::rm) return __double2float_rd(x);
  return __double2float_ru(x);
}
template <Rounding rounding>
__device__ __forceinline__ f32 single(f32 x) {
  return x;
}

// A small float from another float, rounded by a mode: `make` has the bits of f32 that are kept.
template <class To>
struct Rounder {
  template <Rounding rounding>
  __device__ __forceinline__ static To make(f32 x) {
    return To::of(To::template rounded<rounding>(x));
  }
};
template <>
struct Rounder<f32> {
  template <Rounding rounding>
  __device__ __forceinline__ static f32 make(f32 x) {
    return x;
  }
};
template <Rounding rounding, int dropped>
__device__ __forceinline__ u32 shortened(f32 x) {
  const u32 bits = __float_as_uint(x);
  constexpr u32 rest = (1u << dropped) - 1;
  if (x != x) return bits | (1u << 22);
  const bool away = rounding == Rounding::rp ? x > 0 : rounding == Rounding::rm ? x < 0 : false;
  if ((bits & 0x7F800000) == 0x7F800000) return bits;
  if (rounding == Rounding::ra) return (bits + (1u << (dropped - 1))) & ~rest;  // ties away from zero
  return (bits + (rounding == Rounding::rn ? rest / 2 + ((bits >> dropped) & 1) : away ? rest : 0)) & ~rest;
}
template <>
struct Rounder<bf16> {
  template <Rounding rounding>
  __device__ __forceinline__ static bf16 make(f32 x) {
    return bf16::of(u16(shortened<rounding, 16>(x) >> 16));
  }
};
template <>
struct Rounder<tf32> {
  template <Rounding rounding>
  __device__ __forceinline__ static tf32 make(f32 x) {
    return tf32::of(shortened<rounding, 13>(x));
  }
};
template <>
struct Rounder<f16> {
  template <Rounding rounding>
  __device__ __forceinline__ static f16 make(f32 x) {
    f16 y;
    if constexpr (rounding == Rounding::rn) asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    if constexpr (rounding == Rounding::rz) asm("cvt.rz.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    if constexpr (rounding == Rounding::rm) asm("cvt.rm.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    if constexpr (rounding == Rounding::rp) asm("cvt.rp.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
    if constexpr (rounding == Rounding::ra) {
      asm("cvt.rz.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
      // Infinity counts as 65536 here, which would be the next number.
      const bool is_largest = (y.bits & 0x7FFF) == 0x7BFF;
      const f32 next = is_largest ? 65536.0f : fabsf(f16::of(u16(y.bits + 1)));
      if (fabsf(x) >= 0.5f * (fabsf(y) + next) && fabsf(x) < __int_as_float(0x7F800000)) y = f16::of(u16(y.bits + 1));
    }
    return y;
  }
};
#define TILE_ROUNDED(mode)                                               \
  template <class To>                                                    \
  __device__ __forceinline__ To to_##mode(f32 x) {                       \
    return Rounder<To>::template make<Rounding::mode>(x);                \
  }                                                                      \
  template <class To>                                                    \
  __device__ __forceinline__ To to_##mode(f64 x) {                       \
    return Rounder<To>::template make<Rounding::mode>(single<Rounding::mode>(x)); \
  }
TILE_ROUNDED(rn)
TILE_ROUNDED(rz)
TILE_ROUNDED(rm)
TILE_ROUNDED(rp)
TILE_ROUNDED(ra)

}  // namespace cudacore_tile
