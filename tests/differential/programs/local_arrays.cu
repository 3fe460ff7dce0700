// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=64

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  unsigned a[24];
  for (unsigned i = 0; i < 24; ++i) a[i] = in[(threadIdx.x * 24 + i) % n];
  for (unsigned k = 0; k < 40; ++k) {
    const unsigned i = a[k % 24] % 24, j = (a[(k + 5) % 24] >> 8) % 24;
    const unsigned t = a[i];
    a[i] = a[j] + k;
    a[j] = t ^ k;
  }
  unsigned sum = 0;
  for (unsigned i = 0; i < 24; ++i) sum = sum * 31 + a[i];
  out[threadIdx.x] = sum;
}
