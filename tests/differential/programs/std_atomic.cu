// SPDX-License-Identifier: Apache-2.0
// cuda::atomic, cuda::std::atomic and cuda::atomic_ref: every order, size and scope.
#include <cuda/atomic>
#include <cuda/std/atomic>
#include <cuda/std/cstdint>

using u32 = unsigned int;
using u64 = unsigned long long;

template <class T>
struct Cell {
  T value;
};

// Results that no order of the threads changes.
template <class T, cuda::thread_scope scope>
__global__ void fetch(const T* in, T* out) {
  const T value = in[blockIdx.x * blockDim.x + threadIdx.x];
  const auto at = [&](int i) { return cuda::atomic_ref<T, scope>(out[i]); };
  at(0).fetch_add(value, cuda::memory_order_relaxed);
  at(1).fetch_sub(value, cuda::memory_order_acquire);
  at(2).fetch_or(value, cuda::memory_order_release);
  at(3).fetch_xor(value, cuda::memory_order_acq_rel);
  at(4).fetch_and(value, cuda::memory_order_seq_cst);
  at(5).fetch_max(value, cuda::memory_order_seq_cst);
  at(6).fetch_min(value, cuda::memory_order_relaxed);
  ++at(7);
  at(8) += value;
  T seen = at(9).load(cuda::memory_order_relaxed);
  while (!at(9).compare_exchange_weak(seen, static_cast<T>(seen * 3 + 1),
                                      cuda::memory_order_acq_rel, cuda::memory_order_relaxed)) {
  }
  T expected = 0;
  if (at(10).compare_exchange_strong(expected, static_cast<T>(7))) at(11).fetch_add(1);
}

template <class T>
__global__ void add_floats(const T* in, T* out) {
  cuda::atomic_ref<T, cuda::thread_scope_device> sum(out[0]);
  cuda::atomic_ref<T, cuda::thread_scope_block> rest(out[1]);
  sum.fetch_add(in[threadIdx.x], cuda::memory_order_relaxed);
  rest.fetch_sub(in[threadIdx.x]);
}

template <class T>
__global__ void orders(const T* in, T* out) {
  __shared__ cuda::std::atomic<T> shared;
  if (threadIdx.x == 0) shared.store(in[0], cuda::std::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x == 0) {
    out[0] = shared.load(cuda::std::memory_order_seq_cst);
    shared.store(in[1], cuda::std::memory_order_release);
    out[1] = shared.load(cuda::std::memory_order_acquire);
    out[2] = shared.exchange(in[2], cuda::std::memory_order_acq_rel);
    out[3] = shared.exchange(in[3]);
    shared.store(in[4]);
    out[4] = shared;
    T expected = in[5];
    shared.compare_exchange_strong(expected, in[6]);
    out[5] = expected;
    out[6] = shared.compare_exchange_strong(expected, in[6]) ? in[7] : in[8];
    out[7] = shared.load();
    cuda::std::atomic_thread_fence(cuda::std::memory_order_seq_cst);
    cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_system);
    cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_block);
  }
}

struct Wide {
  u32 a;
  u32 b;
};

__global__ void structs(const u32* in, u32* out) {
  __shared__ cuda::std::atomic<Wide> wide;
  if (threadIdx.x == 0) wide.store({0, 0});
  __syncthreads();
  Wide seen = wide.load();
  while (!wide.compare_exchange_weak(seen, Wide{seen.a + in[threadIdx.x], seen.b + 1})) {
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    out[0] = wide.load().a;
    out[1] = wide.load().b;
  }
}

__global__ void flags(const u32* in, u32* out) {
  __shared__ cuda::std::atomic_flag flag;
  __shared__ cuda::atomic<u32, cuda::thread_scope_block> turn;
  if (threadIdx.x == 0) {
    flag.clear();
    turn.store(0);
  }
  __syncthreads();
  // A lock by a flag; a chain of threads by wait and notify.
  while (flag.test_and_set(cuda::std::memory_order_acquire)) {
  }
  out[0] = out[0] + in[threadIdx.x];
  __threadfence_block();
  flag.clear(cuda::std::memory_order_release);
  if (threadIdx.x % 32 == 0) {
    const u32 mine = threadIdx.x / 32;
    u32 now = turn.load();
    while (now != mine) {
      turn.wait(now);
      now = turn.load();
    }
    out[1 + mine] = now * 10;
    turn.store(mine + 1);
    turn.notify_all();
  }
}
