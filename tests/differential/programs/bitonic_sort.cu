// SPDX-License-Identifier: Apache-2.0
// launch: grid=2 block=256 output=1024

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned keys[512];
  const unsigned base = blockIdx.x * 512;
  for (unsigned i = threadIdx.x; i < 512; i += 256) keys[i] = in[base + i];
  for (unsigned size = 2; size <= 512; size *= 2) {
    for (unsigned step = size / 2; step != 0; step /= 2) {
      __syncthreads();
      const unsigned i = 2 * threadIdx.x - (threadIdx.x & (step - 1));
      const bool up = (i & size) == 0;
      const unsigned a = keys[i], b = keys[i + step];
      if ((a > b) == up) {
        keys[i] = b;
        keys[i + step] = a;
      }
    }
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 512; i += 256) out[base + i] = keys[i];
}
