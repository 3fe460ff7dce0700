// SPDX-License-Identifier: Apache-2.0
// launch: grid=4 block=256 output=4

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned part[256];
  unsigned sum = 0;
  for (unsigned i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
    sum += in[i] % 1000;
  part[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned half = 128; half != 0; half /= 2) {
    if (threadIdx.x < half) part[threadIdx.x] += part[threadIdx.x + half];
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
