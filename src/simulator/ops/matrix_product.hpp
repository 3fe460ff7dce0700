// SPDX-License-Identifier: Apache-2.0
//
// Products of small matrices that a warp holds in its registers: d = a * b + c.
//
// Products are exact, and so is their sum but for double precision's rounding; PTX promises neither
// an order nor a precision beyond the result's. Rows of sums are what the processor's vectors hold.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "simulator/ops/half_bits.hpp"
#include "simulator/ops/lanes.hpp"
#include "simulator/ops/matrix_elements.hpp"
#include "simulator/ops/meeting.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: internal linkage keeps the code of each ISA apart

enum class BitOperation : std::uint8_t { none, xor_popc, and_popc };

/// d = a * b + c, of operands 0 to 3.
struct Product {
  Fragment a;
  Fragment b;
  Fragment c;
  Fragment d;
  bool saturate = false;
  BitOperation operation = BitOperation::none;  ///< elements are words of 32 bits then
};

/// A product of single bits, by words of 32.
constexpr Product by_words(Product product, BitOperation operation) {
  product.a.element = product.b.element = Element::s32;
  product.a.columns /= 32;
  product.b.rows /= 32;
  product.operation = operation;
  return product;
}

/// What elements become while they are multiplied. Sums of products of whole numbers stay far below
/// 2^24, and are exact in single precision.
template <Product product>
using Factor = std::conditional_t<product.operation != BitOperation::none, std::uint32_t,
                                  std::conditional_t<is_integer(product.a.element), float, double>>;

/// What sums are.
template <Product product>
using Sum = std::conditional_t<is_integer(product.c.element), std::int32_t, double>;

/// An element of d.
template <Element element>
using ElementOf = std::conditional_t<
    element == Element::f16, std::uint16_t,
    std::conditional_t<element == Element::f64, std::uint64_t,
                       std::conditional_t<element == Element::s32, std::int32_t, std::uint32_t>>>;

/// Whether the lanes hold four products, each by two quads of lanes.
constexpr bool has_quads(const Fragment& fragment) {
  return fragment.arrangement >= Arrangement::quad_a_row &&
         fragment.arrangement <= Arrangement::quad_c_f32;
}

constexpr unsigned cells_of(const Fragment& fragment) {
  return unsigned{fragment.rows} * fragment.columns;
}
constexpr unsigned elements_of(const Fragment& fragment) {
  return fragment.registers * warp_size * per_register(fragment.element);
}

/// For each cell of a matrix, by rows, where it stands among the elements of the registers: those
/// of the first register by lanes, then of the next. Of four products, those of the first.
template <Fragment fragment>
constexpr auto places = [] {
  std::array<std::uint16_t, cells_of(fragment)> result{};
  const unsigned per = per_register(fragment.element);
  for (unsigned reg = fragment.registers; reg-- > 0;) {
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      if (has_quads(fragment) && quad_of(lane) != 0) continue;
      for (unsigned i = 0; i < per; ++i) {
        const Cell cell = cell_of(fragment, lane, reg, i);
        result[cell.row * fragment.columns + cell.column] =
            static_cast<std::uint16_t>((reg * warp_size + lane) * per + i);
      }
    }
  }
  return result;
}();

/// How many cells stand together, everywhere in the matrix.
template <Fragment fragment>
constexpr unsigned run_of = [] {
  for (const unsigned run : {8U, 4U, 2U}) {
    bool fits = fragment.columns % run == 0;
    for (unsigned cell = 0; cell < cells_of(fragment); ++cell) {
      fits = fits && places<fragment>[cell] == places<fragment>[cell / run * run] + cell % run;
    }
    if (fits) return run;
  }
  return 1U;
}();

/// Whether cells stand in the registers as in the matrix.
template <Fragment fragment>
constexpr bool in_order = [] {
  for (unsigned cell = 0; cell < cells_of(fragment); ++cell) {
    if (places<fragment>[cell] != cell) return false;
  }
  return true;
}();

/// Decodes `count` halves.
[[gnu::always_inline]] inline void widen_f16(const std::uint16_t* from, unsigned count,
                                             double* to) {
#if defined(__F16C__)
  typedef float Singles __attribute__((vector_size(32)));
  typedef double Doubles __attribute__((vector_size(64)));
  for (unsigned i = 0; i < count; i += 8) {
    const auto single =
        (Singles)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
    const auto wide = __builtin_convertvector(single, Doubles);
    std::memcpy(to + i, &wide, sizeof wide);
  }
#else
  for (unsigned i = 0; i < count; ++i) to[i] = F16::widen(from[i]);
#endif
}

/// Its exponent is f16's, less 8; its greatest number is a NaN.
[[gnu::always_inline]] inline double widen_e4m3(std::uint8_t bits) noexcept {
  const std::uint32_t magnitude = bits & 0x7f;
  const std::uint32_t half = (bits & 0x80U) << 8 | magnitude << 7;
  const double value = double{F16::widen(static_cast<std::uint16_t>(half))} * 0x1p8;
  return magnitude == 0x7f ? bits_as<double>(f64_nan) : value;
}

/// The elements of a register of all lanes.
template <Element element, class Register, class To>
[[gnu::noinline]] void decode_row(const Register* row, To* to) {
  constexpr unsigned count = warp_size * per_register(element);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(row);
  if constexpr (element == Element::f16) {
    widen_f16(reinterpret_cast<const std::uint16_t*>(row), count, to);
  } else if constexpr (element == Element::bf16) {
    const auto* halves = reinterpret_cast<const std::uint16_t*>(row);
    for (unsigned i = 0; i < count; ++i) to[i] = Bf16::widen(halves[i]);
  } else if constexpr (element == Element::tf32) {  // the last 13 bits are not read
    for (unsigned i = 0; i < count; ++i) to[i] = bits_as<float>(row[i] & 0xffffe000U);
  } else if constexpr (element == Element::f32) {
    for (unsigned i = 0; i < count; ++i) to[i] = bits_as<float>(row[i]);
  } else if constexpr (element == Element::e4m3) {
    for (unsigned i = 0; i < count; ++i) to[i] = widen_e4m3(bytes[i]);
  } else if constexpr (element == Element::e5m2) {  // the first byte of an f16
    for (unsigned i = 0; i < count; ++i) {
      to[i] = F16::widen(static_cast<std::uint16_t>(bytes[i] << 8));
    }
  } else if constexpr (element == Element::s8) {
    for (unsigned i = 0; i < count; ++i) to[i] = static_cast<std::int8_t>(bytes[i]);
  } else if constexpr (element == Element::u8) {
    for (unsigned i = 0; i < count; ++i) to[i] = bytes[i];
  } else if constexpr (element == Element::s4) {
    for (unsigned i = 0; i < count; i += 2) {
      to[i] = static_cast<To>(static_cast<int>(bytes[i / 2] << 28) >> 28);
      to[i + 1] = static_cast<To>(static_cast<std::int8_t>(bytes[i / 2]) >> 4);
    }
  } else if constexpr (element == Element::u4) {
    for (unsigned i = 0; i < count; i += 2) {
      to[i] = static_cast<To>(bytes[i / 2] & 15);
      to[i + 1] = static_cast<To>(bytes[i / 2] >> 4);
    }
  } else {
    static_assert(sizeof(To) == sizeof(Register));
    std::memcpy(to, row, count * sizeof(To));
  }
}

/// The elements of the registers of an operand.
template <Fragment fragment, class To>
void decode_operand(Parts parts, unsigned operand, To* to) {
  using Register = std::conditional_t<fragment.element == Element::f64, double, std::uint32_t>;
  constexpr unsigned per = warp_size * per_register(fragment.element);
  // Some fragments of wmma hold the matrix twice.
  constexpr unsigned registers =
      in_order<fragment> ? cells_of(fragment) / per : unsigned{fragment.registers};
  for (unsigned reg = 0; reg < registers; ++reg) {
    const auto find = [&](const Part& part) { return part.element<Register>(operand, reg); };
    if (parts.size() == 1) [[likely]] {
      decode_row<fragment.element>(find(parts[0]), to + reg * per);
    } else {
      const Row<Register> row = gather_rows<Register>(parts, find);
      decode_row<fragment.element>(row.data(), to + reg * per);
    }
  }
}

template <unsigned run, class T>
[[gnu::noinline]] void arrange(const T* from, const std::uint16_t* cells, unsigned count, T* to) {
  for (unsigned i = 0; i < count; i += run) {
    std::memcpy(to + i, from + cells[i], run * sizeof(T));
  }
}

/// A matrix by rows.
template <Fragment fragment, class T>
struct Matrix {
  alignas(64) std::array<T, elements_of(fragment)> elements;
  alignas(64) std::array<T, in_order<fragment> ? 1 : cells_of(fragment)> cells;

  void read(Parts parts, unsigned operand) {
    decode_operand<fragment>(parts, operand, elements.data());
  }
  /// The cells of one of four products, or of the one.
  T* of(unsigned quad) {
    if constexpr (in_order<fragment>) {
      return elements.data();
    } else {
      const T* const from = elements.data() + 4 * quad * per_register(fragment.element);
      arrange<run_of<fragment>>(from, places<fragment>.data(), cells_of(fragment), cells.data());
      return cells.data();
    }
  }
};

/// a * b + c, rounded once: where the product is no exact one, in double precision, GPUs do so too.
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

/// sums += a * b, for each sum in the order of a's columns: row by row, some sums at a time.
/// `from[row * depth + k]` is the row of b that a column of a sparse row is multiplied with.
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

/// c and the sums of products, which are whole.
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

/// The cells of a product's d.
template <Product product, class T>
void finish_product(const Factor<product>* a, const Factor<product>* b, Sum<product>* c, T* d) {
  constexpr unsigned m = product.d.rows;
  constexpr unsigned n = product.d.columns;
  constexpr unsigned depth = product.a.columns;
  if constexpr (product.operation != BitOperation::none) {
    count_bits<product.operation, m, n, depth>(a, b, c, d);
  } else if constexpr (is_integer(product.a.element)) {
    alignas(64) float sums[m * n]{};
    multiply_rows<float, m, n, depth, true, false>(a, b, sums, nullptr);
    add_whole<product.saturate>(sums, c, m * n, d);
  } else {
    constexpr bool exact = product.a.element != Element::f64;
    multiply_rows<double, m, n, depth, exact, false>(a, b, c, nullptr);
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
  alignas(64) Element result[elements_of(d)];
  for (unsigned quad = 0; quad < quads; ++quad) {
    if constexpr (in_order<d>) {
      finish_product<product>(a.of(quad), b.of(quad), c.of(quad), result);
    } else {
      alignas(64) Element cells[cells_of(d)];
      finish_product<product>(a.of(quad), b.of(quad), c.of(quad), cells);
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
  if (lanes != 0) meet(warp, in, all_lanes, lanes, &multiply_together<product>);
}

constexpr std::array<char, 9> signature_of(const Product& product) {
  std::array<char, 9> text{};
  const Fragment operands[] = {product.d, product.a, product.b, product.c};
  for (unsigned i = 0; i < 4; ++i) {
    text[2 * i] = static_cast<char>('0' + operands[i].registers);
    text[2 * i + 1] = operands[i].element == Element::f64 ? 'x' : 'w';
  }
  return text;
}

template <Product product>
void add_product(FormTable& table, std::initializer_list<const char*> key) {
  table.add(key, signature_of(product).data(), &multiply<product>);
}

}  // namespace
}  // namespace cudacore::simulator
