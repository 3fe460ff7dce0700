// SPDX-License-Identifier: Apache-2.0
// launch: grid=2,2 block=16,16 output=1024

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ float a[16][16], b[16][17];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  const unsigned row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
  float sum = 0;
  for (unsigned tile = 0; tile < 2; ++tile) {
    a[y][x] = static_cast<float>(in[row * 32 + tile * 16 + x] % 64);
    b[y][x] = static_cast<float>(in[1024 + (tile * 16 + y) * 32 + column] % 64) * 0.125f;
    __syncthreads();
    for (unsigned k = 0; k < 16; ++k) sum += a[y][k] * b[k][x];
    __syncthreads();
  }
  out[row * 32 + column] = __float_as_uint(sum);
}
