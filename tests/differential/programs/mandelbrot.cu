// SPDX-License-Identifier: Apache-2.0
// launch: grid=4,4 block=8,8 output=1024

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned x = blockIdx.x * 8 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
  const float cr = -2.0f + x * 0.09375f, ci = -1.5f + y * 0.09375f;
  float zr = 0, zi = 0;
  unsigned steps = 0;
  while (steps < 200 && zr * zr + zi * zi < 4.0f) {
    const float next = zr * zr - zi * zi + cr;
    zi = 2 * zr * zi + ci;
    zr = next;
    ++steps;
  }
  out[y * 32 + x] = steps;
}
