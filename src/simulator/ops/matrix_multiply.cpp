// SPDX-License-Identifier: Apache-2.0
//
// mma and wmma.mma: products of small matrices that a warp holds in its registers.
//
// Products are exact, and so is their sum but for double precision's rounding; PTX promises neither
// an order nor a precision beyond the result's.
#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "simulator/ops/families.hpp"
#include "simulator/ops/matrix_elements.hpp"
#include "simulator/ops/matrix_forms.hpp"
#include "simulator/ops/meeting.hpp"

namespace cudacore::simulator {
namespace {

enum class BitOperation : std::uint8_t { multiply, xor_popc, and_popc };

/// d = a * b + c, of operands 0 to 3.
struct Product {
  Fragment a;
  Fragment b;
  Fragment c;
  Fragment d;
  bool saturate = false;
  BitOperation operation = BitOperation::multiply;
};

constexpr unsigned max_rows = 32;
constexpr unsigned max_columns = 32;
constexpr unsigned max_depth = 256;

template <class T>
struct Matrices {
  std::array<std::array<T, max_depth>, max_rows> a;
  std::array<std::array<T, max_depth>, max_columns> b;  ///< transposed
  std::array<std::array<T, max_columns>, max_rows> c;
};

/// Calls use(lane, reg, i, bits) for each element.
template <class Use>
void for_each_element(Parts parts, unsigned operand, const Fragment& fragment, Use use) {
  const unsigned per = per_register(fragment.element);
  const unsigned bits = bits_of(fragment.element);
  for (unsigned reg = 0; reg < fragment.registers; ++reg) {
    const auto visit = [&](const auto& row) {
      for (unsigned lane = 0; lane < warp_size; ++lane) {
        for (unsigned i = 0; i < per; ++i) {
          const std::uint64_t mask =
              bits == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
          use(lane, reg, i, (std::uint64_t{row[lane]} >> (i * bits)) & mask);
        }
      }
    };
    if (fragment.element == Element::f64) {
      visit(gather_rows<std::uint64_t>(
          parts, [&](const Part& part) { return part.element<std::uint64_t>(operand, reg); }));
    } else {
      visit(gather_rows<std::uint32_t>(
          parts, [&](const Part& part) { return part.element<std::uint32_t>(operand, reg); }));
    }
  }
}

template <class T>
T decode(Element element, std::uint64_t bits) {
  if constexpr (std::is_same_v<T, double>) {
    return decode_float(element, bits);
  } else {
    return decode_integer(element, bits);
  }
}

std::uint64_t encode(const Product& product, std::int64_t value) {
  constexpr std::int64_t low = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t high = std::numeric_limits<std::int32_t>::max();
  if (product.saturate) value = std::clamp(value, low, high);
  return static_cast<std::uint32_t>(value);
}
std::uint64_t encode(const Product& product, double value) {
  return encode_float(product.d.element, value);
}

template <class T>
T dot(const Product& product, const std::array<T, max_depth>& a, const std::array<T, max_depth>& b,
      T sum) {
  const unsigned depth = product.a.columns;
  if constexpr (!std::is_same_v<T, double>) {
    if (product.operation == BitOperation::xor_popc) {
      for (unsigned k = 0; k < depth; ++k) sum += a[k] ^ b[k];
      return sum;
    }
  }
  for (unsigned k = 0; k < depth; ++k) sum += a[k] * b[k];  // of bits, the product is their and
  return sum;
}

/// Reads the elements of the lanes that work for a product; all of them unless there are four.
template <class T>
void read(Parts parts, const Product& product, unsigned quad, bool quads, Matrices<T>& matrices) {
  const auto takes = [&](unsigned lane) { return !quads || quad_of(lane) == quad; };
  for_each_element(parts, 1, product.a, [&](unsigned lane, unsigned reg, unsigned i, auto bits) {
    if (!takes(lane)) return;
    const Cell cell = cell_of(product.a, lane, reg, i);
    matrices.a[cell.row][cell.column] = decode<T>(product.a.element, bits);
  });
  for_each_element(parts, 2, product.b, [&](unsigned lane, unsigned reg, unsigned i, auto bits) {
    if (!takes(lane)) return;
    const Cell cell = cell_of(product.b, lane, reg, i);
    matrices.b[cell.column][cell.row] = decode<T>(product.b.element, bits);
  });
  for_each_element(parts, 3, product.c, [&](unsigned lane, unsigned reg, unsigned i, auto bits) {
    if (!takes(lane)) return;
    const Cell cell = cell_of(product.c, lane, reg, i);
    matrices.c[cell.row][cell.column] = decode<T>(product.c.element, bits);
  });
}

template <class T>
void write(Parts parts, const Product& product, unsigned quad, bool quads,
           const Matrices<T>& matrices) {
  const Fragment& d = product.d;
  const unsigned per = per_register(d.element);
  for (unsigned reg = 0; reg < d.registers; ++reg) {
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      if (quads && quad_of(lane) != quad) continue;
      std::uint64_t bits = 0;
      for (unsigned i = 0; i < per; ++i) {
        const Cell cell = cell_of(d, lane, reg, i);
        bits |= encode(product, matrices.c[cell.row][cell.column]) << (i * bits_of(d.element));
      }
      for (const Part& part : parts) {
        if (!part.has(lane)) continue;
        if (d.element == Element::f64) {
          part.element<std::uint64_t>(0, reg)[lane] = bits;
        } else {
          part.element<std::uint32_t>(0, reg)[lane] = static_cast<std::uint32_t>(bits);
        }
      }
    }
  }
}

template <class T>
void multiply_parts(Parts parts, const Product& product) {
  const bool quads = product.c.arrangement == Arrangement::quad_c_f16 ||
                     product.c.arrangement == Arrangement::quad_c_f32;
  // A product's own lanes alone are read and written, so that d may be the registers of c.
  for (unsigned quad = 0; quad < (quads ? 4 : 1); ++quad) {
    Matrices<T> matrices;
    read(parts, product, quad, quads, matrices);
    for (unsigned row = 0; row < product.d.rows; ++row) {
      for (unsigned column = 0; column < product.d.columns; ++column) {
        T& sum = matrices.c[row][column];
        sum = dot<T>(product, matrices.a[row], matrices.b[column], sum);
      }
    }
    write(parts, product, quad, quads, matrices);
  }
}

template <Product product>
void together(Warp&, Parts parts, std::uint32_t) {
  if constexpr (is_integer(product.a.element)) {
    multiply_parts<std::int64_t>(parts, product);
  } else {
    multiply_parts<double>(parts, product);
  }
}

template <Product product>
void multiply(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  if (lanes != 0) meet(warp, in, all_lanes, lanes, &together<product>);
}

constexpr unsigned registers_for(Element element, unsigned cells) {
  return cells / (warp_size * per_register(element));
}

constexpr Product mma(unsigned m, unsigned n, unsigned k, Element ab, Element b, Element cd,
                      bool saturate = false, BitOperation operation = BitOperation::multiply) {
  const auto fragment = [](Element element, unsigned rows, unsigned columns, Arrangement kind) {
    return Fragment{element, static_cast<std::uint8_t>(registers_for(element, rows * columns)),
                    static_cast<std::uint16_t>(rows), static_cast<std::uint16_t>(columns), kind};
  };
  return {fragment(ab, m, k, Arrangement::mma_a),
          fragment(b, k, n, Arrangement::mma_b),
          fragment(cd, m, n, Arrangement::mma_c),
          fragment(cd, m, n, Arrangement::mma_c),
          saturate,
          operation};
}

constexpr Product quads(bool a_row, bool b_row, Element c, Element d) {
  const auto sum = [](Element element) {
    const bool half = element == Element::f16;
    return Fragment{element, static_cast<std::uint8_t>(half ? 4 : 8), 8, 8,
                    half ? Arrangement::quad_c_f16 : Arrangement::quad_c_f32};
  };
  return {{Element::f16, 2, 8, 4, a_row ? Arrangement::quad_a_row : Arrangement::quad_a_col},
          {Element::f16, 2, 4, 8, b_row ? Arrangement::quad_b_row : Arrangement::quad_b_col},
          sum(c),
          sum(d)};
}

constexpr Product wmma(unsigned m, unsigned n, unsigned k, Element a, Element b, Element c,
                       Element d, bool saturate = false,
                       BitOperation operation = BitOperation::multiply) {
  return {wmma_fragment(WmmaMatrix::a, m, n, k, a),
          wmma_fragment(WmmaMatrix::b, m, n, k, b),
          wmma_fragment(WmmaMatrix::c, m, n, k, c),
          wmma_fragment(WmmaMatrix::c, m, n, k, d),
          saturate,
          operation};
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
void add(FormTable& table, std::initializer_list<const char*> key) {
  table.add(key, signature_of(product).data(), &multiply<product>);
}

constexpr const char* mma_text = "mma.sync.aligned.";
constexpr const char* wmma_text = "wmma.mma.sync.aligned.";

/// "m16n8k16.row.col.f32.f16.f16.f32" for sums in f16 and f32.
template <unsigned m, unsigned n, unsigned k>
void add_mma_f16(FormTable& table, const char* shape) {
  add<mma(m, n, k, Element::f16, Element::f16, Element::f32)>(
      table, {mma_text, shape, ".row.col.f32.f16.f16.f32"});
  add<mma(m, n, k, Element::f16, Element::f16, Element::f16)>(
      table, {mma_text, shape, ".row.col.f16.f16.f16.f16"});
}

template <bool a_row, bool b_row>
void add_quads(FormTable& table, const char* layout) {
  constexpr Element f16 = Element::f16;
  constexpr Element f32 = Element::f32;
  add<quads(a_row, b_row, f16, f16)>(table, {mma_text, "m8n8k4", layout, ".f16.f16.f16.f16"});
  add<quads(a_row, b_row, f16, f32)>(table, {mma_text, "m8n8k4", layout, ".f32.f16.f16.f16"});
  add<quads(a_row, b_row, f32, f32)>(table, {mma_text, "m8n8k4", layout, ".f32.f16.f16.f32"});
}

template <unsigned m, unsigned n, unsigned k, Element a, Element b>
void add_mma_integer(FormTable& table, const char* shape, const char* types) {
  add<mma(m, n, k, a, b, Element::s32)>(table, {mma_text, shape, ".row.col.s32.", types, ".s32"});
  add<mma(m, n, k, a, b, Element::s32, true)>(
      table, {mma_text, shape, ".row.col.satfinite.s32.", types, ".s32"});
}

template <unsigned m, unsigned n, unsigned k, Element s, Element u>
void add_mma_integers(FormTable& table, const char* shape, std::array<const char*, 4> types) {
  add_mma_integer<m, n, k, s, s>(table, shape, types[0]);
  add_mma_integer<m, n, k, s, u>(table, shape, types[1]);
  add_mma_integer<m, n, k, u, s>(table, shape, types[2]);
  add_mma_integer<m, n, k, u, u>(table, shape, types[3]);
}

template <unsigned m, unsigned n, unsigned k>
void add_mma_bits(FormTable& table, const char* shape) {
  constexpr Element b1 = Element::b1;
  add<mma(m, n, k, b1, b1, Element::s32, false, BitOperation::xor_popc)>(
      table, {mma_text, shape, ".row.col.s32.b1.b1.s32.xor.popc"});
  add<mma(m, n, k, b1, b1, Element::s32, false, BitOperation::and_popc)>(
      table, {mma_text, shape, ".row.col.s32.b1.b1.s32.and.popc"});
}

template <unsigned k, Element a, Element b>
void add_mma_fp8(FormTable& table, const char* shape, const char* types) {
  add<mma(16, 8, k, a, b, Element::f32)>(table, {mma_text, shape, ".row.col.f32.", types, ".f32"});
  add<mma(16, 8, k, a, b, Element::f16)>(table, {mma_text, shape, ".row.col.f16.", types, ".f16"});
}

template <unsigned k>
void add_mma_fp8s(FormTable& table, const char* shape) {
  constexpr Element e4m3 = Element::e4m3;
  constexpr Element e5m2 = Element::e5m2;
  add_mma_fp8<k, e4m3, e4m3>(table, shape, "e4m3.e4m3");
  add_mma_fp8<k, e4m3, e5m2>(table, shape, "e4m3.e5m2");
  add_mma_fp8<k, e5m2, e4m3>(table, shape, "e5m2.e4m3");
  add_mma_fp8<k, e5m2, e5m2>(table, shape, "e5m2.e5m2");
}

template <unsigned m, unsigned k>
void add_mma_f64(FormTable& table, const char* shape) {
  constexpr Element f64 = Element::f64;
  for (const char* rounding : {"", ".rn"}) {
    add<mma(m, 8, k, f64, f64, f64)>(table,
                                     {mma_text, shape, ".row.col", rounding, ".f64.f64.f64.f64"});
  }
}

void add_mma(FormTable& table) {
  add_quads<true, true>(table, ".row.row");
  add_quads<true, false>(table, ".row.col");
  add_quads<false, true>(table, ".col.row");
  add_quads<false, false>(table, ".col.col");
  add_mma_f16<16, 8, 8>(table, "m16n8k8");
  add_mma_f16<16, 8, 16>(table, "m16n8k16");
  constexpr Element f32 = Element::f32;
  add<mma(16, 8, 8, Element::bf16, Element::bf16, f32)>(
      table, {mma_text, "m16n8k8.row.col.f32.bf16.bf16.f32"});
  add<mma(16, 8, 16, Element::bf16, Element::bf16, f32)>(
      table, {mma_text, "m16n8k16.row.col.f32.bf16.bf16.f32"});
  add<mma(16, 8, 4, Element::tf32, Element::tf32, f32)>(
      table, {mma_text, "m16n8k4.row.col.f32.tf32.tf32.f32"});
  add<mma(16, 8, 8, Element::tf32, Element::tf32, f32)>(
      table, {mma_text, "m16n8k8.row.col.f32.tf32.tf32.f32"});
  add_mma_fp8s<16>(table, "m16n8k16");
  add_mma_fp8s<32>(table, "m16n8k32");
  add_mma_f64<8, 4>(table, "m8n8k4");
  add_mma_f64<16, 4>(table, "m16n8k4");
  add_mma_f64<16, 8>(table, "m16n8k8");
  add_mma_f64<16, 16>(table, "m16n8k16");
  constexpr std::array<const char*, 4> bytes{"s8.s8", "s8.u8", "u8.s8", "u8.u8"};
  constexpr std::array<const char*, 4> nibbles{"s4.s4", "s4.u4", "u4.s4", "u4.u4"};
  add_mma_integers<8, 8, 16, Element::s8, Element::u8>(table, "m8n8k16", bytes);
  add_mma_integers<16, 8, 16, Element::s8, Element::u8>(table, "m16n8k16", bytes);
  add_mma_integers<16, 8, 32, Element::s8, Element::u8>(table, "m16n8k32", bytes);
  add_mma_integers<8, 8, 32, Element::s4, Element::u4>(table, "m8n8k32", nibbles);
  add_mma_integers<16, 8, 32, Element::s4, Element::u4>(table, "m16n8k32", nibbles);
  add_mma_integers<16, 8, 64, Element::s4, Element::u4>(table, "m16n8k64", nibbles);
  add_mma_bits<8, 8, 128>(table, "m8n8k128");
  add_mma_bits<16, 8, 128>(table, "m16n8k128");
  add_mma_bits<16, 8, 256>(table, "m16n8k256");
}

constexpr std::array<const char*, 4> layouts{".row.row", ".row.col", ".col.row", ".col.col"};

template <unsigned m, unsigned n>
void add_wmma_shape(FormTable& table, const char* shape) {
  constexpr Element f16 = Element::f16;
  constexpr Element f32 = Element::f32;
  constexpr Element s32 = Element::s32;
  for (const char* layout : layouts) {
    add<wmma(m, n, 16, f16, f16, f16, f16)>(table, {wmma_text, layout + 1, shape, ".f16.f16"});
    add<wmma(m, n, 16, f16, f16, f32, f16)>(table, {wmma_text, layout + 1, shape, ".f16.f32"});
    add<wmma(m, n, 16, f16, f16, f16, f32)>(table, {wmma_text, layout + 1, shape, ".f32.f16"});
    add<wmma(m, n, 16, f16, f16, f32, f32)>(table, {wmma_text, layout + 1, shape, ".f32.f32"});
    add<wmma(m, n, 16, Element::bf16, Element::bf16, f32, f32)>(
        table, {wmma_text, layout + 1, shape, ".f32.bf16.bf16.f32"});
    add<wmma(m, n, 16, Element::s8, Element::s8, s32, s32)>(
        table, {wmma_text, layout + 1, shape, ".s32.s8.s8.s32"});
    add<wmma(m, n, 16, Element::u8, Element::u8, s32, s32)>(
        table, {wmma_text, layout + 1, shape, ".s32.u8.u8.s32"});
    add<wmma(m, n, 16, Element::s8, Element::s8, s32, s32, true)>(
        table, {wmma_text, layout + 1, shape, ".s32.s8.s8.s32.satfinite"});
    add<wmma(m, n, 16, Element::u8, Element::u8, s32, s32, true)>(
        table, {wmma_text, layout + 1, shape, ".s32.u8.u8.s32.satfinite"});
  }
}

void add_wmma(FormTable& table) {
  add_wmma_shape<16, 16>(table, ".m16n16k16");
  add_wmma_shape<8, 32>(table, ".m8n32k16");
  add_wmma_shape<32, 8>(table, ".m32n8k16");
  constexpr Element tf32 = Element::tf32;
  constexpr Element f64 = Element::f64;
  for (const char* layout : layouts) {
    add<wmma(16, 16, 8, tf32, tf32, Element::f32, Element::f32)>(
        table, {wmma_text, layout + 1, ".m16n16k8.f32.tf32.tf32.f32"});
    add<wmma(8, 8, 4, f64, f64, f64, f64)>(table,
                                           {wmma_text, layout + 1, ".m8n8k4.f64.f64.f64.f64"});
    add<wmma(8, 8, 4, f64, f64, f64, f64)>(table,
                                           {wmma_text, layout + 1, ".m8n8k4.f64.f64.f64.f64.rn"});
  }
  constexpr Element s32 = Element::s32;
  add<wmma(8, 8, 32, Element::s4, Element::s4, s32, s32)>(
      table, {wmma_text, "row.col.m8n8k32.s32.s4.s4.s32"});
  add<wmma(8, 8, 32, Element::u4, Element::u4, s32, s32)>(
      table, {wmma_text, "row.col.m8n8k32.s32.u4.u4.s32"});
  add<wmma(8, 8, 32, Element::s4, Element::s4, s32, s32, true)>(
      table, {wmma_text, "row.col.m8n8k32.s32.s4.s4.s32.satfinite"});
  add<wmma(8, 8, 32, Element::u4, Element::u4, s32, s32, true)>(
      table, {wmma_text, "row.col.m8n8k32.s32.u4.u4.s32.satfinite"});
  constexpr Element b1 = Element::b1;
  add<wmma(8, 8, 128, b1, b1, s32, s32, false, BitOperation::xor_popc)>(
      table, {"wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32"});
  add<wmma(8, 8, 128, b1, b1, s32, s32, false, BitOperation::and_popc)>(
      table, {"wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32"});
}

}  // namespace

void add_matrix_products(FormTable& table) {
  add_mma(table);
  add_wmma(table);
}

}  // namespace cudacore::simulator
