// SPDX-License-Identifier: Apache-2.0
// launch: block=96 output=96

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  unsigned value = in[threadIdx.x], steps = 0;
  value = value % 1000 + 1;
  while (value != 1) {
    value = value & 1 ? 3 * value + 1 : value / 2;
    if (++steps > 150) break;
    if (steps % 17 == threadIdx.x % 17) continue;
    switch (value % 5) {
      case 0:
        steps += 1;
        break;
      case 1:
        value += 2;
        [[fallthrough]];
      case 2:
        steps += 2;
        break;
      case 3:
        if (threadIdx.x % 3 == 0) goto done;
        break;
      default:
        value = value > 9 ? value - 3 : value;
    }
  }
done:
  out[threadIdx.x] = steps * 4096 + value;
}
