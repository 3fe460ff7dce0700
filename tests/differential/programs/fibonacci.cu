// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=64
__device__ __noinline__ unsigned fibonacci(unsigned n) {
  return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  out[threadIdx.x] = fibonacci(in[threadIdx.x] % 15);
}
