// SPDX-License-Identifier: Apache-2.0
// launch: grid=2,2 block=32,8 output=4096

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  __shared__ unsigned tile[32][33];
  for (unsigned j = 0; j < 32; j += 8) {
    tile[threadIdx.y + j][threadIdx.x] =
        in[(blockIdx.y * 32 + threadIdx.y + j) * 64 + blockIdx.x * 32 + threadIdx.x];
  }
  __syncthreads();
  for (unsigned j = 0; j < 32; j += 8) {
    out[(blockIdx.x * 32 + threadIdx.y + j) * 64 + blockIdx.y * 32 + threadIdx.x] =
        tile[threadIdx.x][threadIdx.y + j];
  }
}
