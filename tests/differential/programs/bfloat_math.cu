// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=256 targets=sm_80,sm_90
#include <cuda_bf16.h>

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const __nv_bfloat16 a =
      __float2bfloat16(static_cast<float>(in[threadIdx.x] % 2000) * 0.01f - 10.0f);
  const __nv_bfloat16 b =
      __float2bfloat16(static_cast<float>(in[threadIdx.x + 64] % 2000) * 0.01f - 10.0f);
  const __nv_bfloat162 both = __halves2bfloat162(a, b);
  const __nv_bfloat162 sum = __hfma2(both, __bfloat162bfloat162(a), __lowhigh2highlow(both));
  out[threadIdx.x] = __bfloat16_as_ushort(__hadd(a, b)) |
                     static_cast<unsigned>(__bfloat16_as_ushort(__hmul(a, b))) << 16;
  out[64 + threadIdx.x] = __bfloat16_as_ushort(__low2bfloat16(sum)) |
                          static_cast<unsigned>(__bfloat16_as_ushort(__high2bfloat16(sum))) << 16;
  out[128 + threadIdx.x] = __bfloat16_as_ushort(__hmax(a, b)) | static_cast<unsigned>(__hlt(a, b))
                                                                    << 16;
  out[192 + threadIdx.x] = static_cast<unsigned>(__bfloat162int_rn(a) + 3 * __bfloat162int_rz(b));
}
