// SPDX-License-Identifier: Apache-2.0
#pragma once

// Many numbers divided by one.

#include <cudacore/tile/base.cuh>

namespace cudacore_tile {

// Gives what x / d gives, to the last bit, but takes the reciprocal of d once.
struct Divisor {
  f32 divisor;
  f32 inverse;
  f32 least;  // not a number if no quotient() is known to be right

  Divisor() = default;
  __device__ __forceinline__ explicit Divisor(f32 d) : divisor(d), inverse(1.0f / d) {
    least = d >= 0x1p-125f && d <= 0x1p125f ? fmaxf(0x1p-125f, inverse * 0x1p-101f)
                                            : __uint_as_float(0x7FFFFFFF);
  }
  // The correctly rounded reciprocal brings the product so near that the exact rest leads to the
  // nearest number. The rest is turned twice so that -0 stays what it is.
  __device__ __forceinline__ f32 quotient(f32 x) const {
    const f32 near = __fmul_rn(x, inverse);
    return __fmaf_rn(__fmaf_rn(near, divisor, -x), -inverse, near);
  }
  // Whether quotient() gave this, and rightly: the rest had no bits below those of the smallest
  // number, and the quotient is a normal number or infinite.
  __device__ __forceinline__ bool is_right(f32 quotient) const { return fabsf(quotient) >= least; }
  __device__ __forceinline__ bool is_right(f32 x, f32 quotient) const {
    return ((x == 0) & (least >= 0)) | is_right(quotient);
  }
};

// The same quotients by true division, seldom needed: the loop keeps it short, and turning the
// elements about keeps them in registers.
template <int count>
__device__ __forceinline__ void divide_again(f32 (&quotients)[count], f32 (&dividends)[count],
                                             f32 (&divisors)[count]) {
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    const f32 quotient = dividends[0] / divisors[0];
    TILE_EACH(k, count - 1) {
      quotients[k] = quotients[k + 1];
      dividends[k] = dividends[k + 1];
      divisors[k] = divisors[k + 1];
    }
    quotients[count - 1] = quotient;
  }
}
template <int count>
__device__ __forceinline__ void divide_again(f32 (&quotients)[count], f32 (&dividends)[count],
                                             f32 divisor) {
#pragma unroll 1
  for (int i = 0; i < count; ++i) {
    const f32 quotient = dividends[0] / divisor;
    TILE_EACH(k, count - 1) {
      quotients[k] = quotients[k + 1];
      dividends[k] = dividends[k + 1];
    }
    quotients[count - 1] = quotient;
  }
}

}  // namespace cudacore_tile
