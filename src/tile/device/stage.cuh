// SPDX-License-Identifier: Apache-2.0
#pragma once

// Stages: matrices in shared memory, whose 16-byte chunks are permuted within their row so that
// eight rows of one column of chunks lie in eight different groups of banks.

namespace cudacore_tile::matrix {

// The thread's number. `again`: the compiler takes it for another each time, so that what follows
// from it is not kept in registers throughout a loop.
template <bool again>
__device__ __forceinline__ int thread_number() {
  if constexpr (!again) return threadIdx.x;
  int number;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(number));
  return number;
}

__device__ __forceinline__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

// A matrix of `row_count` x `column_count` elements of `element_size` bytes; a column lies next to
// the one before it. Chunks are permuted if `swizzled`.
template <int element_size, int row_count, int column_count, bool swizzled = true>
struct Stage {
  static constexpr int size = element_size, rows = row_count, columns = column_count;
  static constexpr int pitch = element_size * column_count;
  static constexpr int bytes = pitch * row_count;
  static constexpr int chunks = pitch / 16;  // of a row; 0 where a row is shorter than a chunk

  // What the index of a chunk in `row` is combined with by exclusive or. Has a period of 8 rows.
  static __device__ __forceinline__ constexpr int swizzle(int row) {
    if constexpr (!swizzled)
      return 0;
    else if constexpr (chunks >= 8)
      return row & 7;
    else if constexpr (chunks > 1)
      return (row / (8 / chunks)) & (chunks - 1);
    else
      return 0;
  }
  // Bytes from the start of the stage to a chunk.
  static __device__ __forceinline__ constexpr unsigned chunk_offset(int row, int chunk) {
    return row * pitch + ((chunk ^ swizzle(row)) << 4);
  }
  // Bytes from the start of the stage to an element.
  static __device__ __forceinline__ constexpr unsigned offset(int row, int column) {
    if constexpr (swizzled && chunks > 1)
      return chunk_offset(row, column * element_size / 16) + (column * element_size & 15);
    else
      return row * pitch + column * element_size;
  }
};

template <bool transposed>
__device__ __forceinline__ void load_matrices(unsigned (&r)[4], unsigned address) {
  if constexpr (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(address)
                 : "memory");
}

// Copies `bytes` of `element_size` bytes, the rest become zeros, without waiting.
template <int element_size>
__device__ __forceinline__ void copy_async(unsigned to, const void* from, int bytes) {
  if constexpr (element_size == 16)
    asm volatile("cp.async.cg.shared.global.L2::128B [%0], [%1], 16, %2;" ::"r"(to), "l"(from),
                 "r"(bytes)
                 : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(to), "l"(from),
                 "n"(element_size), "r"(bytes)
                 : "memory");
}

// Closes a group of copies.
__device__ __forceinline__ void commit_copies() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Waits until at most `pending` groups of this thread's copies are under way.
template <int pending>
__device__ __forceinline__ void wait_copies() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

// Where a tile lies in global memory: rows of elements side by side. `from` is the address of its
// first element; only [row, row + rows) x [column, column + columns) of it may be read.
struct Window {
  const char* from;
  long long pitch;  // bytes from a row to the next
  int row, rows, column, columns;
};

// Of the rows from `origin` on in an array that has `shape` of them: the first that the array has,
// counted from `origin`, and how many follow.
template <class Index>
__device__ __forceinline__ int first_inside(Index origin) {
  return origin < 0 ? static_cast<int>(origin < -(1 << 30) ? 1 << 30 : -origin) : 0;
}
template <class Index>
__device__ __forceinline__ int count_inside(Index origin, Index shape) {
  const Index end = shape - origin, count = origin < 0 ? shape : end;
  return static_cast<int>(count < 0 ? 0 : count > (1 << 30) ? 1 << 30 : count);
}

// Copies a tile to the stage at `to`: each thread some chunks of `chunk_bytes` bytes. What lies
// outside of the window becomes zeros. `whole`: no chunk straddles the window's sides;
// `everything`: all is inside.
template <class S, int threads, int chunk_bytes, bool whole, bool everything, bool again>
__device__ __forceinline__ void fetch(unsigned to, const Window& window) {
  constexpr int across = S::pitch / chunk_bytes;  // chunks of a row
  constexpr int elements = chunk_bytes / S::size;
  constexpr int total = across * S::rows;
  constexpr int rounds = (total + threads - 1) / threads;
  const int thread = thread_number<again>();
  if constexpr (total < threads)
    if (thread >= total) return;
  if constexpr (across <= threads) {
    constexpr int stride = threads / across;  // rows between rounds
    const int row = thread / across, column = thread % across * elements;
    const char* from = window.from + row * window.pitch + column * S::size;
    int left = chunk_bytes;
    if constexpr (whole && !everything)
      left = static_cast<unsigned>(column - window.column) < static_cast<unsigned>(window.columns)
                 ? chunk_bytes
                 : 0;
    if constexpr (!whole && !everything)
      left = column < window.column
                 ? 0
                 : max(0, min(chunk_bytes, (window.column + window.columns - column) * S::size));
    const int place = row - window.row;
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
      int bytes = left;
      if constexpr (!everything)
        bytes = static_cast<unsigned>(place + i * stride) < static_cast<unsigned>(window.rows)
                    ? left
                    : 0;
      copy_async<chunk_bytes>(to + S::offset(row + i * stride, column), from, bytes);
      from += stride * window.pitch;
    }
  } else {
#pragma unroll 4
    for (int i = 0; i < rounds; ++i) {
      const int number = thread + i * threads, row = number / across,
                column = number % across * elements;
      int bytes = chunk_bytes;
      if constexpr (!everything) {
        bytes = column < window.column
                    ? 0
                    : max(0, min(chunk_bytes, (window.column + window.columns - column) * S::size));
        if (static_cast<unsigned>(row - window.row) >= static_cast<unsigned>(window.rows))
          bytes = 0;
      }
      copy_async<chunk_bytes>(to + S::offset(row, column),
                              window.from + row * window.pitch + column * S::size, bytes);
    }
  }
}

}  // namespace cudacore_tile::matrix
