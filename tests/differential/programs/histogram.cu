// SPDX-License-Identifier: Apache-2.0
// launch: grid=4 block=128 output=64

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned bins[64];
  if (threadIdx.x < 64) bins[threadIdx.x] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * 128 + threadIdx.x; i < n; i += 512)
    atomicAdd(&bins[in[i] >> 26], 1);
  __syncthreads();
  if (threadIdx.x < 64) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}
