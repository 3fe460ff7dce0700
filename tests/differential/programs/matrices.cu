// SPDX-License-Identifier: Apache-2.0
// mma.h: wmma in every type, shape and layout.
#include <mma.h>

using namespace nvcuda::wmma;
using u8 = unsigned char;
using s8 = signed char;

template <class Layout>
constexpr bool is_rows = false;
template <>
constexpr bool is_rows<row_major> = true;

template <class A, class C, class D, int m, int n, int k, class RowsA, class RowsB>
__global__ void multiply(const A* in, const C* add, D* out) {
  fragment<matrix_a, m, n, k, A, RowsA> a;
  fragment<matrix_b, m, n, k, A, RowsB> b;
  fragment<accumulator, m, n, k, C> c;
  fragment<accumulator, m, n, k, D> d;
  constexpr bool rows_a = is_rows<RowsA>;
  constexpr bool rows_b = is_rows<RowsB>;
  load_matrix_sync(a, in, rows_a ? k : m);
  load_matrix_sync(b, in + m * k, rows_b ? n : k);
  load_matrix_sync(c, add, n, mem_row_major);
  mma_sync(d, a, b, c);
  for (int i = 0; i < d.num_elements; ++i) d.x[i] = d.x[i] + d.x[i];
  store_matrix_sync(out, d, n, mem_row_major);
  fill_fragment(c, C(3));
  mma_sync(d, a, b, c);
  store_matrix_sync(out + m * n, d, m, mem_col_major);
}

template <class RowsA, class RowsB>
__global__ void multiply_tf32(const float* in, const float* add, float* out) {
  fragment<matrix_a, 16, 16, 8, precision::tf32, RowsA> a;
  fragment<matrix_b, 16, 16, 8, precision::tf32, RowsB> b;
  fragment<accumulator, 16, 16, 8, float> c;
  load_matrix_sync(a, in, is_rows<RowsA> ? 8 : 16);
  load_matrix_sync(b, in + 128, is_rows<RowsB> ? 16 : 8);
  for (int i = 0; i < a.num_elements; ++i) a.x[i] = __float_to_tf32(a.x[i]);
  for (int i = 0; i < b.num_elements; ++i) b.x[i] = __float_to_tf32(b.x[i]);
  load_matrix_sync(c, add, 16, mem_col_major);
  mma_sync(c, a, b, c);
  store_matrix_sync(out, c, 16, mem_row_major);
}

template <class RowsA, class RowsB>
__global__ void multiply_double(const double* in, const double* add, double* out) {
  fragment<matrix_a, 8, 8, 4, double, RowsA> a;
  fragment<matrix_b, 8, 8, 4, double, RowsB> b;
  fragment<accumulator, 8, 8, 4, double> c;
  load_matrix_sync(a, in, is_rows<RowsA> ? 4 : 8);
  load_matrix_sync(b, in + 32, is_rows<RowsB> ? 8 : 4);
  load_matrix_sync(c, add, 8, mem_row_major);
  mma_sync(c, a, b, c);
  store_matrix_sync(out, c, 8, mem_row_major);
}

template <class T>
__global__ void multiply_small(const int* in, const int* add, int* out) {
  fragment<matrix_a, 8, 8, 32, T, row_major> a;
  fragment<matrix_b, 8, 8, 32, T, col_major> b;
  fragment<accumulator, 8, 8, 32, int> c;
  load_matrix_sync(a, in, 32);
  load_matrix_sync(b, in + 32, 32);
  load_matrix_sync(c, add, 8, mem_row_major);
  mma_sync(c, a, b, c);
  store_matrix_sync(out, c, 8, mem_row_major);
}

template <int op>
__global__ void multiply_bits(const int* in, const int* add, int* out) {
  fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major> a;
  fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major> b;
  fragment<accumulator, 8, 8, 128, int> c;
  load_matrix_sync(a, in, 128);
  load_matrix_sync(b, in + 32, 128);
  load_matrix_sync(c, add, 8, mem_row_major);
  bmma_sync(c, a, b, c, static_cast<experimental::bmmaBitOp>(op));
  store_matrix_sync(out, c, 8, mem_row_major);
}
