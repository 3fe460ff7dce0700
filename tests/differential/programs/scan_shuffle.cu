// SPDX-License-Identifier: Apache-2.0
// launch: grid=4 block=128 output=512

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned sums[4];
  const unsigned i = blockIdx.x * 128 + threadIdx.x;
  const unsigned lane = threadIdx.x % 32;
  unsigned value = in[i] % 100;
  for (unsigned step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffff, value, step);
    if (lane >= step) value += other;
  }
  if (lane == 31) sums[threadIdx.x / 32] = value;
  __syncthreads();
  for (unsigned w = 0; w < threadIdx.x / 32; ++w) value += sums[w];
  out[i] = value;
}
