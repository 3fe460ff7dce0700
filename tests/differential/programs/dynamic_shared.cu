// SPDX-License-Identifier: Apache-2.0
// launch: grid=2 block=64 shared=2048 output=128

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  extern __shared__ unsigned char memory[];
  unsigned* words = reinterpret_cast<unsigned*>(memory);
  double* numbers = reinterpret_cast<double*>(memory + 1024);
  words[threadIdx.x] = in[threadIdx.x + blockIdx.x * 64];
  numbers[threadIdx.x] = words[threadIdx.x] * 0.5;
  __syncthreads();
  const double sum = numbers[63 - threadIdx.x] + words[(threadIdx.x + 9) % 64];
  out[blockIdx.x * 64 + threadIdx.x] =
      static_cast<unsigned>(static_cast<unsigned long long>(sum) % 4294967291ull);
}
