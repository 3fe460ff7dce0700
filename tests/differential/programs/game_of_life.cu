// SPDX-License-Identifier: Apache-2.0
// launch: block=32,32 output=1024

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned char cells[32][32];
  const unsigned x = threadIdx.x, y = threadIdx.y;
  cells[y][x] = in[y * 32 + x] & 1;
  for (int round = 0; round < 16; ++round) {
    __syncthreads();
    unsigned around = 0;
    for (unsigned dy = 31; dy <= 33; ++dy)
      for (unsigned dx = 31; dx <= 33; ++dx)
        if (dx != 32 || dy != 32) around += cells[(y + dy) % 32][(x + dx) % 32];
    const bool lives = around == 3 || (around == 2 && cells[y][x]);
    __syncthreads();
    cells[y][x] = lives;
  }
  out[y * 32 + x] = cells[y][x];
}
