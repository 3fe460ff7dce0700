// SPDX-License-Identifier: Apache-2.0
// launch: grid=4 block=64 output=8
#include <cuda/atomic>
__device__ cuda::atomic<unsigned, cuda::thread_scope_device> lock_word, last;

extern "C" __global__ void run(const unsigned* in, unsigned* out, unsigned n) {
  cuda::atomic_ref<unsigned, cuda::thread_scope_device> sum(out[0]), most(out[1]), bits(out[2]);
  cuda::atomic_ref<unsigned, cuda::thread_scope_system> system(out[3]);
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  sum.fetch_add(in[i] % 1000, cuda::memory_order_relaxed);
  most.fetch_max(in[i], cuda::memory_order_acq_rel);
  bits.fetch_or(1u << (in[i] % 31), cuda::memory_order_seq_cst);
  system.fetch_add(1);
  unsigned seen = lock_word.load(cuda::memory_order_relaxed);
  while (!lock_word.compare_exchange_weak(seen, seen + in[i] % 7, cuda::memory_order_acq_rel)) {
  }
  __threadfence();
  if (last.fetch_add(1, cuda::memory_order_acq_rel) == 255) {
    out[4] = lock_word.load();
    out[5] = last.load();
  }
}
