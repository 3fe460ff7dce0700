// SPDX-License-Identifier: Apache-2.0
//
// Products of small matrices that a warp holds in its registers: d = a * b + c.
//
// Products are exact, and so is their sum, except for rounding in double precision. PTX doesn't
// guarantee an order, or more precision than the result has. The rows of sums are as long as the
// processor's vectors.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "simulator/engine/form_table.hpp"
#include "simulator/ops/half_bits.hpp"
#include "simulator/ops/lanes.hpp"
#include "simulator/ops/matrix_fragments.hpp"
#include "simulator/ops/warp_wide.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: internal linkage keeps the code of each ISA apart

enum class BitOperation : std::uint8_t { none, xor_popc, and_popc };

/// d = a * b + c, of operands 0 to 3. If a is sparse, half of each row is present, and operands 4
/// and 5 say which half.
struct Product {
  Fragment a;
  Fragment b;
  Fragment c;
  Fragment d;
  bool saturate = false;
  BitOperation operation = BitOperation::none;  ///< elements are then words of 32 bits
  bool sparse = false;
};

/// A product of single bits, by words of 32.
constexpr Product by_words(Product product, BitOperation operation) {
  product.a.element = product.b.element = Element::s32;
  product.a.columns /= 32;
  product.b.rows /= 32;
  product.operation = operation;
  return product;
}

/// The type that elements have during the multiplication. Sums of products of integers stay far
/// below 2^24, and are exact in single precision.
template <Product product>
using Factor = std::conditional_t<product.operation != BitOperation::none, std::uint32_t,
                                  std::conditional_t<is_integer(product.a.element), float, double>>;

/// The type of the sums.
template <Product product>
using Sum = std::conditional_t<is_integer(product.c.element), std::int32_t, double>;

/// An element of d.
template <Element element>
using ElementOf = std::conditional_t<
    element == Element::f16, std::uint16_t,
    std::conditional_t<element == Element::f64, std::uint64_t,
                       std::conditional_t<element == Element::s32, std::int32_t, std::uint32_t>>>;

/// a * b + c, rounded once: if the product is not exact, in double precision, GPUs do the same.
template <bool exact, class V>
[[gnu::always_inline]] inline V multiply_add(V a, V b, V c) {
#if defined(__AVX512F__)
  if constexpr (sizeof(V) == 64) {
    if constexpr (sizeof(a[0]) == 8) {
      return (V)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
    } else {
      return (V)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
    }
  }
#endif
#if defined(__FMA__)
  if constexpr (sizeof(V) == 32) {
    if constexpr (sizeof(a[0]) == 8) {
      return (V)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
    } else {
      return (V)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
    }
  }
#endif
  if constexpr (exact) {
    return a * b + c;
  } else {
    for (unsigned i = 0; i < sizeof(V) / sizeof(a[0]); ++i) c[i] = __builtin_fma(a[i], b[i], c[i]);
    return c;
  }
}

/// sums += a * b, adding to each sum in the order of a's columns: row by row, several sums at a
/// time. `from[row * depth + k]` is the row of b that column k of a sparse row is multiplied by.
template <class T, unsigned m, unsigned n, unsigned depth, bool exact, bool sparse>
[[gnu::noinline]] void multiply_rows(const T* a, const T* b, T* sums, const std::uint8_t* from) {
  constexpr unsigned lanes = std::min<unsigned>(vector_bytes / sizeof(T), n);
  constexpr unsigned width = std::min(n / lanes, 2U);
  constexpr unsigned height = 8 / width;
  static_assert(n % (width * lanes) == 0 && m % height == 0);
  typedef T V __attribute__((vector_size(lanes * sizeof(T)), may_alias));
  for (unsigned row = 0; row < m; row += height) {
    for (unsigned column = 0; column < n; column += width * lanes) {
      V sum[height][width];
#pragma GCC unroll 8
      for (unsigned i = 0; i < height; ++i) {
        std::memcpy(sum[i], sums + (row + i) * n + column, sizeof sum[i]);
      }
      for (unsigned k = 0; k < depth; ++k) {
        V right[width];
        if constexpr (!sparse) std::memcpy(right, b + k * n + column, sizeof right);
#pragma GCC unroll 8
        for (unsigned i = 0; i < height; ++i) {
          const unsigned at = (row + i) * depth + k;
          if constexpr (sparse) std::memcpy(right, b + from[at] * n + column, sizeof right);
          const V left = a[at] - V{};
#pragma GCC unroll 2
          for (unsigned j = 0; j < width; ++j) {
            sum[i][j] = multiply_add<exact>(left, right[j], sum[i][j]);
          }
        }
      }
#pragma GCC unroll 8
      for (unsigned i = 0; i < height; ++i) {
        std::memcpy(sums + (row + i) * n + column, sum[i], sizeof sum[i]);
      }
    }
  }
}

template <BitOperation operation, unsigned m, unsigned n, unsigned depth>
[[gnu::noinline]] void count_bits(const std::uint32_t* a, const std::uint32_t* b,
                                  const std::int32_t* c, std::int32_t* to) {
  for (unsigned row = 0; row < m; ++row) {
    for (unsigned column = 0; column < n; ++column) {
      auto sum = static_cast<std::uint32_t>(c[row * n + column]);
      for (unsigned k = 0; k < depth; ++k) {
        const std::uint32_t x = a[row * depth + k];
        const std::uint32_t y = b[k * n + column];
        sum += static_cast<std::uint32_t>(
            std::popcount(operation == BitOperation::xor_popc ? x ^ y : x & y));
      }
      to[row * n + column] = static_cast<std::int32_t>(sum);
    }
  }
}

[[gnu::noinline, maybe_unused]] void encode(const double* sums, unsigned count, std::uint32_t* to) {
  for (unsigned i = 0; i < count; ++i) {
    to[i] = bits_as<std::uint32_t>(canonical(static_cast<float>(sums[i])));
  }
}
[[gnu::noinline, maybe_unused]] void encode(const double* sums, unsigned count, std::uint16_t* to) {
  for (unsigned i = 0; i < count; ++i) to[i] = F16::narrow(odd_narrow(sums[i]));
}
[[maybe_unused]] void encode(const double* sums, unsigned count, std::uint64_t* to) {
  std::memcpy(to, sums, count * sizeof(double));
}

/// c plus the sums of products, which are integers.
template <bool saturate>
[[gnu::noinline]] void add_whole(const float* sums, const std::int32_t* c, unsigned count,
                                 std::int32_t* to) {
  constexpr std::int64_t low = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t high = std::numeric_limits<std::int32_t>::max();
  for (unsigned i = 0; i < count; ++i) {
    const auto sum = static_cast<std::int32_t>(sums[i]);
    if constexpr (saturate) {
      to[i] = static_cast<std::int32_t>(std::clamp(std::int64_t{c[i]} + sum, low, high));
    } else {
      to[i] = static_cast<std::int32_t>(static_cast<std::uint32_t>(c[i]) +
                                        static_cast<std::uint32_t>(sum));
    }
  }
}

/// The row of b for each cell of a sparse matrix. Half of each group of neighbors is kept, and four
/// bits say which. Elements of four bits are kept in pairs; of two 32-bit elements, one is kept, as
/// two halves. One or more lanes in each group of four hold the bits of two rows; `selector` says
/// which lanes.
template <Fragment a>
void find_kept(const std::uint32_t* bits, unsigned selector, std::uint8_t* from) {
  constexpr unsigned size = bits_of(a.element);
  constexpr unsigned kept = size == 32 ? 1 : size == 4 ? 4 : 2;
  constexpr unsigned groups = a.columns / kept;
  constexpr unsigned words = groups / 4;  // of 16 bits, per row
  for (unsigned row = 0; row < a.rows; ++row) {
    const unsigned lower = row / 8;
    for (unsigned group = 0; group < groups; ++group) {
      const unsigned word = group / 4;
      const unsigned member =
          size < 16 ? 2 * selector + lower + word / 2 * 2 : words * selector + word;
      const unsigned half = size < 16 ? word % 2 : lower;
      const unsigned which = bits[4 * (row % 8) + member % 4] >> (16 * half + 4 * (group % 4)) & 15;
      for (unsigned i = 0; i < kept; ++i) {
        const unsigned place = size == 32  ? (which & 3) / 2
                               : size == 4 ? 2 * (which >> (i / 2 * 2) & 3) + i % 2
                                           : which >> (2 * i) & 3;
        from[row * a.columns + group * kept + i] =
            static_cast<std::uint8_t>(2 * kept * group + place);
      }
    }
  }
}

/// The cells of a product's d.
template <Product product, class T>
void finish_product(const Factor<product>* a, const Factor<product>* b, Sum<product>* c,
                    const std::uint8_t* from, T* d) {
  constexpr unsigned m = product.d.rows;
  constexpr unsigned n = product.d.columns;
  constexpr unsigned depth = product.a.columns;
  if constexpr (product.operation != BitOperation::none) {
    count_bits<product.operation, m, n, depth>(a, b, c, d);
  } else if constexpr (is_integer(product.a.element)) {
    alignas(64) float sums[m * n]{};
    multiply_rows<float, m, n, depth, true, product.sparse>(a, b, sums, from);
    add_whole<product.saturate>(sums, c, m * n, d);
  } else {
    constexpr bool exact = product.a.element != Element::f64;
    multiply_rows<double, m, n, depth, exact, product.sparse>(a, b, c, from);
    encode(c, m * n, d);
  }
}

template <Product product>
void multiply_together(Warp&, Parts parts, std::uint32_t) {
  constexpr Fragment d = product.d;
  constexpr unsigned quads = has_quads(d) ? 4 : 1;
  using Element = ElementOf<d.element>;
  Matrix<product.a, Factor<product>> a;
  Matrix<product.b, Factor<product>> b;
  Matrix<product.c, Sum<product>> c;
  a.read(parts, 1);
  b.read(parts, 2);
  c.read(parts, 3);
  std::array<std::uint8_t, product.sparse ? cells_of(product.a) : 1> from;
  if constexpr (product.sparse) {
    const Row<std::uint32_t> bits = gather_rows<std::uint32_t>(
        parts, [](const Part& part) { return part.row<std::uint32_t>(4); });
    find_kept<product.a>(bits.data(), parts[0].in->op[5], from.data());
  }
  alignas(64) Element result[elements_of(d)];
  for (unsigned quad = 0; quad < quads; ++quad) {
    if constexpr (in_order<d>) {
      finish_product<product>(a.of(quad), b.of(quad), c.of(quad), from.data(), result);
    } else {
      alignas(64) Element cells[cells_of(d)];
      finish_product<product>(a.of(quad), b.of(quad), c.of(quad), from.data(), cells);
      Element* const to = result + 4 * quad * per_register(d.element);
      for (unsigned i = 0; i < cells_of(d); ++i) to[places<d>[i]] = cells[i];
    }
  }
  using Register = std::conditional_t<sizeof(Element) == 8, std::uint64_t, std::uint32_t>;
  for (unsigned reg = 0; reg < d.registers; ++reg) {
    Row<Register> row;
    std::memcpy(row.data(), reinterpret_cast<const Register*>(result) + reg * warp_size,
                sizeof row);
    for (const Part& part : parts) part.write(part.element<Register>(0, reg), row);
  }
}

template <Product product>
void multiply(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  if (lanes != 0) run_together(warp, in, all_lanes, lanes, &multiply_together<product>);
}

constexpr std::array<char, 11> signature_of(const Product& product) {
  std::array<char, 11> text{};
  const Fragment operands[] = {product.d, product.a, product.b, product.c};
  for (unsigned i = 0; i < 4; ++i) {
    text[2 * i] = static_cast<char>('0' + operands[i].registers);
    text[2 * i + 1] = operands[i].element == Element::f64 ? 'x' : 'w';
  }
  if (product.sparse) {
    text[8] = 'w';
    text[9] = 'i';
  }
  return text;
}

template <Product product>
void add_product(FormTable& table, std::initializer_list<const char*> key) {
  table.add(key, signature_of(product).data(), &multiply<product>);
}

}  // namespace
}  // namespace cudacore::simulator
