// SPDX-License-Identifier: Apache-2.0
// launch: grid=2 block=128 output=256

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned keys[128], counts[16], starts[16];
  unsigned key = in[blockIdx.x * 128 + threadIdx.x];
  for (unsigned shift = 0; shift < 32; shift += 4) {
    if (threadIdx.x < 16) counts[threadIdx.x] = 0;
    keys[threadIdx.x] = key;
    __syncthreads();
    const unsigned digit = key >> shift & 15;
    atomicAdd(&counts[digit], 1);
    unsigned before = 0;
    for (unsigned i = 0; i < threadIdx.x; ++i) before += (keys[i] >> shift & 15) == digit;
    __syncthreads();
    if (threadIdx.x == 0) {
      unsigned sum = 0;
      for (unsigned d = 0; d < 16; ++d) {
        starts[d] = sum;
        sum += counts[d];
      }
    }
    __syncthreads();
    keys[starts[digit] + before] = key;
    __syncthreads();
    key = keys[threadIdx.x];
    __syncthreads();
  }
  out[blockIdx.x * 128 + threadIdx.x] = key;
}
