// SPDX-License-Identifier: Apache-2.0
//
// Makes handlers from functions of one lane: loops over rows, which the compiler turns into vector
// code.
//
// A lane function must be inlinable, pure, and defined for every input, because it is also called
// for disabled lanes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>
#if defined(__SSE2__)
#include <immintrin.h>
#endif

#include "simulator/engine/machine.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: internal linkage keeps the code of each ISA apart

/// The bit of each lane, as a table, which vectorizes where a shift does not.
alignas(64) constexpr std::uint32_t lane_bit[warp_size] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};
alignas(64) constexpr std::uint64_t lane_bit64[warp_size] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,
    1u << 8,  1u << 9,  1u << 10, 1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15,
    1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21, 1u << 22, 1u << 23,
    1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

#if defined(__AVX512F__)
inline constexpr std::size_t vector_bytes = 64;
#elif defined(__AVX2__)
inline constexpr std::size_t vector_bytes = 32;
#else
inline constexpr std::size_t vector_bytes = 16;
#endif

/// A part of a row that fits a vector register.
template <class T>
struct VectorOf {
  static constexpr std::size_t bytes =
      vector_bytes < sizeof(T) * warp_size ? vector_bytes : sizeof(T) * warp_size;
  static constexpr unsigned lanes = bytes / sizeof(T);
  typedef T type __attribute__((vector_size(bytes), may_alias));
};

/// d[i] = a[i] if the mask has the lane's bit, else b[i].
template <class T>
[[gnu::always_inline]] inline void select_row(T* d, const T* a, const T* b, std::uint32_t mask) {
  if constexpr (sizeof(T) == 16) {
    for (unsigned i = 0; i < warp_size; ++i) d[i] = (mask & lane_bit[i]) != 0 ? a[i] : b[i];
#if defined(__AVX512F__)
  } else if constexpr (sizeof(T) == 8) {
    for (unsigned i = 0; i < warp_size; i += 8) {
      const __m512i yes = _mm512_loadu_si512(a + i);
      const __m512i no = _mm512_loadu_si512(b + i);
      _mm512_storeu_si512(d + i, _mm512_mask_mov_epi64(no, static_cast<__mmask8>(mask >> i), yes));
    }
  } else if constexpr (sizeof(T) == 4) {
    for (unsigned i = 0; i < warp_size; i += 16) {
      const __m512i yes = _mm512_loadu_si512(a + i);
      const __m512i no = _mm512_loadu_si512(b + i);
      _mm512_storeu_si512(d + i, _mm512_mask_mov_epi32(no, static_cast<__mmask16>(mask >> i), yes));
    }
  } else if constexpr (sizeof(T) == 2) {
    const __m512i yes = _mm512_loadu_si512(a);
    _mm512_storeu_si512(d, _mm512_mask_mov_epi16(_mm512_loadu_si512(b), mask, yes));
  } else {
    const __m256i yes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(a));
    const __m256i no = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(b));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(d), _mm256_mask_mov_epi8(no, mask, yes));
#else
  } else if constexpr (sizeof(T) == 8) {
    const std::uint64_t wide = mask;
#pragma GCC ivdep
    for (unsigned i = 0; i < warp_size; ++i) {
      const T yes = a[i];
      const T no = b[i];
      d[i] = (wide & lane_bit64[i]) != 0 ? yes : no;
    }
  } else {
#pragma GCC ivdep
    for (unsigned i = 0; i < warp_size; ++i) {
      const T yes = a[i];
      const T no = b[i];
      d[i] = (mask & lane_bit[i]) != 0 ? yes : no;
    }
#endif
  }
}

/// Writes the enabled lanes of a row.
template <class T>
[[gnu::always_inline]] inline void blend(T* to, const T* from, std::uint32_t lanes) {
  select_row(to, from, to, lanes);
}

/// Runs `write(row)` directly on the row `to` if all lanes are enabled, otherwise on a temporary
/// row that is then blended.
template <class T, class Write>
[[gnu::always_inline]] inline void write_row(T* to, std::uint32_t lanes, Write write) {
  if (lanes == all_lanes) [[likely]] {
    write(to);
  } else {
    alignas(64) T result[warp_size];
    write(result);
    blend(to, result, lanes);
  }
}

/// to[i] = value(i) for the enabled lanes, without a temporary row.
template <class T, class Value>
[[gnu::always_inline]] inline void write_each(T* to, std::uint32_t lanes, Value value) {
  if (lanes == all_lanes) [[likely]] {
#pragma GCC ivdep
    for (unsigned i = 0; i < warp_size; ++i) to[i] = value(i);
  } else if constexpr (sizeof(T) == 8) {
    const std::uint64_t wide = lanes;
#pragma GCC ivdep
    for (unsigned i = 0; i < warp_size; ++i) {
      const T yes = value(i);
      const T no = to[i];
      to[i] = (wide & lane_bit64[i]) != 0 ? yes : no;
    }
  } else {
#pragma GCC ivdep
    for (unsigned i = 0; i < warp_size; ++i) {
      const T yes = value(i);
      const T no = to[i];
      to[i] = (lanes & lane_bit[i]) != 0 ? yes : no;
    }
  }
}

template <auto F>
struct Lanes;

/// d = F(a)
template <class D, class A, bool N, D (*F)(A) noexcept(N)>
struct Lanes<F> {
  static void run(Warp& warp, const Instruction& in) {
    const A* a = warp.row<A>(in.op[1]);
    write_each(
        warp.row<D>(in.op[0]),
        warp.enabled(in), [&](unsigned i) __attribute__((always_inline)) { return F(a[i]); });
  }
};

/// d = F(a, b)
template <class D, class A, class B, bool N, D (*F)(A, B) noexcept(N)>
struct Lanes<F> {
  static void run(Warp& warp, const Instruction& in) {
    const A* a = warp.row<A>(in.op[1]);
    const B* b = warp.row<B>(in.op[2]);
    write_each(
        warp.row<D>(in.op[0]),
        warp.enabled(in), [&](unsigned i) __attribute__((always_inline)) { return F(a[i], b[i]); });
  }
};

/// d = F(a, b, c)
template <class D, class A, class B, class C, bool N, D (*F)(A, B, C) noexcept(N)>
struct Lanes<F> {
  static void run(Warp& warp, const Instruction& in) {
    const A* a = warp.row<A>(in.op[1]);
    const B* b = warp.row<B>(in.op[2]);
    const C* c = warp.row<C>(in.op[3]);
    write_each(
        warp.row<D>(in.op[0]), warp.enabled(in), [&](unsigned i) __attribute__((always_inline)) {
          return F(a[i], b[i], c[i]);
        });
  }
};

/// d = F(a, b, c, e)
template <class D, class A, class B, class C, class E, bool N, D (*F)(A, B, C, E) noexcept(N)>
struct Lanes<F> {
  static void run(Warp& warp, const Instruction& in) {
    const A* a = warp.row<A>(in.op[1]);
    const B* b = warp.row<B>(in.op[2]);
    const C* c = warp.row<C>(in.op[3]);
    const E* e = warp.row<E>(in.op[4]);
    write_each(
        warp.row<D>(in.op[0]), warp.enabled(in), [&](unsigned i) __attribute__((always_inline)) {
          return F(a[i], b[i], c[i], e[i]);
        });
  }
};

/// The integer type as wide as T, whose sign says whether a condition holds.
template <class T>
using SignOf = std::conditional_t<
    sizeof(T) == 1, std::int8_t,
    std::conditional_t<sizeof(T) == 2, std::int16_t,
                       std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>>>;

/// The signs of the elements of a vector of integers, the first in bit 0.
template <class T>
[[gnu::always_inline]] inline std::uint32_t signs_of(typename VectorOf<T>::type v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(T) == 8) return _mm512_movepi64_mask((__m512i)v);
  if constexpr (sizeof(T) == 4) return _mm512_movepi32_mask((__m512i)v);
  if constexpr (sizeof(T) == 2) return _mm512_movepi16_mask((__m512i)v);
  if constexpr (sizeof(T) == 1) return _mm256_movepi8_mask((__m256i)v);
#elif defined(__AVX2__)
  if constexpr (sizeof(T) == 8) {
    return static_cast<std::uint32_t>(_mm256_movemask_pd((__m256d)v));
  } else if constexpr (sizeof(T) == 4) {
    return static_cast<std::uint32_t>(_mm256_movemask_ps((__m256)v));
  } else if constexpr (sizeof(T) == 2) {
    const auto all = (__m256i)v;
    const __m128i packed =
        _mm_packs_epi16(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    return static_cast<std::uint32_t>(_mm_movemask_epi8(packed));
  } else {
    return static_cast<std::uint32_t>(_mm256_movemask_epi8((__m256i)v));
  }
#elif defined(__SSE2__)
  if constexpr (sizeof(T) == 8) {
    return static_cast<std::uint32_t>(_mm_movemask_pd((__m128d)v));
  } else if constexpr (sizeof(T) == 4) {
    return static_cast<std::uint32_t>(_mm_movemask_ps((__m128)v));
  } else if constexpr (sizeof(T) == 2) {
    return static_cast<std::uint32_t>(
        _mm_movemask_epi8(_mm_packs_epi16((__m128i)v, _mm_setzero_si128())));
  } else {
    return static_cast<std::uint32_t>(_mm_movemask_epi8((__m128i)v));
  }
#else
  std::uint32_t mask = 0;
  for (unsigned i = 0; i < VectorOf<T>::lanes; ++i) mask |= v[i] < 0 ? lane_bit[i] : 0;
  return mask;
#endif
}

/// The mask of lanes whose integer is negative.
template <class T>
[[gnu::always_inline]] inline std::uint32_t mask_of_signs(const T* row) {
  using V = VectorOf<T>;
  std::uint32_t mask = 0;
#pragma GCC unroll 16
  for (unsigned i = 0; i < warp_size; i += V::lanes) {
    typename V::type v;
    __builtin_memcpy(&v, row + i, sizeof v);
    mask |= signs_of<T>(v) << i;
  }
  return mask;
}

/// The mask of lanes for which F(a, b) holds.
template <auto F, class A, class B>
[[gnu::always_inline]] inline std::uint32_t mask_of(const A* a, const B* b) {
  using Sign = SignOf<A>;
  alignas(64) Sign holds[warp_size];
  for (unsigned i = 0; i < warp_size; ++i) {
    holds[i] = F(a[i], b[i]) ? static_cast<Sign>(-1) : static_cast<Sign>(0);
  }
  return mask_of_signs(holds);
}

/// Which elements of two vectors satisfy Compare, the first in bit 0.
template <class Compare, class T>
[[gnu::always_inline]] inline std::uint32_t bits_where(typename VectorOf<T>::type x,
                                                       typename VectorOf<T>::type y) {
#if defined(__AVX512F__)
  if constexpr (std::is_same_v<T, float>) {
    return _mm512_cmp_ps_mask((__m512)x, (__m512)y, Compare::predicate);
  } else if constexpr (std::is_same_v<T, double>) {
    return _mm512_cmp_pd_mask((__m512d)x, (__m512d)y, Compare::predicate);
  } else if constexpr (std::is_signed_v<T>) {
    const auto a = (__m512i)x;
    const auto b = (__m512i)y;
    if constexpr (sizeof(T) == 8) return _mm512_cmp_epi64_mask(a, b, Compare::predicate);
    if constexpr (sizeof(T) == 4) return _mm512_cmp_epi32_mask(a, b, Compare::predicate);
    if constexpr (sizeof(T) == 2) return _mm512_cmp_epi16_mask(a, b, Compare::predicate);
  } else {
    const auto a = (__m512i)x;
    const auto b = (__m512i)y;
    if constexpr (sizeof(T) == 8) return _mm512_cmp_epu64_mask(a, b, Compare::predicate);
    if constexpr (sizeof(T) == 4) return _mm512_cmp_epu32_mask(a, b, Compare::predicate);
    if constexpr (sizeof(T) == 2) return _mm512_cmp_epu16_mask(a, b, Compare::predicate);
  }
#else
  return signs_of<SignOf<T>>(Compare::holds(x, y));
#endif
}

/// The same if Compare::holds(x, y) takes vectors, as in x < y, without a temporary row.
/// Compare::predicate is the equivalent immediate for AVX-512.
template <class Compare, class T>
[[gnu::always_inline]] inline std::uint32_t mask_where(const T* a, const T* b) {
  using V = VectorOf<T>;
  std::uint32_t mask = 0;
#pragma GCC unroll 16
  for (unsigned i = 0; i < warp_size; i += V::lanes) {
    typename V::type x;
    typename V::type y;
    __builtin_memcpy(&x, a + i, sizeof x);
    __builtin_memcpy(&y, b + i, sizeof y);
    mask |= bits_where<Compare, T>(x, y) << i;
  }
  return mask;
}

}  // namespace
}  // namespace cudacore::simulator
