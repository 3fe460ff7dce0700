// SPDX-License-Identifier: Apache-2.0
#pragma once

// What all generated kernels use: the names of the types of elements, their conversions, arithmetic
// that C++ lacks, and moves of vectors.

#define TILE_EACH(i, count) _Pragma("unroll") for (int i = 0; i < (count); ++i)

namespace cudacore_tile {

using i1 = bool;
using i8 = signed char;
using i16 = short;
using i32 = int;
using i64 = long long;
using u8 = unsigned char;
using u16 = unsigned short;
using u32 = unsigned int;
using u64 = unsigned long long;
using f32 = float;
using f64 = double;

// A float whose arithmetic is that of f32, rounded.
struct f16 {
  u16 bits;
  f16() = default;
  __device__ __forceinline__ explicit f16(f32 x) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x)); }
  __device__ __forceinline__ static f16 of(u16 bits) {
    f16 x;
    x.bits = bits;
    return x;
  }
  __device__ __forceinline__ operator f32() const {
    f32 x;
    asm("cvt.f32.f16 %0, %1;" : "=f"(x) : "h"(bits));
    return x;
  }
};

struct bf16 {
  u16 bits;
  bf16() = default;
  __device__ __forceinline__ explicit bf16(f32 x) {
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(x));
#else
    const u32 all = __float_as_uint(x);
    bits = x != x ? 0x7FFF : u16((all + 0x7FFF + ((all >> 16) & 1)) >> 16);
#endif
  }
  __device__ __forceinline__ static bf16 of(u16 bits) {
    bf16 x;
    x.bits = bits;
    return x;
  }
  __device__ __forceinline__ operator f32() const { return __uint_as_float(u32(bits) << 16); }
};

// An f32 whose last 13 bits are zero.
struct tf32 {
  f32 value;
  tf32() = default;
  __device__ __forceinline__ explicit tf32(f32 x) {
    // To nearest even; the instruction of sm_80 rounds ties away from zero.
    const u32 bits = __float_as_uint(x);
    value = (bits & 0x7F800000) == 0x7F800000
                ? x
                : __uint_as_float((bits + 0xFFF + (bits >> 13 & 1)) & 0xFFFFE000);
  }
  __device__ __forceinline__ static tf32 of(u32 bits) {
    tf32 x;
    x.value = __uint_as_float(bits);
    return x;
  }
  __device__ __forceinline__ operator f32() const { return value; }
};

// Rounds to odd: rounding the result again to fewer bits gives what rounding once would have.
template <class From>
__device__ __forceinline__ f32 odd(f32 toward_zero, From from) {
  const u32 bits = __float_as_uint(toward_zero);
  return From(toward_zero) == from || (bits & 0x7F800000) == 0x7F800000 ? toward_zero
                                                                        : __uint_as_float(bits | 1);
}
__device__ __forceinline__ f32 to_odd(i32 x) { return odd(__int2float_rz(x), x); }
__device__ __forceinline__ f32 to_odd(u32 x) { return odd(__uint2float_rz(x), x); }
__device__ __forceinline__ f32 to_odd(i64 x) { return odd(__ll2float_rz(x), x); }
__device__ __forceinline__ f32 to_odd(u64 x) { return odd(__ull2float_rz(x), x); }
__device__ __forceinline__ f32 to_odd(f64 x) { return x != x ? f32(x) : odd(__double2float_rz(x), x); }

// Wide numbers as small floats, rounded once.
template <class To, class From>
__device__ __forceinline__ To to(From x) {
  return To(to_odd(x));
}

template <class To, class From>
__device__ __forceinline__ To bits_as(From x) {
  static_assert(sizeof(To) == sizeof(From));
  To result;
  memcpy(&result, &x, sizeof(To));
  return result;
}

template <class T>
__device__ __forceinline__ T least(T a, T b) {
  return b < a ? b : a;
}
template <class T>
__device__ __forceinline__ T greatest(T a, T b) {
  return a < b ? b : a;
}
template <class T>
__device__ __forceinline__ bool is_nan(T x) {
  return !(x == x);
}
template <class T>
__device__ __forceinline__ T least_nan(T a, T b) {
  return is_nan(a) ? a : is_nan(b) ? b : b < a ? b : a;
}
template <class T>
__device__ __forceinline__ T greatest_nan(T a, T b) {
  return is_nan(a) ? a : is_nan(b) ? b : a < b ? b : a;
}
template <class T>
__device__ __forceinline__ T absolute(T x) {
  return x < 0 ? T(0 - u64(x)) : x;
}

// Python's division of integers and of floats, and its remainder, which has the divisor's sign.
template <class T>
__device__ __forceinline__ T floordiv(T a, T b) {
  const T quotient = a / b;
  return T(quotient - T(a % b != 0 && (a < 0) != (b < 0)));
}
template <class T>
__device__ __forceinline__ T mod(T a, T b) {
  const T rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? T(rest + b) : rest;
}
__device__ __forceinline__ f32 mod(f32 a, f32 b) {
  const f32 rest = fmodf(a, b);
  if (rest == 0) return copysignf(0.0f, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}
__device__ __forceinline__ f64 mod(f64 a, f64 b) {
  const f64 rest = fmod(a, b);
  if (rest == 0) return copysign(0.0, b);
  return (rest < 0) != (b < 0) ? rest + b : rest;
}
__device__ __forceinline__ f32 floordiv(f32 a, f32 b) { return floorf(a / b); }
__device__ __forceinline__ f64 floordiv(f64 a, f64 b) { return floor(a / b); }
template <class T>
__device__ __forceinline__ f32 small_mod(T a, T b) {
  return mod(f32(a), f32(b));
}
__device__ __forceinline__ f32 mod(f16 a, f16 b) { return small_mod(a, b); }
__device__ __forceinline__ f32 mod(bf16 a, bf16 b) { return small_mod(a, b); }
__device__ __forceinline__ f32 floordiv(f16 a, f16 b) { return floorf(f16(f32(a) / f32(b))); }
__device__ __forceinline__ f32 floordiv(bf16 a, bf16 b) { return floorf(bf16(f32(a) / f32(b))); }

// From what number on there is no next one below `end`: the least of all if that holds for each.
template <class T>
__device__ __forceinline__ T last_turn(T end, T step) {
  constexpr T least = T(-1) < T(0) ? T(u64(1) << (8 * sizeof(T) - 1)) : T(0);
  return end < T(least + step) ? least : T(end - step);
}

template <class T>
__device__ __forceinline__ T power(T base, T exponent) {
  if (exponent < 0) return base == 1 ? T(1) : base == T(-1) ? (exponent % 2 != 0 ? T(-1) : T(1)) : T(0);
  u64 result = 1;
  u64 factor = u64(base);
  for (; exponent > 0; exponent = T(exponent / 2)) {
    if (exponent % 2 != 0) result *= factor;
    factor *= factor;
  }
  return T(result);
}

__device__ __forceinline__ f16 fused(f16 a, f16 b, f16 c) {
  asm("fma.rn.f16 %0, %1, %2, %3;" : "=h"(a.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
  return a;
}
__device__ __forceinline__ bf16 fused(bf16 a, bf16 b, bf16 c) {
#if __CUDA_ARCH__ >= 800
  asm("fma.rn.bf16 %0, %1, %2, %3;" : "=h"(a.bits) : "h"(a.bits), "h"(b.bits), "h"(c.bits));
  return a;
#else
  // The product of two bf16 is exact in f64, and the sum is rounded to odd there first.
  return to<bf16>(f64(f32(a)) * f64(f32(b)) + f64(f32(c)));
#endif
}
__device__ __forceinline__ tf32 fused(tf32 a, tf32 b, tf32 c) { return tf32(fmaf(a, b, c)); }

// The memory that `bytes` bytes are moved as at once.
template <int bytes>
struct Chunk;
template <>
struct Chunk<1> {
  using type = u8;
};
template <>
struct Chunk<2> {
  using type = u16;
};
template <>
struct Chunk<4> {
  using type = u32;
};
template <>
struct Chunk<8> {
  using type = uint2;
};
template <>
struct Chunk<16> {
  using type = uint4;
};

// An element of memory that the kernel does not write.
template <class T>
__device__ __forceinline__ T load_const(const T* from) {
  using Bits = typename Chunk<sizeof(T)>::type;
  const Bits bits = __ldg((const Bits*)from);
  T result;
  memcpy(&result, &bits, sizeof(T));
  return result;
}
template <int count, class T>
__device__ __forceinline__ void load_vector_const(T* to, const T* from) {
  using Bits = typename Chunk<count * sizeof(T)>::type;
  const Bits bits = __ldg((const Bits*)from);
  memcpy(to, &bits, sizeof(Bits));
}
template <int count, class T>
__device__ __forceinline__ void load_vector(T* to, const T* from) {
  using Bits = typename Chunk<count * sizeof(T)>::type;
  const Bits bits = *(const Bits*)from;
  memcpy(to, &bits, sizeof(Bits));
}
// An array of elements from words that lie in registers.
template <int count, class T, class Words>
__device__ __forceinline__ void take_apart(T* to, Words words) {
  if constexpr (sizeof(Words) < 4) {
    memcpy(to, &words, sizeof(Words));
  } else {
    u32 all[sizeof(Words) / 4];
    memcpy(all, &words, sizeof(Words));
    TILE_EACH(k, count) {
      if constexpr (sizeof(T) == 1) to[k] = bits_as<T>(u8(all[k / 4] >> k % 4 * 8));
      if constexpr (sizeof(T) == 2) to[k] = bits_as<T>(u16(all[k / 2] >> k % 2 * 16));
      if constexpr (sizeof(T) == 4) to[k] = bits_as<T>(all[k]);
      if constexpr (sizeof(T) == 8) to[k] = bits_as<T>(u64(all[2 * k + 1]) << 32 | all[2 * k]);
    }
  }
}
// A word full of one element.
template <class T>
__device__ __forceinline__ u32 word_of(T pad, int half) {
  if constexpr (sizeof(T) == 1) return bits_as<u8>(pad) * 0x01010101u;
  if constexpr (sizeof(T) == 2) return bits_as<u16>(pad) * 0x00010001u;
  if constexpr (sizeof(T) == 4) return bits_as<u32>(pad);
  if constexpr (sizeof(T) == 8) return u32(bits_as<u64>(pad) >> half * 32);
}
template <class T>
__device__ __forceinline__ void fill_words(uint4& words, T pad) {
  words = make_uint4(word_of(pad, 0), word_of(pad, 1), word_of(pad, 0), word_of(pad, 1));
}
template <class T>
__device__ __forceinline__ void fill_words(uint2& words, T pad) {
  words = make_uint2(word_of(pad, 0), word_of(pad, 1));
}
template <class Word, class T>
__device__ __forceinline__ void fill_words(Word& words, T pad) {
  words = Word(word_of(pad, 0));
}
// A vector as words, where `inside` holds, and else words with `pad` in each element. Elements are
// taken out only where whole words have been chosen between, which costs one instruction each.
template <int count, class T>
using Words = typename Chunk<count * sizeof(T)>::type;
template <int count, class T>
__device__ __forceinline__ Words<count, T> load_words_const(const T* from) {
  return __ldg((const Words<count, T>*)from);
}
template <int count, class T>
__device__ __forceinline__ Words<count, T> load_words(const T* from) {
  return *(const Words<count, T>*)from;
}
template <int count, class T>
__device__ __forceinline__ Words<count, T> load_words_const_if(bool inside, const T* from, T pad) {
  Words<count, T> words;
  fill_words(words, pad);
  if (inside) words = load_words_const<count>(from);
  return words;
}
template <int count, class T>
__device__ __forceinline__ Words<count, T> load_words_if(bool inside, const T* from, T pad) {
  Words<count, T> words;
  fill_words(words, pad);
  if (inside) words = load_words<count>(from);
  return words;
}
template <int count, class T>
__device__ __forceinline__ void store_vector(T* to, const T* from) {
  using Bits = typename Chunk<count * sizeof(T)>::type;
  Bits bits;
  memcpy(&bits, from, sizeof(Bits));
  *(Bits*)to = bits;
}

}  // namespace cudacore_tile
