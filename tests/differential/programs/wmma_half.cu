// SPDX-License-Identifier: Apache-2.0
// launch: block=32 output=256 targets=sm_75,sm_90
#include <cuda_fp16.h>
#include <mma.h>

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  using namespace nvcuda;
  __shared__ __half a[256], b[256];
  __shared__ float c[256];
  for (unsigned i = threadIdx.x; i < 256; i += 32) {
    a[i] = __int2half_rn(static_cast<int>(in[i] % 16) - 8);
    b[i] = __int2half_rn(static_cast<int>(in[256 + i] % 16) - 8);
  }
  __syncwarp();
  wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> fa;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> fb;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> fc;
  wmma::fill_fragment(fc, 1.5f);
  wmma::load_matrix_sync(fa, a, 16);
  wmma::load_matrix_sync(fb, b, 16);
  for (int k = 0; k < 3; ++k) wmma::mma_sync(fc, fa, fb, fc);
  for (int i = 0; i < fc.num_elements; ++i) fc.x[i] *= 0.5f;
  wmma::store_matrix_sync(c, fc, 16, wmma::mem_row_major);
  __syncwarp();
  for (unsigned i = threadIdx.x; i < 256; i += 32) out[i] = __float_as_uint(c[i]);
}
