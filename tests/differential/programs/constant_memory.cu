// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=128
__constant__ unsigned table[16] = {
    0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4, 0x4db26158, 0x5005713c,
    0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c, 0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
__constant__ float2 weights[3] = {{1.5f, 2.25f}, {-3.0f, 0.125f}, {8.0f, 1e-3f}};

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  unsigned crc = 0xffffffff;
  for (unsigned i = 0; i < 8; ++i) {
    const unsigned word = in[threadIdx.x * 8 + i];
    for (unsigned b = 0; b < 8; ++b) crc = crc >> 4 ^ table[(crc ^ word >> (4 * b)) & 15];
  }
  out[threadIdx.x] = ~crc;
  out[64 + threadIdx.x] = __float_as_uint(weights[threadIdx.x % 3].y * 3 + weights[0].x);
}
