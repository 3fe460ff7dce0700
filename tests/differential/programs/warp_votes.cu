// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=320 targets=sm_80,sm_90

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned value = in[threadIdx.x];
  const unsigned all = 0xffffffff;
  out[threadIdx.x] = __ballot_sync(all, value & 1);
  out[64 + threadIdx.x] = __match_any_sync(all, value % 5);
  out[128 + threadIdx.x] =
      static_cast<unsigned>(__all_sync(all, value != 0) + 2 * __any_sync(all, value % 64 == 0)) +
      __popc(__activemask());
  out[192 + threadIdx.x] = __reduce_max_sync(all, value) ^ __reduce_xor_sync(all, value);
  unsigned sum = 0;
  if (threadIdx.x % 32 < 20)
    sum = __reduce_add_sync(0xfffff, value) + __shfl_xor_sync(0xfffff, value, 1);
  out[256 + threadIdx.x] = sum;
}
