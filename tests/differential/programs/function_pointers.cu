// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=128
using Operation = unsigned (*)(unsigned, unsigned);
__device__ __noinline__ unsigned plus(unsigned a, unsigned b) { return a + b; }
__device__ __noinline__ unsigned times(unsigned a, unsigned b) { return a * b; }
__device__ __noinline__ unsigned minus(unsigned a, unsigned b) { return a - b; }
__device__ __noinline__ unsigned rest(unsigned a, unsigned b) { return a % b; }
__device__ Operation table[] = {plus, times, minus, rest};
__device__ __noinline__ unsigned apply(Operation f, unsigned a, unsigned times) {
  for (unsigned i = 0; i < times; ++i) a = f(a, i + 2);
  return a;
}

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned a = in[threadIdx.x], b = in[threadIdx.x + 64] | 1;
  out[threadIdx.x] = table[a % 4](a, b);
  Operation chosen = b & 2 ? table[1] : table[2];
  out[threadIdx.x + 64] = chosen(b, a) + apply(chosen, a, 3);
}
