// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=256 mode=approx.f32:1e-4:1e-3

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ float2 data[128];
  const auto unit = [&](unsigned i) { return static_cast<float>(in[i]) * 0x1p-32f - 0.5f; };
  for (unsigned i = threadIdx.x; i < 128; i += 64) data[__brev(i) >> 25] = {unit(i), unit(128 + i)};
  for (unsigned half = 1; half < 128; half *= 2) {
    __syncthreads();
    const unsigned k = threadIdx.x % half, i = threadIdx.x / half * 2 * half + k;
    float s, c;
    sincospif(-static_cast<float>(k) / half, &s, &c);
    const float2 a = data[i], b = data[i + half];
    const float2 t{b.x * c - b.y * s, b.x * s + b.y * c};
    data[i] = {a.x + t.x, a.y + t.y};
    data[i + half] = {a.x - t.x, a.y - t.y};
  }
  __syncthreads();
  for (unsigned i = threadIdx.x; i < 128; i += 64) {
    out[2 * i] = __float_as_uint(data[i].x);
    out[2 * i + 1] = __float_as_uint(data[i].y);
  }
}
