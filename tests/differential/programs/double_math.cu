// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=768 mode=approx.f64:1e-13:1e-15

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const double a = in[threadIdx.x] * 0x1p-30 + 0.001, b = in[threadIdx.x + 64] * 0x1p-31 - 1;
  const double r[6] = {sin(a * 20) * exp(b), log(a) / (b + 3), pow(a, b),
                       sqrt(a) + cbrt(b),    atan2(b, a),      erf(b) + tgamma(a + 1)};
  for (unsigned i = 0; i < 6; ++i) {
    const unsigned long long bits = static_cast<unsigned long long>(__double_as_longlong(r[i]));
    out[(threadIdx.x * 6 + i) * 2] = static_cast<unsigned>(bits);
    out[(threadIdx.x * 6 + i) * 2 + 1] = static_cast<unsigned>(bits >> 32);
  }
}
