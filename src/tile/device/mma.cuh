// SPDX-License-Identifier: Apache-2.0
#pragma once

// Matrix instructions: one warp multiplies fragments that its lanes hold in registers.

namespace cudacore_tile::matrix {

// What an operand's bits mean to a matrix instruction.
enum class Kind { f16, bf16, tf32, f32, f64, e4m3, e5m2, s8, u8 };

__host__ __device__ constexpr int size_of(Kind kind) {
  switch (kind) {
    case Kind::f64:
      return 8;
    case Kind::f32:
    case Kind::tf32:
      return 4;
    case Kind::f16:
    case Kind::bf16:
      return 2;
    default:
      return 1;
  }
}

#define CUDACORE_MMA_F32(SHAPE, NAMES)                                       \
  asm("mma.sync.aligned." SHAPE ".row.col.f32." NAMES                        \
      ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])                       \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

#define CUDACORE_MMA_F16(SHAPE, NAMES)                       \
  asm("mma.sync.aligned." SHAPE ".row.col.f16." NAMES        \
      ".f16 {%0, %1}, {%2, %3, %4, %5}, {%6, %7}, {%0, %1};" \
      : "+r"(c[0]), "+r"(c[1])                               \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

#define CUDACORE_MMA_S32(NAMES)                                              \
  asm("mma.sync.aligned.m16n8k32.row.col.s32." NAMES                         \
      ".s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};" \
      : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])                       \
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

#define CUDACORE_MMA_S32_SMALL(NAMES, C0, C1, A, B)                                        \
  asm("mma.sync.aligned.m8n8k16.row.col.s32." NAMES ".s32 {%0, %1}, {%2}, {%3}, {%0, %1};" \
      : "+r"(c[C0]), "+r"(c[C1])                                                           \
      : "r"(a[A]), "r"(b[B]))

// c += a b for 16 rows, 8 columns and 32 bytes of the inner extent, in f32.
template <Kind kind_a, Kind kind_b>
__device__ __forceinline__ void multiply(float (&c)[4], const unsigned (&a)[4],
                                         const unsigned (&b)[2]) {
  if constexpr (kind_a == Kind::f16) {
#if __CUDA_ARCH__ >= 800
    CUDACORE_MMA_F32("m16n8k16", "f16.f16");
#else
#pragma unroll
    for (int half = 0; half < 2; ++half)
      asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, "
          "{%0, %1, %2, %3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
#endif
  }
#if __CUDA_ARCH__ >= 800
  if constexpr (kind_a == Kind::bf16) CUDACORE_MMA_F32("m16n8k16", "bf16.bf16");
  if constexpr (kind_a == Kind::tf32) CUDACORE_MMA_F32("m16n8k8", "tf32.tf32");
#endif
#if __CUDA_ARCH__ >= 890
  if constexpr (kind_a == Kind::e4m3 && kind_b == Kind::e4m3)
    CUDACORE_MMA_F32("m16n8k32", "e4m3.e4m3");
  if constexpr (kind_a == Kind::e4m3 && kind_b == Kind::e5m2)
    CUDACORE_MMA_F32("m16n8k32", "e4m3.e5m2");
  if constexpr (kind_a == Kind::e5m2 && kind_b == Kind::e4m3)
    CUDACORE_MMA_F32("m16n8k32", "e5m2.e4m3");
  if constexpr (kind_a == Kind::e5m2 && kind_b == Kind::e5m2)
    CUDACORE_MMA_F32("m16n8k32", "e5m2.e5m2");
#endif
}

// The same in f16; c holds pairs.
template <Kind kind_a, Kind kind_b>
__device__ __forceinline__ void multiply(unsigned (&c)[2], const unsigned (&a)[4],
                                         const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  CUDACORE_MMA_F16("m16n8k16", "f16.f16");
#else
#pragma unroll
  for (int half = 0; half < 2; ++half)
    asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0, %1}, {%2, %3}, {%4}, {%0, %1};"
        : "+r"(c[0]), "+r"(c[1])
        : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
#endif
}

// The same of bytes.
template <Kind kind_a, Kind kind_b>
__device__ __forceinline__ void multiply(int (&c)[4], const unsigned (&a)[4],
                                         const unsigned (&b)[2]) {
#if __CUDA_ARCH__ >= 800
  if constexpr (kind_a == Kind::s8 && kind_b == Kind::s8) CUDACORE_MMA_S32("s8.s8");
  if constexpr (kind_a == Kind::s8 && kind_b == Kind::u8) CUDACORE_MMA_S32("s8.u8");
  if constexpr (kind_a == Kind::u8 && kind_b == Kind::s8) CUDACORE_MMA_S32("u8.s8");
  if constexpr (kind_a == Kind::u8 && kind_b == Kind::u8) CUDACORE_MMA_S32("u8.u8");
#else
#define CUDACORE_MMA_QUARTERS(NAMES)         \
  CUDACORE_MMA_S32_SMALL(NAMES, 0, 1, 0, 0); \
  CUDACORE_MMA_S32_SMALL(NAMES, 0, 1, 2, 1); \
  CUDACORE_MMA_S32_SMALL(NAMES, 2, 3, 1, 0); \
  CUDACORE_MMA_S32_SMALL(NAMES, 2, 3, 3, 1)
  if constexpr (kind_a == Kind::s8 && kind_b == Kind::s8) {
    CUDACORE_MMA_QUARTERS("s8.s8");
  }
  if constexpr (kind_a == Kind::s8 && kind_b == Kind::u8) {
    CUDACORE_MMA_QUARTERS("s8.u8");
  }
  if constexpr (kind_a == Kind::u8 && kind_b == Kind::s8) {
    CUDACORE_MMA_QUARTERS("u8.s8");
  }
  if constexpr (kind_a == Kind::u8 && kind_b == Kind::u8) {
    CUDACORE_MMA_QUARTERS("u8.u8");
  }
#undef CUDACORE_MMA_QUARTERS
#endif
}

// c += a b for 8 rows, 8 columns and an inner extent of 4, in f64 (compute capability 8.0).
__device__ __forceinline__ void multiply(double (&c)[2], double a, double b) {
  asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
      : "+d"(c[0]), "+d"(c[1])
      : "d"(a), "d"(b));
}

#undef CUDACORE_MMA_F32
#undef CUDACORE_MMA_F16
#undef CUDACORE_MMA_S32
#undef CUDACORE_MMA_S32_SMALL

}  // namespace cudacore_tile::matrix
