// SPDX-License-Identifier: Apache-2.0
// launch: grid=2,2,2 block=4,3,2 output=192

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const unsigned thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  out[block * 24 + thread] = in[block * 24 + thread] + threadIdx.x * 1000000 + threadIdx.y * 10000 +
                             threadIdx.z * 100 + blockIdx.z;
}
