// SPDX-License-Identifier: Apache-2.0
//
// The fragments of wmma, which its loads, products and stores share; and the families of products.
#pragma once

#include "simulator/engine/form_table.hpp"
#include "simulator/ops/matrix_elements.hpp"

namespace cudacore::simulator {

enum class WmmaMatrix : std::uint8_t { a, b, c };

/// The fragment of a matrix of an m x n x k product. PTX specifies more registers for some than one
/// copy of the matrix needs.
[[nodiscard]] constexpr Fragment wmma_fragment(WmmaMatrix matrix, unsigned m, unsigned n,
                                               unsigned k, Element element) {
  const unsigned rows = matrix == WmmaMatrix::b ? k : m;
  const unsigned columns = matrix == WmmaMatrix::a ? k : n;
  const unsigned fitting = rows * columns / (warp_size * per_register(element));
  const unsigned registers = matrix != WmmaMatrix::c && element == Element::f16 ? 8 : fitting;
  // Elements of less than a byte are stored column by column in b's memory, and therefore also in
  // its registers.
  const bool columns_first = matrix == WmmaMatrix::b && bits_of(element) < 8;
  return {element, static_cast<std::uint8_t>(registers), static_cast<std::uint16_t>(rows),
          static_cast<std::uint16_t>(columns),
          columns_first ? Arrangement::opaque_columns : Arrangement::opaque};
}

/// The products, for each ISA.
template <Isa>
void add_mma(FormTable& table);
template <Isa>
void add_wmma(FormTable& table);

}  // namespace cudacore::simulator
