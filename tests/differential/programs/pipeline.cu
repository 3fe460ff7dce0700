// SPDX-License-Identifier: Apache-2.0
// launch: grid=2 block=64 output=128 targets=sm_90
#include <cuda_pipeline.h>

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned stages[2][64];
  unsigned sum = 0;
  const unsigned* from = in + blockIdx.x * 64 + threadIdx.x;
  __pipeline_memcpy_async(&stages[0][threadIdx.x], from, 4);
  __pipeline_commit();
  for (unsigned k = 0; k < 8; ++k) {
    if (k + 1 < 8)
      __pipeline_memcpy_async(&stages[(k + 1) % 2][threadIdx.x], from + (k + 1) * 128, 4);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    sum = sum * 3 + stages[k % 2][63 - threadIdx.x];
    __syncthreads();
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
