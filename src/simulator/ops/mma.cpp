// SPDX-License-Identifier: Apache-2.0
//
// mma: products of matrices whose positions in the registers PTX specifies.
#include <initializer_list>
#include <string>

#include "simulator/ops/families.hpp"
#include "simulator/ops/matrix_forms.hpp"
#include "simulator/ops/matrix_product.hpp"

namespace cudacore::simulator {
namespace {

constexpr unsigned registers_for(Element element, unsigned cells) {
  return cells / (warp_size * per_register(element));
}

constexpr Product mma(unsigned m, unsigned n, unsigned k, Element ab, Element b, Element cd,
                      bool saturate = false) {
  const auto fragment = [](Element element, unsigned rows, unsigned columns, Arrangement kind) {
    return Fragment{element, static_cast<std::uint8_t>(registers_for(element, rows * columns)),
                    static_cast<std::uint16_t>(rows), static_cast<std::uint16_t>(columns), kind};
  };
  return {fragment(ab, m, k, Arrangement::mma_a), fragment(b, k, n, Arrangement::mma_b),
          fragment(cd, m, n, Arrangement::mma_c), fragment(cd, m, n, Arrangement::mma_c), saturate};
}

/// For a 16 x k matrix in which half of each row is present.
constexpr Product sparse(unsigned k, Element a, Element b, Element cd, bool saturate) {
  Product product = mma(16, 8, k, a, b, cd, saturate);
  product.a.registers /= 2;
  product.a.columns /= 2;
  product.sparse = true;
  return product;
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

constexpr const char* mma_text = "mma.sync.aligned.";

/// "m16n8k16.row.col.f32.f16.f16.f32" for sums in f16 and f32.
template <unsigned m, unsigned n, unsigned k>
void add_mma_f16(FormTable& table, const char* shape) {
  add_product<mma(m, n, k, Element::f16, Element::f16, Element::f32)>(
      table, {mma_text, shape, ".row.col.f32.f16.f16.f32"});
  add_product<mma(m, n, k, Element::f16, Element::f16, Element::f16)>(
      table, {mma_text, shape, ".row.col.f16.f16.f16.f16"});
}

template <bool a_row, bool b_row>
void add_quads(FormTable& table, const char* layout) {
  constexpr Element f16 = Element::f16;
  constexpr Element f32 = Element::f32;
  add_product<quads(a_row, b_row, f16, f16)>(table,
                                             {mma_text, "m8n8k4", layout, ".f16.f16.f16.f16"});
  add_product<quads(a_row, b_row, f16, f32)>(table,
                                             {mma_text, "m8n8k4", layout, ".f32.f16.f16.f16"});
  add_product<quads(a_row, b_row, f32, f32)>(table,
                                             {mma_text, "m8n8k4", layout, ".f32.f16.f16.f32"});
}

template <unsigned m, unsigned n, unsigned k, Element a, Element b>
void add_mma_integer(FormTable& table, const char* shape, const char* types) {
  add_product<mma(m, n, k, a, b, Element::s32)>(table,
                                                {mma_text, shape, ".row.col.s32.", types, ".s32"});
  add_product<mma(m, n, k, a, b, Element::s32, true)>(
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
  constexpr Product bits = mma(m, n, k, Element::b1, Element::b1, Element::s32);
  add_product<by_words(bits, BitOperation::xor_popc)>(
      table, {mma_text, shape, ".row.col.s32.b1.b1.s32.xor.popc"});
  add_product<by_words(bits, BitOperation::and_popc)>(
      table, {mma_text, shape, ".row.col.s32.b1.b1.s32.and.popc"});
}

template <unsigned k, Element a, Element b>
void add_mma_fp8(FormTable& table, const char* shape, const char* types) {
  add_product<mma(16, 8, k, a, b, Element::f32)>(table,
                                                 {mma_text, shape, ".row.col.f32.", types, ".f32"});
  add_product<mma(16, 8, k, a, b, Element::f16)>(table,
                                                 {mma_text, shape, ".row.col.f16.", types, ".f16"});
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
    add_product<mma(m, 8, k, f64, f64, f64)>(
        table, {mma_text, shape, ".row.col", rounding, ".f64.f64.f64.f64"});
  }
}

/// Under both names: the metadata is ordered in either case, as ptxas requires.
template <unsigned k, Element a, Element b, Element cd, bool saturate = false>
void add_sparse(FormTable& table, const char* shape, const char* types) {
  for (const char* name : {"mma.sp.sync.aligned.", "mma.sp::ordered_metadata.sync.aligned."}) {
    add_product<sparse(k, a, b, cd, saturate)>(table, {name, shape, ".row.col.", types});
  }
}

/// Replaces operator+, which would be compiled into the objects of each instruction set.
std::string join(std::initializer_list<const char*> parts) {
  std::string whole;
  for (const char* part : parts) whole.append(part);
  return whole;
}

template <unsigned k, Element s, Element u>
void add_sparse_integers(FormTable& table, const char* shape, std::array<const char*, 4> types) {
  constexpr Element s32 = Element::s32;
  const auto add = [&]<Element a, Element b>(const char* pair) {
    add_sparse<k, a, b, s32>(table, shape, join({"s32.", pair, ".s32"}).c_str());
    add_sparse<k, a, b, s32, true>(table, shape, join({"satfinite.s32.", pair, ".s32"}).c_str());
  };
  add.template operator()<s, s>(types[0]);
  add.template operator()<s, u>(types[1]);
  add.template operator()<u, s>(types[2]);
  add.template operator()<u, u>(types[3]);
}

template <Element a, Element b>
void add_sparse_fp8(FormTable& table, const char* types) {
  add_sparse<64, a, b, Element::f32>(table, "m16n8k64", join({"f32.", types, ".f32"}).c_str());
  add_sparse<64, a, b, Element::f16>(table, "m16n8k64", join({"f16.", types, ".f16"}).c_str());
}

template <unsigned k>
void add_sparse_halves(FormTable& table, const char* shape) {
  constexpr Element f16 = Element::f16;
  constexpr Element bf16 = Element::bf16;
  add_sparse<k, f16, f16, f16>(table, shape, "f16.f16.f16.f16");
  add_sparse<k, f16, f16, Element::f32>(table, shape, "f32.f16.f16.f32");
  add_sparse<k, bf16, bf16, Element::f32>(table, shape, "f32.bf16.bf16.f32");
}

void add_all_sparse(FormTable& table, std::array<const char*, 4> bytes,
                    std::array<const char*, 4> nibbles) {
  constexpr Element tf32 = Element::tf32;
  constexpr Element e4m3 = Element::e4m3;
  constexpr Element e5m2 = Element::e5m2;
  add_sparse_halves<16>(table, "m16n8k16");
  add_sparse_halves<32>(table, "m16n8k32");
  add_sparse<8, tf32, tf32, Element::f32>(table, "m16n8k8", "f32.tf32.tf32.f32");
  add_sparse<16, tf32, tf32, Element::f32>(table, "m16n8k16", "f32.tf32.tf32.f32");
  add_sparse_integers<32, Element::s8, Element::u8>(table, "m16n8k32", bytes);
  add_sparse_integers<64, Element::s8, Element::u8>(table, "m16n8k64", bytes);
  add_sparse_integers<64, Element::s4, Element::u4>(table, "m16n8k64", nibbles);
  add_sparse_integers<128, Element::s4, Element::u4>(table, "m16n8k128", nibbles);
  add_sparse_fp8<e4m3, e4m3>(table, "e4m3.e4m3");
  add_sparse_fp8<e4m3, e5m2>(table, "e4m3.e5m2");
  add_sparse_fp8<e5m2, e4m3>(table, "e5m2.e4m3");
  add_sparse_fp8<e5m2, e5m2>(table, "e5m2.e5m2");
}

void add_all(FormTable& table) {
  add_quads<true, true>(table, ".row.row");
  add_quads<true, false>(table, ".row.col");
  add_quads<false, true>(table, ".col.row");
  add_quads<false, false>(table, ".col.col");
  add_mma_f16<16, 8, 8>(table, "m16n8k8");
  add_mma_f16<16, 8, 16>(table, "m16n8k16");
  constexpr Element f32 = Element::f32;
  add_product<mma(16, 8, 8, Element::bf16, Element::bf16, f32)>(
      table, {mma_text, "m16n8k8.row.col.f32.bf16.bf16.f32"});
  add_product<mma(16, 8, 16, Element::bf16, Element::bf16, f32)>(
      table, {mma_text, "m16n8k16.row.col.f32.bf16.bf16.f32"});
  add_product<mma(16, 8, 4, Element::tf32, Element::tf32, f32)>(
      table, {mma_text, "m16n8k4.row.col.f32.tf32.tf32.f32"});
  add_product<mma(16, 8, 8, Element::tf32, Element::tf32, f32)>(
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
  add_all_sparse(table, bytes, nibbles);
}

}  // namespace

template <>
void add_mma<this_isa>(FormTable& table) {
  const FormTable::Family family(table, {.effect = Effect::acts});
  add_all(table);
}

}  // namespace cudacore::simulator
