// SPDX-License-Identifier: Apache-2.0
// launch: block=32 output=640 options=int128

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned* w = in + threadIdx.x * 8;
  const auto make = [&](unsigned i) {
    return static_cast<unsigned __int128>(static_cast<unsigned long long>(w[i]) << 32 | w[i + 1])
               << 64 |
           (static_cast<unsigned long long>(w[i + 2]) << 32 | w[i + 3]);
  };
  const unsigned __int128 a = make(0), b = make(4) >> (threadIdx.x * 3) | 1;
  const unsigned __int128 r[5] = {a + b, a - b, a * b, a / b, a % b};
  for (unsigned i = 0; i < 5; ++i)
    for (unsigned k = 0; k < 4; ++k)
      out[(threadIdx.x * 5 + i) * 4 + k] = static_cast<unsigned>(r[i] >> (32 * k));
}
