// SPDX-License-Identifier: Apache-2.0
// launch: block=32 output=256

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  unsigned h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  unsigned w[64];
  for (unsigned i = 0; i < 16; ++i) w[i] = in[threadIdx.x * 16 + i];
  const auto turn = [](unsigned x, unsigned by) { return __funnelshift_r(x, x, by); };
  for (unsigned i = 16; i < 64; ++i) {
    const unsigned s0 = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
    const unsigned s1 = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
    w[i] = w[i - 16] + s0 + w[i - 7] + s1;
  }
  unsigned v[8];
  for (int i = 0; i < 8; ++i) v[i] = h[i];
  for (unsigned i = 0; i < 64; ++i) {
    const unsigned s1 = turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25);
    const unsigned t1 = v[7] + s1 + ((v[4] & v[5]) ^ (~v[4] & v[6])) + i * 0x9e3779b9u + w[i];
    const unsigned s0 = turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22);
    const unsigned t2 = s0 + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
    for (int k = 7; k > 0; --k) v[k] = v[k - 1];
    v[4] += t1;
    v[0] = t1 + t2;
  }
  for (int i = 0; i < 8; ++i) out[threadIdx.x * 8 + i] = h[i] + v[i];
}
