// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=64

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  const unsigned count = in[threadIdx.x] % 20 + 1;
  unsigned long long at;
  asm volatile("{ .reg .b64 place; alloca.u64 place, %1; cvta.local.u64 %0, place; }"
               : "=l"(at)
               : "l"((count * 4 + 15ull) / 16 * 16));
  unsigned* own = reinterpret_cast<unsigned*>(at);
  for (unsigned i = 0; i < count; ++i) own[i] = in[(threadIdx.x + i) % n];
  unsigned sum = count;
  for (unsigned i = count; i-- != 0;) sum = sum * 33 ^ own[i];
  out[threadIdx.x] = sum;
}
