// SPDX-License-Identifier: Apache-2.0
#pragma once

// Products of tiles: the warps of a block share the rows and columns of the result.

#include <cudacore/tile/mma.cuh>
#include <cudacore/tile/stage.cuh>

namespace cudacore_tile::matrix {

// An operand in shared memory. `is_inner_column`: the inner extent of the product runs along the
// stage's columns. `is_rounded`: the stage holds f32, and the product takes tf32.
template <Kind operand_kind, class S, bool is_inner_column, bool is_rounded = false>
struct Staged {
  using Shape = S;
  static constexpr Kind kind = operand_kind;
  static constexpr bool inner_is_column = is_inner_column, rounded = is_rounded;
  static constexpr int inner = is_inner_column ? S::columns : S::rows;
  static constexpr int outer = is_inner_column ? S::rows : S::columns;
  // Whether ldmatrix can load fragments.
  static constexpr bool has_matrices = S::pitch >= 32 && inner * S::size >= 32 && outer >= 16 &&
                                       S::size <= 4 && (is_inner_column || S::size == 2);
  unsigned address;

  static __device__ __forceinline__ unsigned offset(int outer, int inner) {
    return is_inner_column ? S::offset(outer, inner) : S::offset(inner, outer);
  }
  template <class T>
  __device__ __forceinline__ T element(int outer, int inner) const {
    return *static_cast<const T*>(__cvta_shared_to_generic(address + offset(outer, inner)));
  }
};

// Ties go to even, as everywhere, except on sm_80, whose one instruction has them go away from
// zero.
__device__ __forceinline__ unsigned round_to_tf32(unsigned f32) {
#if __CUDA_ARCH__ >= 900
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(f32) : "f"(__uint_as_float(f32)));
#elif __CUDA_ARCH__ >= 800
  asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(f32) : "f"(__uint_as_float(f32)));
#endif
  return f32;
}

// Loads fragments of 16 outer elements by 32 bytes of the inner extent, through ldmatrix. A's and
// B's words come in a different order: `outer_first`: word 1 is the next 8 outer elements. `again`:
// see thread_number().
template <class O, bool outer_first, bool again = false>
struct MatrixLoader {
  using S = typename O::Shape;
  static constexpr int inner = O::inner;
  static constexpr Kind kind = O::kind;
  unsigned lane_address;

  __device__ __forceinline__ MatrixLoader(O operand, int outer) {
    const int lane = thread_number<again>() & 31;
    const int low = lane & 7, second = lane >> 3 & 1, third = lane >> 4 & 1;
    const int row = low + 8 * (outer_first == O::inner_is_column ? second : third);
    const int chunk = outer_first == O::inner_is_column ? third : second;
    // A warp of 8 columns takes what follows them from the start of the tile, and does not use it.
    if constexpr (O::inner_is_column)
      lane_address = operand.address + S::chunk_offset((outer + row) & (O::outer - 1), chunk);
    else
      lane_address =
          operand.address + S::chunk_offset(row, (outer / 8 + chunk) & (O::outer / 8 - 1));
  }
  // The i-th 16 outer elements; `step`: of the inner extent.
  __device__ __forceinline__ void load(unsigned (&r)[4], int i, int step) const {
    // Chunks are permuted within 128 bytes, to which stages are aligned.
    const int along = (O::inner_is_column ? step : i) << 5;
    const int down = 16 * (O::inner_is_column ? i : step) * S::pitch;
    load_matrices<!O::inner_is_column>(r, (lane_address ^ (along & 127)) + (along & ~127) + down);
    if constexpr (O::rounded)
#pragma unroll
      for (int k = 0; k < 4; ++k) r[k] = round_to_tf32(r[k]);
  }
};

// The same element by element, for whatever ldmatrix cannot load. Outer elements past the tile are
// those from its start again; inner ones are zero.
template <class O, bool outer_first>
struct ElementLoader {
  static constexpr int inner = O::inner;
  static constexpr Kind kind = O::kind;
  O operand;
  int outer;

  __device__ __forceinline__ ElementLoader(O from, int first) : operand(from), outer(first) {}
  __device__ __forceinline__ void load(unsigned (&r)[4], int i, int step) const {
    constexpr int size = O::Shape::size, each = 4 / size;
    const int lane = threadIdx.x & 31;
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const int next_outer = outer_first ? k & 1 : k >> 1,
                next_inner = outer_first ? k >> 1 : k & 1;
      const int at = (outer + 16 * i + 8 * next_outer + lane / 4) & (O::outer - 1);
      const int from = (step * 32 + next_inner * 16 + lane % 4 * 4) / size;
      unsigned word = 0;
#pragma unroll
      for (int e = 0; e < each; ++e) {
        unsigned bits = 0;
        if (O::inner * size >= 32 || from + e < O::inner) {
          if constexpr (size == 1) bits = operand.template element<unsigned char>(at, from + e);
          if constexpr (size == 2) bits = operand.template element<unsigned short>(at, from + e);
          if constexpr (size == 4) bits = operand.template element<unsigned>(at, from + e);
        }
        word |= bits << (8 * size * e);
      }
      r[k] = O::rounded ? round_to_tf32(word) : word;
    }
  }
};

template <bool condition, class A, class B>
struct Choice {
  using Type = A;
};
template <class A, class B>
struct Choice<false, A, B> {
  using Type = B;
};

// What loads A's, and B's, fragments from a stage.
template <class O, bool again = false>
using Rows =
    typename Choice<O::has_matrices, MatrixLoader<O, true, again>, ElementLoader<O, true>>::Type;
template <class O, bool again = false>
using Columns =
    typename Choice<O::has_matrices, MatrixLoader<O, false, again>, ElementLoader<O, false>>::Type;

// A's fragments from registers: 4 words for 16 rows and 32 bytes, the inner extent's first.
template <Kind operand_kind, int held_inner>
struct HeldRows {
  static constexpr int inner = held_inner;
  static constexpr Kind kind = operand_kind;
  const unsigned* words;
  __device__ __forceinline__ void load(unsigned (&r)[4], int i, int step) const {
    constexpr int steps = held_inner * size_of(operand_kind) / 32;
#pragma unroll
    for (int k = 0; k < 4; ++k) r[k] = words[(i * steps + step) * 4 + k];
  }
};

// The results of one instruction among a thread's elements of a tile of `m` x `n`: element e of
// fragment (i, j) of a warp, which has `across` fragments side by side.
template <int m, int n>
__device__ __forceinline__ constexpr int element_of(int i, int j, int across, int e) {
  constexpr int column = n > 1, row = m > 8;
  return (i * across + j) * ((1 + column) * (1 + row)) + (column ? e & 1 : 0) +
         (row ? (e >> 1) * (1 + column) : 0);
}

template <class T>
__device__ __forceinline__ unsigned pack(T low, T high) {
  static_assert(sizeof(T) == 2);
  return reinterpret_cast<const unsigned short&>(low) |
         static_cast<unsigned>(reinterpret_cast<const unsigned short&>(high)) << 16;
}
__device__ __forceinline__ unsigned pack_bf16(float low, float high) {
  unsigned word;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}
__device__ __forceinline__ unsigned pack_f16(float low, float high) {
  unsigned word;
#if __CUDA_ARCH__ >= 800
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
#else
  asm("{.reg .b16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h};}"
      : "=r"(word)
      : "f"(low), "f"(high));
#endif
  return word;
}

// c += a b of one instruction, whose results stand in c at the places that `at` says.
template <Kind kind_a, Kind kind_b, int m, int n, class C>
__device__ __forceinline__ void multiply_fragment(C* c, int i, int j, int across,
                                                  const unsigned (&a)[4], const unsigned (&b)[2]) {
  const auto at = [&](int e) { return element_of<m, n>(i, j, across, e); };
  if constexpr (sizeof(C) == 2) {
    unsigned f[2] = {pack(c[at(0)], c[at(1)]), pack(c[at(2)], c[at(3)])};
    multiply<kind_a, kind_b>(f, a, b);
#pragma unroll
    for (int e = 0; e < 4; ++e)
      reinterpret_cast<unsigned short&>(c[at(e)]) =
          static_cast<unsigned short>(f[e / 2] >> (e % 2 * 16));
  } else {
    C f[4] = {c[at(0)], c[at(1)], c[at(2)], c[at(3)]};
    multiply<kind_a, kind_b>(f, a, b);
#pragma unroll
    for (int e = 0; e < 4; ++e) c[at(e)] = f[e];
  }
}

// c += a b for the part of a result of `m` x `n` that a warp makes, where the block has `warps_m`
// by `warps_n` warps. `ahead`: fragments of the next step are loaded before this one's products:
// faster, with more registers.
template <int m, int n, int warps_m, int warps_n, bool ahead, class A, class B, class C>
__device__ __forceinline__ void multiply_tiles(C* c, const A& a, const B& b) {
  constexpr int down = m / warps_m < 16 ? 1 : m / warps_m / 16;
  constexpr int across = n / warps_n < 8 ? 1 : n / warps_n / 8;
  constexpr int pairs = (across + 1) / 2;
  constexpr int bytes = A::inner * size_of(A::kind);
  constexpr int steps = bytes < 32 ? 1 : bytes / 32;
  unsigned fa[ahead ? 2 : 1][down][4], fb[ahead ? 2 : 1][pairs][4];
  const auto load_rows = [&](int step) {
#pragma unroll
    for (int i = 0; i < down; ++i) a.load(fa[ahead ? step & 1 : 0][i], i, step);
  };
  const auto load_columns = [&](int step, int j) { b.load(fb[ahead ? step & 1 : 0][j], j, step); };
  const auto load = [&](int step) {
    load_rows(step);
#pragma unroll
    for (int j = 0; j < pairs; ++j) load_columns(step, j);
  };
  if constexpr (ahead) load(0);
#pragma unroll
  for (int step = 0; step < steps; ++step) {
    if (ahead && step + 1 < steps) load(step + 1);
    if (!ahead) load_rows(step);
    if constexpr (ahead) {
#pragma unroll
      for (int i = 0; i < down; ++i)
#pragma unroll
        for (int k = 0; k < across; ++k) {
          const int j = i & 1 ? across - 1 - k : k;  // so that one operand stays the same
          multiply_fragment<A::kind, B::kind, m, n>(
              c, i, j, across, fa[step & 1][i],
              reinterpret_cast<const unsigned(&)[2]>(fb[step & 1][j / 2][j % 2 * 2]));
        }
    } else {
#pragma unroll
      for (int j = 0; j < across; ++j) {
        if (j % 2 == 0) load_columns(step, j / 2);
#pragma unroll
        for (int i = 0; i < down; ++i)
          multiply_fragment<A::kind, B::kind, m, n>(
              c, i, j, across, fa[0][i],
              reinterpret_cast<const unsigned(&)[2]>(fb[0][j / 2][j % 2 * 2]));
      }
    }
  }
}

// The product of a loop whose stages lie in a ring: it loads the first fragments of the next stage
// before it multiplies the last of this one, so that a block alone on its multiprocessor does not
// wait at the barrier between them.
template <int m, int n, int warps_m, int warps_n, class A, class B>
struct LoopProduct {
  static constexpr int down = m / warps_m / 16, across = n / warps_n / 8;
  static constexpr int steps = A::inner * A::Shape::size / 32;
  static_assert(steps % 2 == 0 && across % 2 == 0);
  MatrixLoader<A, true> rows;
  MatrixLoader<B, false> columns;
  unsigned fa[2][down][4], fb[2][across / 2][4];

  __device__ __forceinline__ LoopProduct(int row, int column)
      : rows(A{0}, row), columns(B{0}, column) {}
  __device__ __forceinline__ void load(unsigned a, unsigned b, int step) {
    MatrixLoader<A, true> from_a = rows;
    MatrixLoader<B, false> from_b = columns;
    from_a.lane_address += a;
    from_b.lane_address += b;
#pragma unroll
    for (int i = 0; i < down; ++i) from_a.load(fa[step & 1][i], i, step);
#pragma unroll
    for (int j = 0; j < across / 2; ++j) from_b.load(fb[step & 1][j], j, step);
  }
  // c += a b. `fetch` copies to a stage that is free, `arrive` waits for the next.
  template <class C, class Fetch, class Arrive>
  __device__ __forceinline__ void run(C* c, unsigned a, unsigned b, unsigned next_a,
                                      unsigned next_b, Fetch fetch, Arrive arrive) {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      if (step + 1 < steps) {
        load(a, b, step + 1);
      } else {
        arrive();
        load(next_a, next_b, 0);
      }
      if (step == 0) fetch();
#pragma unroll
      for (int i = 0; i < down; ++i)
#pragma unroll
        for (int k = 0; k < across; ++k) {
          const int j = i & 1 ? across - 1 - k : k;
          multiply_fragment<A::kind, B::kind, m, n>(
              c, i, j, across, fa[step & 1][i],
              reinterpret_cast<const unsigned(&)[2]>(fb[step & 1][j / 2][j % 2 * 2]));
        }
    }
  }
};

// An operand's element as f64; 0 beyond its inner extent.
template <class O>
__device__ __forceinline__ double double_at(const O& operand, int outer, int inner) {
  return O::inner >= 4 || inner < O::inner
             ? operand.template element<double>(outer & (O::outer - 1), inner)
             : 0.0;
}

// The same in f64: 8 x 8 x 4 an instruction.
template <int m, int n, int warps_m, int warps_n, class A, class B>
__device__ __forceinline__ void multiply_doubles(double* c, A a, B b, int row, int column) {
  constexpr int down = m / warps_m < 16 ? 1 : m / warps_m / 16;
  constexpr int across = n / warps_n < 8 ? 1 : n / warps_n / 8;
  const int lane = threadIdx.x & 31;
#pragma unroll
  for (int step = 0; step < (A::inner + 3) / 4; ++step) {
    double fb[across];
#pragma unroll
    for (int j = 0; j < across; ++j)
      fb[j] = double_at(b, column + 8 * j + lane / 4, 4 * step + lane % 4);
#pragma unroll
    for (int i = 0; i < down; ++i)
#pragma unroll
      for (int half = 0; half < (m > 8 ? 2 : 1); ++half) {
        const double fa = double_at(a, row + 16 * i + 8 * half + lane / 4, 4 * step + lane % 4);
#pragma unroll
        for (int j = 0; j < across; ++j) {
          const int first = element_of<m, n>(i, j, across, 2 * half);
          const int second = element_of<m, n>(i, j, across, 2 * half + 1);
          double f[2] = {c[first], c[second]};
          multiply(f, fa, fb[j]);
          c[first] = f[0];
          c[second] = f[1];
        }
      }
  }
}

// What the number of a register says of an element's row-major index, bit by bit.
template <int... index_bits>
struct Registers {
  static constexpr int count = 1 << sizeof...(index_bits);
  static __host__ __device__ constexpr int part(int number) {
    constexpr int bits[] = {index_bits..., 0};
    int sum = 0;
    for (unsigned i = 0; i < sizeof...(index_bits); ++i) sum += (number >> i & 1) << bits[i];
    return sum;
  }
};

template <Kind operand_kind>
struct Scalar {
  using Type = float;
};
template <>
struct Scalar<Kind::f64> {
  using Type = double;
};

template <class O>
__device__ __forceinline__ auto arithmetic_element(const O& operand, int outer, int inner) {
  if constexpr (O::kind == Kind::bf16)
    return __uint_as_float(
        static_cast<unsigned>(operand.template element<unsigned short>(outer, inner)) << 16);
  else
    return operand.template element<typename Scalar<O::kind>::Type>(outer, inner);
}

// c += a b on the CUDA cores, for a result of `m` x `n` whose elements a thread has in any layout:
// its first has the row-major index `index`, the others those of `Places` past it. The matrices of
// a batch lie `a_bytes` and `b_bytes` apart.
template <int m, int n, class Places, int a_bytes, int b_bytes, class A, class B, class C>
__device__ __forceinline__ void multiply_elements(C* c, A a, B b, int index) {
  const int row = index / n % m, column = index % n;
  a.address += index / (m * n) * a_bytes;
  b.address += index / (m * n) * b_bytes;
#pragma unroll 4
  for (int k = 0; k < A::inner; ++k) {
#pragma unroll
    for (int r = 0; r < Places::count; ++r) {
      const int at = Places::part(r), batch = at / (m * n);
      c[r] += arithmetic_element(A{a.address + batch * a_bytes}, row + at / n % m, k) *
              arithmetic_element(B{b.address + batch * b_bytes}, column + at % n, k);
    }
  }
}

// Puts an element in a stage.
template <class O, class T>
__device__ __forceinline__ void put(O operand, int outer, int inner, const T& value) {
  static_assert(sizeof(T) == O::Shape::size);
  *static_cast<T*>(__cvta_shared_to_generic(operand.address + O::offset(outer, inner))) = value;
}

}  // namespace cudacore_tile::matrix
