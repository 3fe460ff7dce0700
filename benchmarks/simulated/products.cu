// SPDX-License-Identifier: Apache-2.0
//
// Products of matrices with the matrix instructions: mma using only registers, and a complete
// product with wmma, which also loads its matrices.
#include <mma.h>

using Registers = unsigned[4];

// Each adds a 16 x 8 product to c.
struct F16 {
  static __device__ void add(Registers& c, const Registers& a, const unsigned (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};
struct Bf16 {
  static __device__ void add(Registers& c, const Registers& a, const unsigned (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};
struct Tf32 {
  static __device__ void add(Registers& c, const Registers& a, const unsigned (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};
struct S8 {
  static __device__ void add(Registers& c, const Registers& a, const unsigned (&b)[2]) {
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, "
        "{%8, %9}, {%0, %1, %2, %3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  }
};

// All elements of a are the same, and so are those of b; one value of each warp's sums is kept.
template <class Type>
__global__ void mma(int steps, unsigned a_bits, unsigned b_bits, unsigned* sums) {
  const Registers a{a_bits, a_bits, a_bits, a_bits};
  const unsigned b[2]{b_bits, b_bits};
  Registers c[4]{};
  for (int i = 0; i < steps; i += 4) {
    Type::add(c[0], a, b);
    Type::add(c[1], a, b);
    Type::add(c[2], a, b);
    Type::add(c[3], a, b);
  }
  sums[blockIdx.x * blockDim.x + threadIdx.x] = c[threadIdx.x % 4][0];
}

// One warp for each 16 x 16 tile of c: a is stored by rows, b by columns.
extern "C" __global__ void wmma_matmul(int n, const half* a, const half* b, float* c) {
  using namespace nvcuda::wmma;
  fragment<accumulator, 16, 16, 16, float> sum;
  fill_fragment(sum, 0.0f);
  const half* a_tile = a + 16 * blockIdx.y * n;
  const half* b_tile = b + 16 * blockIdx.x * n;
  for (int k = 0; k < n; k += 16) {
    fragment<matrix_a, 16, 16, 16, half, row_major> left;
    fragment<matrix_b, 16, 16, 16, half, col_major> right;
    load_matrix_sync(left, a_tile + k, n);
    load_matrix_sync(right, b_tile + k, n);
    mma_sync(sum, left, right, sum);
  }
  store_matrix_sync(c + 16 * blockIdx.y * n + 16 * blockIdx.x, sum, n, mem_row_major);
}
