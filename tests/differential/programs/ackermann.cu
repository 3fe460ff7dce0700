// SPDX-License-Identifier: Apache-2.0
// launch: block=32 output=32
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n) {
  if (m == 0) return n + 1;
  if (n == 0) return ackermann(m - 1, 1);
  return ackermann(m - 1, ackermann(m, n - 1));
}

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  out[threadIdx.x] = ackermann(in[threadIdx.x] % 3, in[threadIdx.x + 32] % 5);
}
