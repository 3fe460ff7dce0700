// SPDX-License-Identifier: Apache-2.0
// launch: block=64 output=320
struct Record {
  unsigned id;
  double weight;
  short small[3];
  char letter;
  unsigned long long wide;
};
__device__ __noinline__ Record change(Record r, unsigned by) {
  r.id += by;
  r.weight += by * 0.25;
  r.small[by % 3] = static_cast<short>(by);
  r.letter += by % 3;
  r.wide *= 1000003ull;
  return r;
}

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  Record record{
      in[threadIdx.x], 2.5, {1, 2, static_cast<short>(in[threadIdx.x])}, 'x', in[threadIdx.x + 64]};
  const Record changed = change(record, threadIdx.x);
  out[threadIdx.x] = changed.id;
  out[64 + threadIdx.x] = static_cast<unsigned>(changed.weight * 4);
  out[128 + threadIdx.x] = static_cast<unsigned>(changed.small[0] + changed.small[2]);
  out[192 + threadIdx.x] = static_cast<unsigned>(changed.letter);
  out[256 + threadIdx.x] = static_cast<unsigned>(changed.wide >> 3);
}
