// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=256
#include <cuda_fp16.h>

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const __half a = __float2half(static_cast<float>(in[threadIdx.x] % 2000) * 0.01f - 10.0f);
  const __half b = __float2half(static_cast<float>(in[threadIdx.x + 64] % 2000) * 0.01f - 10.0f);
  const __half2 both = __halves2half2(a, b);
  const __half2 sum = __hfma2(both, __half2half2(a), __lowhigh2highlow(both));
  out[threadIdx.x] =
      __half_as_ushort(__hadd(a, b)) | static_cast<unsigned>(__half_as_ushort(__hmul(a, b))) << 16;
  out[64 + threadIdx.x] = __half_as_ushort(__low2half(sum)) |
                          static_cast<unsigned>(__half_as_ushort(__high2half(sum))) << 16;
  out[128 + threadIdx.x] = __half_as_ushort(__hmax(a, b)) | static_cast<unsigned>(__hlt(a, b))
                                                                << 16;
  out[192 + threadIdx.x] = static_cast<unsigned>(__half2int_rn(a) + 3 * __half2int_rz(b));
}
