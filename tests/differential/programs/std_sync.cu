// SPDX-License-Identifier: Apache-2.0
// cuda::barrier, latch, semaphore, pipeline and memcpy_async.
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/barrier>
#include <cuda/std/utility>

#include <cooperative_groups.h>

namespace cg = cooperative_groups;
using Barrier = cuda::barrier<cuda::thread_scope_block>;

__global__ void barrier_phases(const int* in, int* out) {
  __shared__ Barrier barrier;
  __shared__ int data[128];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  int value = in[threadIdx.x];
  for (int step = 1; step < 128; step *= 2) {
    data[threadIdx.x] = value;
    barrier.arrive_and_wait();
    const int other = threadIdx.x >= step ? data[threadIdx.x - step] : 0;
    Barrier::arrival_token token = barrier.arrive();
    value += other;
    barrier.wait(cuda::std::move(token));
  }
  out[threadIdx.x] = value;
}

__global__ void barrier_drop(const int* in, int* out) {
  __shared__ Barrier barrier;
  __shared__ int total;
  if (threadIdx.x == 0) {
    init(&barrier, blockDim.x);
    total = 0;
  }
  __syncthreads();
  atomicAdd(&total, in[threadIdx.x]);
  if (threadIdx.x % 3 == 0) {
    barrier.arrive_and_drop();
    return;
  }
  barrier.arrive_and_wait();
  out[threadIdx.x] = total;
  barrier.arrive_and_wait();
  if (threadIdx.x == 1) out[0] = 42;
}

struct AddUp {
  int* total;
  __device__ void operator()() const noexcept { *total += 1; }
};

__global__ void barrier_completion(const int* in, int* out) {
  using Counting = cuda::barrier<cuda::thread_scope_block, AddUp>;
  __shared__ alignas(Counting) unsigned char storage[sizeof(Counting)];
  __shared__ int phases;
  Counting* barrier = reinterpret_cast<Counting*>(storage);
  if (threadIdx.x == 0) {
    phases = 0;
    init(barrier, blockDim.x, AddUp{&phases});
  }
  __syncthreads();
  int seen = in[threadIdx.x];
  for (int i = 0; i < 5; ++i) {
    barrier->arrive_and_wait();
    seen = seen * 3 + phases;
    barrier->arrive_and_wait();
  }
  out[threadIdx.x] = seen;
}

__global__ void barrier_device(const int* in, int* out) {
  // Of a wider scope: no mbarrier, but atomics.
  __shared__ cuda::barrier<cuda::thread_scope_device> barrier;
  __shared__ int data[128];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  data[threadIdx.x] = in[threadIdx.x];
  barrier.arrive_and_wait();
  out[threadIdx.x] = data[127 - threadIdx.x];
}

__global__ void barrier_parity(const int* in, int* out) {
  __shared__ Barrier barrier;
  __shared__ int data[128];
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  data[threadIdx.x] = in[threadIdx.x];
  (void)barrier.arrive();
  barrier.wait_parity(false);
  out[threadIdx.x] = data[threadIdx.x ^ 37];
}

__global__ void latch(const int* in, int* out) {
  __shared__ alignas(8) unsigned char storage[sizeof(cuda::latch<cuda::thread_scope_block>)];
  auto* latch = reinterpret_cast<cuda::latch<cuda::thread_scope_block>*>(storage);
  __shared__ int data[128];
  if (threadIdx.x == 0) new (latch) cuda::latch<cuda::thread_scope_block>(blockDim.x);
  __syncthreads();
  data[threadIdx.x] = in[threadIdx.x];
  latch->count_down();
  latch->wait();
  out[threadIdx.x] = data[127 - threadIdx.x] + latch->try_wait();
}

__global__ void semaphore(const int* in, int* out) {
  using Semaphore = cuda::counting_semaphore<cuda::thread_scope_block, 4>;
  __shared__ alignas(8) unsigned char storage[sizeof(Semaphore)];
  __shared__ int inside;
  auto* semaphore = reinterpret_cast<Semaphore*>(storage);
  if (threadIdx.x == 0) {
    new (semaphore) Semaphore(2);
    inside = 0;
  }
  __syncthreads();
  semaphore->acquire();
  const int now = atomicAdd(&inside, 1);
  atomicAdd(&out[1 + (now >= 2)], in[threadIdx.x]);
  atomicSub(&inside, 1);
  semaphore->release();
  __syncthreads();
  if (threadIdx.x == 0) out[0] = semaphore->try_acquire() + 2 * semaphore->try_acquire();
}

template <int stages>
__global__ void pipeline(const int* in, int* out) {
  constexpr int tile = 128;
  __shared__ int data[stages][tile];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cg::this_thread_block();
  auto pipe = cuda::make_pipeline(block, &state);
  constexpr int tiles = 8;
  int sum = 0;
  for (int next = 0, done = 0; done < tiles; ++done) {
    for (; next < tiles && next < done + stages; ++next) {
      pipe.producer_acquire();
      cuda::memcpy_async(block, data[next % stages], in + next * tile, sizeof(int) * tile, pipe);
      pipe.producer_commit();
    }
    pipe.consumer_wait();
    sum = sum * 5 + data[done % stages][tile - 1 - threadIdx.x];
    pipe.consumer_release();
  }
  out[threadIdx.x] = sum;
}

__global__ void pipeline_thread(const int* in, int* out) {
  __shared__ int4 data[2][128];
  auto pipe = cuda::make_pipeline();
  const int4* from = reinterpret_cast<const int4*>(in);
  for (int i = 0; i < 2; ++i) {
    pipe.producer_acquire();
    cuda::memcpy_async(&data[i][threadIdx.x], from + i * 128 + threadIdx.x,
                       cuda::aligned_size_t<16>(16), pipe);
    pipe.producer_commit();
  }
  int sum = 0;
  cuda::pipeline_consumer_wait_prior<1>(pipe);
  sum += data[0][threadIdx.x].x + data[0][threadIdx.x].w * 2;
  pipe.consumer_release();
  cuda::pipeline_consumer_wait_prior<0>(pipe);
  sum += data[1][threadIdx.x].y * 3 + data[1][threadIdx.x].z * 4;
  pipe.consumer_release();
  out[threadIdx.x] = sum;
}

__global__ void pipeline_roles(const int* in, int* out) {
  // One warp brings data, three use it.
  constexpr int stages = 2;
  __shared__ int data[stages][32];
  __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, stages> state;
  auto block = cg::this_thread_block();
  const auto role =
      threadIdx.x < 32 ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer;
  auto pipe = cuda::make_pipeline(block, &state, role);
  int sum = 0;
  for (int tile = 0; tile < 8; ++tile) {
    if (role == cuda::pipeline_role::producer) {
      pipe.producer_acquire();
      cuda::memcpy_async(&data[tile % stages][threadIdx.x], in + tile * 32 + threadIdx.x,
                         sizeof(int), pipe);
      pipe.producer_commit();
    } else {
      pipe.consumer_wait();
      sum = sum * 7 + data[tile % stages][threadIdx.x % 32];
      pipe.consumer_release();
    }
  }
  out[threadIdx.x] = sum;
}

template <class T>
__global__ void copy_by_barrier(const T* in, T* out) {
  __shared__ alignas(16) T data[256];
  __shared__ Barrier barrier;
  auto block = cg::this_thread_block();
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  cuda::memcpy_async(block, data, in, cuda::aligned_size_t<16>(sizeof(data)), barrier);
  barrier.arrive_and_wait();
  for (int i = threadIdx.x; i < 256; i += blockDim.x) out[i] = data[255 - i];
  __syncthreads();
  // Too odd for an aligned copy.
  cuda::memcpy_async(block, data, in + 3, sizeof(T) * 101, barrier);
  barrier.arrive_and_wait();
  for (int i = threadIdx.x; i < 101; i += blockDim.x) out[256 + i] = data[i];
}
