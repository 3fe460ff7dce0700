// SPDX-License-Identifier: Apache-2.0
//
// wmma.mma: products of matrices that wmma has loaded.
#include "simulator/ops/families.hpp"
#include "simulator/ops/matrix_forms.hpp"
#include "simulator/ops/matrix_product.hpp"

namespace cudacore::simulator {
namespace {

constexpr Product wmma(unsigned m, unsigned n, unsigned k, Element a, Element b, Element c,
                       Element d, bool saturate = false) {
  return {wmma_fragment(WmmaMatrix::a, m, n, k, a), wmma_fragment(WmmaMatrix::b, m, n, k, b),
          wmma_fragment(WmmaMatrix::c, m, n, k, c), wmma_fragment(WmmaMatrix::c, m, n, k, d),
          saturate};
}

constexpr const char* wmma_text = "wmma.mma.sync.aligned.";
constexpr std::array<const char*, 4> layouts{".row.row", ".row.col", ".col.row", ".col.col"};

template <unsigned m, unsigned n>
void add_wmma_shape(FormTable& table, const char* shape) {
  constexpr Element f16 = Element::f16;
  constexpr Element f32 = Element::f32;
  constexpr Element s32 = Element::s32;
  for (const char* layout : layouts) {
    add_product<wmma(m, n, 16, f16, f16, f16, f16)>(table,
                                                    {wmma_text, layout + 1, shape, ".f16.f16"});
    add_product<wmma(m, n, 16, f16, f16, f32, f16)>(table,
                                                    {wmma_text, layout + 1, shape, ".f16.f32"});
    add_product<wmma(m, n, 16, f16, f16, f16, f32)>(table,
                                                    {wmma_text, layout + 1, shape, ".f32.f16"});
    add_product<wmma(m, n, 16, f16, f16, f32, f32)>(table,
                                                    {wmma_text, layout + 1, shape, ".f32.f32"});
    add_product<wmma(m, n, 16, Element::bf16, Element::bf16, f32, f32)>(
        table, {wmma_text, layout + 1, shape, ".f32.bf16.bf16.f32"});
    add_product<wmma(m, n, 16, Element::s8, Element::s8, s32, s32)>(
        table, {wmma_text, layout + 1, shape, ".s32.s8.s8.s32"});
    add_product<wmma(m, n, 16, Element::u8, Element::u8, s32, s32)>(
        table, {wmma_text, layout + 1, shape, ".s32.u8.u8.s32"});
    add_product<wmma(m, n, 16, Element::s8, Element::s8, s32, s32, true)>(
        table, {wmma_text, layout + 1, shape, ".s32.s8.s8.s32.satfinite"});
    add_product<wmma(m, n, 16, Element::u8, Element::u8, s32, s32, true)>(
        table, {wmma_text, layout + 1, shape, ".s32.u8.u8.s32.satfinite"});
  }
}

void add_all(FormTable& table) {
  add_wmma_shape<16, 16>(table, ".m16n16k16");
  add_wmma_shape<8, 32>(table, ".m8n32k16");
  add_wmma_shape<32, 8>(table, ".m32n8k16");
  constexpr Element tf32 = Element::tf32;
  constexpr Element f64 = Element::f64;
  for (const char* layout : layouts) {
    add_product<wmma(16, 16, 8, tf32, tf32, Element::f32, Element::f32)>(
        table, {wmma_text, layout + 1, ".m16n16k8.f32.tf32.tf32.f32"});
    add_product<wmma(8, 8, 4, f64, f64, f64, f64)>(
        table, {wmma_text, layout + 1, ".m8n8k4.f64.f64.f64.f64"});
    add_product<wmma(8, 8, 4, f64, f64, f64, f64)>(
        table, {wmma_text, layout + 1, ".m8n8k4.f64.f64.f64.f64.rn"});
  }
  constexpr Element s32 = Element::s32;
  add_product<wmma(8, 8, 32, Element::s4, Element::s4, s32, s32)>(
      table, {wmma_text, "row.col.m8n8k32.s32.s4.s4.s32"});
  add_product<wmma(8, 8, 32, Element::u4, Element::u4, s32, s32)>(
      table, {wmma_text, "row.col.m8n8k32.s32.u4.u4.s32"});
  add_product<wmma(8, 8, 32, Element::s4, Element::s4, s32, s32, true)>(
      table, {wmma_text, "row.col.m8n8k32.s32.s4.s4.s32.satfinite"});
  add_product<wmma(8, 8, 32, Element::u4, Element::u4, s32, s32, true)>(
      table, {wmma_text, "row.col.m8n8k32.s32.u4.u4.s32.satfinite"});
  constexpr Product bits = wmma(8, 8, 128, Element::b1, Element::b1, s32, s32);
  add_product<by_words(bits, BitOperation::xor_popc)>(
      table, {"wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32"});
  add_product<by_words(bits, BitOperation::and_popc)>(
      table, {"wmma.mma.and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32"});
}

}  // namespace

template <>
void add_wmma<this_isa>(FormTable& table) {
  const FormTable::Family family(table, {.effect = Effect::acts, .literals = Literals::any});
  add_all(table);
}

}  // namespace cudacore::simulator
