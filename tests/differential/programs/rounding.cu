// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=640

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const float a = __uint_as_float(in[threadIdx.x] & 0xbfffffff | 0x20000000),
              b = __uint_as_float(in[threadIdx.x + 64] & 0xbfffffff | 0x20000000);
  const float r[10] = {__fadd_rd(a, b), __fadd_ru(a, b),      __fmul_rz(a, b),    __fdiv_rn(a, b),
                       __fdiv_ru(a, b), __fsqrt_rd(fabsf(a)), __fmaf_ru(a, b, a), __frcp_rz(b),
                       rintf(a),        fmodf(a, b * 0.001f)};
  for (unsigned i = 0; i < 10; ++i)
    out[threadIdx.x * 10 + i] = isnan(r[i]) ? 0x7fffffffu : __float_as_uint(r[i]);
}
