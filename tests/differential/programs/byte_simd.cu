// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=384

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned a = in[threadIdx.x], b = in[threadIdx.x + 64];
  const unsigned r[6] = {__vadd4(a, b),
                         __vsubss2(a, b),
                         __vmaxs4(a, b),
                         __vcmpgtu2(a, b),
                         __dp4a(static_cast<int>(a), static_cast<int>(b), 7) + 0u,
                         __vavgu4(a, b)};
  for (unsigned i = 0; i < 6; ++i) out[threadIdx.x * 6 + i] = r[i];
}
