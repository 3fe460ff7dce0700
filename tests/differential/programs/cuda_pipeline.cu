// SPDX-License-Identifier: Apache-2.0
// launch: grid=2 block=64 output=128 targets=sm_90
#include <cuda/pipeline>

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ uint4 stages[2][64];
  auto pipe = cuda::make_pipeline();
  const uint4* from = reinterpret_cast<const uint4*>(in) + blockIdx.x * 64;
  unsigned sum = 0;
  for (unsigned k = 0; k < 5; ++k) {
    if (k < 4) {
      pipe.producer_acquire();
      cuda::memcpy_async(&stages[k % 2][threadIdx.x], from + k * 128 + threadIdx.x, sizeof(uint4),
                         pipe);
      pipe.producer_commit();
    }
    if (k != 0) {
      pipe.consumer_wait();
      const uint4 got = stages[(k - 1) % 2][threadIdx.x];
      sum = sum * 3 + got.x + got.y * 5 + got.z * 7 + got.w;
      pipe.consumer_release();
    }
    if (k == 0) continue;
  }
  out[blockIdx.x * 64 + threadIdx.x] = sum;
}
