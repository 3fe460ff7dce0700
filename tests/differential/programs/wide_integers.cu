// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=1024

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const auto word = [&](unsigned i) {
    return static_cast<unsigned long long>(in[i]) << 32 | in[i + 1];
  };
  const unsigned long long a = word(threadIdx.x * 4),
                           b = word(threadIdx.x * 4 + 2) >> (threadIdx.x % 60) | 1;
  const long long s = static_cast<long long>(a), t = static_cast<long long>(b);
  unsigned long long r[8] = {a * b,
                             a / b,
                             a % b,
                             static_cast<unsigned long long>(s / t),
                             static_cast<unsigned long long>(s % t),
                             __umul64hi(a, b),
                             static_cast<unsigned long long>(__mul64hi(s, t)),
                             a << (b % 64) ^ static_cast<unsigned long long>(s >> (b % 64))};
  for (unsigned i = 0; i < 8; ++i) {
    out[(threadIdx.x * 8 + i) * 2] = static_cast<unsigned>(r[i]);
    out[(threadIdx.x * 8 + i) * 2 + 1] = static_cast<unsigned>(r[i] >> 32);
  }
}
