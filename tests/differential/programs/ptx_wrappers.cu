// SPDX-License-Identifier: Apache-2.0
// cuda::ptx: mbarriers, bulk copies, special registers, fences; the warp intrinsics of CUDA C++.
#include <cuda/barrier>
#include <cuda/ptx>
#include <cuda/std/cstdint>

namespace ptx = cuda::ptx;
using u64 = cuda::std::uint64_t;
using u32 = cuda::std::uint32_t;

__global__ void mbarrier(const int* in, int* out) {
  __shared__ u64 barrier;
  __shared__ int data[128];
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 128);
  }
  __syncthreads();
  for (int phase = 0; phase < 3; ++phase) {
    data[threadIdx.x] = in[threadIdx.x] + phase;
    const u64 token =
        ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier);
    while (!ptx::mbarrier_try_wait(&barrier, token)) {
    }
    out[phase * 128 + threadIdx.x] = data[127 - threadIdx.x];
    __syncthreads();
  }
  (void)ptx::mbarrier_arrive(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &barrier);
  while (!ptx::mbarrier_test_wait_parity(&barrier, 1)) {
  }
  out[384 + threadIdx.x] = in[threadIdx.x] * 2;
}

__global__ void bulk(const int* in, int* out) {
  __shared__ alignas(128) int data[256];
  __shared__ u64 barrier;
  if (threadIdx.x == 0) {
    ptx::mbarrier_init(&barrier, 1);
    ptx::fence_proxy_async(ptx::space_shared);
    ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, data, in, sizeof(data), &barrier);
    (void)ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared,
                                         &barrier, sizeof(data));
  }
  __syncthreads();
  while (!ptx::mbarrier_try_wait_parity(&barrier, 0)) {
  }
  data[threadIdx.x * 2] ^= data[threadIdx.x * 2 + 1];
  ptx::fence_proxy_async(ptx::space_shared);
  __syncthreads();
  if (threadIdx.x == 0) {
    ptx::cp_async_bulk(ptx::space_global, ptx::space_shared, out, data, sizeof(data));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group_read(ptx::n32_t<0>());
    ptx::cp_reduce_async_bulk(ptx::space_global, ptx::space_shared, ptx::op_add, out + 256, data,
                              sizeof(data));
    ptx::cp_async_bulk_commit_group();
    ptx::cp_async_bulk_wait_group(ptx::n32_t<0>());
  }
}

__global__ void barrier_tx(const int* in, int* out) {
  using Barrier = cuda::barrier<cuda::thread_scope_block>;
  __shared__ alignas(16) int data[128];
  __shared__ Barrier barrier;
  if (threadIdx.x == 0) init(&barrier, blockDim.x);
  __syncthreads();
  Barrier::arrival_token token;
  if (threadIdx.x == 0) {
    cuda::memcpy_async(data, in, cuda::aligned_size_t<16>(sizeof(data)), barrier);
    token = cuda::device::barrier_arrive_tx(barrier, 1, 0);
  } else {
    token = barrier.arrive(1);
  }
  barrier.wait(cuda::std::move(token));
  out[threadIdx.x] = data[threadIdx.x ^ 21];
}

__global__ void registers(const int*, u32* out) {
  const int i = threadIdx.x + blockDim.x * threadIdx.y;
  u32* mine = out + i * 16;
  mine[0] = ptx::get_sreg_tid_x();
  mine[1] = ptx::get_sreg_tid_y();
  mine[2] = ptx::get_sreg_ntid_x();
  mine[3] = ptx::get_sreg_ntid_y();
  mine[4] = ptx::get_sreg_laneid();
  mine[5] = ptx::get_sreg_ctaid_x();
  mine[6] = ptx::get_sreg_nctaid_x();
  mine[7] = ptx::get_sreg_lanemask_eq();
  mine[8] = ptx::get_sreg_lanemask_le();
  mine[9] = ptx::get_sreg_lanemask_lt();
  mine[10] = ptx::get_sreg_lanemask_ge();
  mine[11] = ptx::get_sreg_lanemask_gt();
  mine[12] = ptx::get_sreg_cluster_nctarank();
  mine[13] = ptx::get_sreg_is_explicit_cluster();
  mine[14] = ptx::get_sreg_cluster_ctarank();
}

__global__ void warp_intrinsics(const int* in, int* out) {
  const int i = threadIdx.x;
  const int value = in[i];
  const unsigned all = 0xFFFFFFFFu;
  out[i] = __shfl_sync(all, value, i * 7);
  out[128 + i] = __shfl_up_sync(all, value, 3, 16);
  out[256 + i] = __shfl_down_sync(all, value, 5, 8);
  out[384 + i] = __shfl_xor_sync(all, value, 9);
  out[512 + i] = __ballot_sync(all, value & 1);
  out[640 + i] = __any_sync(all, value > 2000000000) + 2 * __all_sync(all, value > -5);
  out[768 + i] = __match_any_sync(all, value % 3);
  int same;
  out[896 + i] = __match_all_sync(all, value / 0x7FFFFFFF, &same);
  out[1024 + i] = same;
  out[1152 + i] = __reduce_add_sync(all, value);
  out[1280 + i] = __reduce_min_sync(all, value);
  out[1408 + i] = __reduce_max_sync(all, static_cast<unsigned>(value));
  out[1536 + i] = __reduce_and_sync(all, value | 0xF0);
  out[1664 + i] = __reduce_or_sync(all, value & 0xFF);
  out[1792 + i] = __reduce_xor_sync(all, value);
  if (i % 4 < 2) out[1920 + i] = __shfl_sync(__activemask(), value, (i % 32) ^ 1);
  const double wide = __shfl_xor_sync(all, value * 0.5, 4);
  const long long longer = __shfl_down_sync(all, value * 5000000000ll, 2);
  out[2048 + i] = static_cast<int>(wide) ^ static_cast<int>(longer >> 20);
  out[2176 + i] = __syncthreads_count(value > 0) + __syncthreads_and(value != 0) * 1000 +
                  __syncthreads_or(value == 3) * 2000;
}
