// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=576

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned a = in[threadIdx.x], b = in[threadIdx.x + 64], c = in[threadIdx.x + 128];
  unsigned r[9];
  asm("lop3.b32 %0, %1, %2, %3, 0x96;" : "=r"(r[0]) : "r"(a), "r"(b), "r"(c));
  asm("prmt.b32 %0, %1, %2, 0x6240;" : "=r"(r[1]) : "r"(a), "r"(b));
  asm("{ .reg .u32 t; add.cc.u32 t, %1, %2; addc.u32 %0, t, 0; }" : "=r"(r[2]) : "r"(a), "r"(b));
  asm("bfe.u32 %0, %1, 5, 11;" : "=r"(r[3]) : "r"(a));
  asm("shf.l.wrap.b32 %0, %1, %2, %3;" : "=r"(r[4]) : "r"(a), "r"(b), "r"(c));
  asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(r[5]) : "r"(a), "r"(b), "r"(c));
  asm("mad.hi.u32 %0, %1, %2, %3;" : "=r"(r[6]) : "r"(a), "r"(b), "r"(c));
  asm("{ .reg .pred p, q; setp.lt.u32 p|q, %1, %2; @p mov.u32 %0, 1; @q mov.u32 %0, 2; }"
      : "=r"(r[7])
      : "r"(a), "r"(b));
  asm volatile(
      "{ .reg .b64 t; .reg .b32 x, y; mov.b64 t, {%1, %2}; shr.u64 t, t, 7; mov.b64 {x, y}, t; "
      "xor.b32 %0, x, y; }"
      : "=r"(r[8])
      : "r"(a), "r"(b));
  for (unsigned i = 0; i < 9; ++i) out[threadIdx.x * 9 + i] = r[i];
}
