// SPDX-License-Identifier: Apache-2.0
//
// Reads matrices from the registers of a warp: decodes whole registers, then reorders the elements.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "simulator/ops/half_bits.hpp"
#include "simulator/ops/lanes.hpp"
#include "simulator/ops/matrix_elements.hpp"
#include "simulator/ops/warp_wide.hpp"

namespace cudacore::simulator {
namespace {  // NOLINT: internal linkage keeps the code of each ISA apart

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

/// For each cell of a matrix, by rows, its position among the elements of the registers: those of
/// the first register by lanes, then the next register. For four products, those of the first.
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

/// How many consecutive cells stay together, everywhere in the matrix.
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

/// Whether the cells have the same order in the registers as in the matrix.
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

/// Its exponent is f16's, minus 8; the pattern of its largest number is a NaN.
[[gnu::always_inline]] inline double widen_e4m3(std::uint8_t bits) noexcept {
  const std::uint32_t magnitude = bits & 0x7f;
  const std::uint32_t half = (bits & 0x80U) << 8 | magnitude << 7;
  const double value = double{F16::widen(static_cast<std::uint16_t>(half))} * 0x1p8;
  return magnitude == 0x7f ? bits_as<double>(f64_nan) : value;
}

/// The elements of a register for all lanes.
template <Element element, class Register, class To>
[[gnu::noinline]] void decode_row(const Register* row, To* to) {
  constexpr unsigned count = warp_size * per_register(element);
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(row);
  if constexpr (element == Element::f16) {
    widen_f16(reinterpret_cast<const std::uint16_t*>(row), count, to);
  } else if constexpr (element == Element::bf16) {
    const auto* halves = reinterpret_cast<const std::uint16_t*>(row);
    for (unsigned i = 0; i < count; ++i) to[i] = Bf16::widen(halves[i]);
  } else if constexpr (element == Element::tf32) {  // the last 13 bits are ignored
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

/// The elements of an operand's registers.
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
  for (unsigned i = 0; i < count; i += run) std::memcpy(to + i, from + cells[i], run * sizeof(T));
}

/// A matrix by rows.
template <Fragment fragment, class T>
struct Matrix {
  alignas(64) std::array<T, elements_of(fragment)> elements;
  alignas(64) std::array<T, in_order<fragment> ? 1 : cells_of(fragment)> cells;

  void read(Parts parts, unsigned operand) {
    decode_operand<fragment>(parts, operand, elements.data());
  }
  /// The cells of one of the four products, or of the only one.
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

}  // namespace
}  // namespace cudacore::simulator
