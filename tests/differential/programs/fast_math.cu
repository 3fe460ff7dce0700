// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=512 options=fast mode=approx.f32:1e-5:1e-5

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const float a = in[threadIdx.x] * 0x1p-30f + 0.001f, b = in[threadIdx.x + 64] * 0x1p-31f - 1;
  const float r[8] = {sinf(a),     expf(b), logf(a + 1), powf(a, b),
                      a / (b + 4), cosf(b), sqrtf(a),    1 / a};
  for (unsigned i = 0; i < 8; ++i) out[threadIdx.x * 8 + i] = __float_as_uint(r[i]);
}
