// SPDX-License-Identifier: Apache-2.0
// launch: block=32 output=1024
__device__ __noinline__ void quicksort(int* a, int low, int high) {
  if (low >= high) return;
  const int pivot = a[(low + high) / 2];
  int i = low, j = high;
  while (i <= j) {
    while (a[i] < pivot) ++i;
    while (a[j] > pivot) --j;
    if (i <= j) {
      const int t = a[i];
      a[i++] = a[j];
      a[j--] = t;
    }
  }
  quicksort(a, low, j);
  quicksort(a, i, high);
}

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  int own[32];
  for (int i = 0; i < 32; ++i) own[i] = static_cast<int>(in[threadIdx.x * 32 + i]);
  quicksort(own, 0, 31);
  for (int i = 0; i < 32; ++i) out[threadIdx.x * 32 + i] = static_cast<unsigned>(own[i]);
}
