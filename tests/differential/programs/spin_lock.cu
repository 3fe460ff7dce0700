// SPDX-License-Identifier: Apache-2.0
// launch: grid=4 block=64 output=2
__device__ unsigned lock;

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  for (;;) {
    if (atomicCAS(&lock, 0, 1) == 0) {
      __threadfence();
      volatile unsigned* sum = out;
      sum[0] = sum[0] + in[blockIdx.x * 64 + threadIdx.x] % 100;
      sum[1] = sum[1] + 1;
      __threadfence();
      atomicExch(&lock, 0);
      break;
    }
  }
}
