// SPDX-License-Identifier: Apache-2.0
#include "tile/matrix_product.hpp"

#include <algorithm>
#include <vector>

namespace cudacore::tile {
namespace {

// Layout of an instruction's result for a matrix whose warps share `down` x `across` x `batches`.
Layout fragment_layout(const MatrixProduct& product, int columns, int down, int across) {
  const int column_bits = log2(columns);
  const int row_bits = log2(product.rows);
  const int batch_bits = log2(product.batch);
  const int own_columns = column_bits - log2(across);
  const int own_rows = row_bits - log2(down);
  const int own_batches = batch_bits - log2(product.warps_batch);
  const auto column = [&](int i) { return i < own_columns ? i : -1; };
  const auto row = [&](int i) { return i < own_rows ? column_bits + i : -1; };
  Layout layout;
  const auto keep = [&](int bit) {
    if (bit >= 0) layout.registers.push_back(bit);
  };
  keep(column(0));
  keep(row(3));
  for (int i = 3; i < own_columns; ++i) keep(column(i));
  for (int i = 4; i < own_rows; ++i) keep(row(i));
  for (int i = 0; i < own_batches; ++i) keep(column_bits + row_bits + i);
  layout.lanes = {column(1), column(2), row(0), row(1), row(2)};
  for (int i = own_rows; i < row_bits; ++i) layout.warps.push_back(column_bits + i);
  for (int i = own_columns; i < column_bits; ++i) layout.warps.push_back(i);
  // Warps that share the columns of the product have the same elements of its `a`.
  if (across == 1)
    layout.warps.insert(layout.warps.end(), static_cast<std::size_t>(log2(product.warps_across)),
                        -1);
  for (int i = own_batches; i < batch_bits; ++i) layout.warps.push_back(column_bits + row_bits + i);
  layout.warps.resize(static_cast<std::size_t>(log2(product.warps)), -1);
  return layout;
}

// The CUDA cores: neighbors in a row go to a thread's registers and then to lanes.
Layout element_layout(const MatrixProduct& product) {
  std::vector<int> order;
  order.reserve(63);
  for (int bit = 0; bit < log2(product.columns) + log2(product.rows) + log2(product.batch); ++bit)
    order.push_back(bit);
  // As many elements side by side as leave work for all lanes and warps.
  const int spare = static_cast<int>(order.size()) - 5 - log2(product.warps);
  const int vector = std::clamp(spare, 0, std::min(2, log2(product.columns)));
  return blocked(order, vector, log2(product.warps));
}

std::string place(int divisor, int modulus, int extent) {
  if (modulus == 1) return "0";
  return "tid / " + std::to_string(32 * divisor) + " % " + std::to_string(modulus) + " * " +
         std::to_string(extent);
}

bool is_byte_float(Element element) { return element == Element::e4m3 || element == Element::e5m2; }

}  // namespace

bool has_instruction(Element a, Element b, Element c, int architecture) {
  if (c == Element::i32)
    return (a == Element::i8 || a == Element::u8) && (b == Element::i8 || b == Element::u8);
  if (is_byte_float(a) && is_byte_float(b)) return c == Element::f32 && architecture >= 89;
  if (a != b) return false;
  if (a == Element::f16) return c == Element::f16 || c == Element::f32;
  if (a == Element::bf16 || a == Element::tf32) return c == Element::f32 && architecture >= 80;
  return a == Element::f64 && c == Element::f64 && architecture >= 80;
}

MatrixProduct matrix_product(const Operation& mma, int architecture, int warps, bool chained) {
  MatrixProduct product;
  const Type& a = mma.operand(0)->type;
  const Type& c = mma.operand(2)->type;
  const std::size_t rank = c.shape.size();
  product.a = a.element;
  product.b = mma.operand(1)->type.element;
  product.c = c.element;
  product.batch = rank == 3 ? static_cast<int>(c.shape[0]) : 1;
  product.rows = static_cast<int>(c.shape[rank - 2]);
  product.columns = static_cast<int>(c.shape[rank - 1]);
  product.inner = static_cast<int>(a.shape[rank - 1]);
  product.warps = warps;
  if (!has_instruction(product.a, product.b, product.c, architecture))
    product.unit = Unit::elements;
  else if (product.a == Element::f64)
    product.unit = Unit::doubles;
  int left = warps;
  const auto own_rows = [&] { return product.rows / product.warps_down; };
  const auto own_columns = [&] { return product.columns / product.warps_across; };
  while (left > 1) {
    // Warps want as many rows as columns, so that they load the least for a product.
    const bool rows =
        own_rows() >= 32 && (chained || own_rows() >= own_columns() || own_columns() < 32);
    if (rows)
      product.warps_down *= 2;
    else if (own_columns() >= 32 || (own_columns() >= 16 && product.warps_batch == product.batch))
      product.warps_across *= 2;
    else if (product.warps_batch < product.batch)
      product.warps_batch *= 2;
    else
      break;
    left /= 2;
  }
  return product;
}

Layout MatrixProduct::result_layout() const {
  if (unit == Unit::elements) return element_layout(*this);
  return fragment_layout(*this, columns, warps_down, warps_across);
}

Layout MatrixProduct::held_layout() const { return fragment_layout(*this, inner, warps_down, 1); }

bool MatrixProduct::may_hold() const {
  return unit == Unit::matrix && (a == Element::f16 || a == Element::bf16) &&
         rows / warps_down >= 16 && inner >= 16 && batch == 1;
}

int MatrixProduct::result_registers() const {
  const int each = c == Element::f64 ? 2 : 1;
  return result_layout().register_count() * each / (c == Element::f16 ? 2 : 1);
}

std::string MatrixProduct::first_row() const { return place(1, warps_down, rows / warps_down); }

std::string MatrixProduct::first_column() const {
  return place(warps_down, warps_across, columns / warps_across);
}

std::string MatrixProduct::first_batch() const {
  return place(warps_down * warps_across, warps_batch, batch / warps_batch);
}

}  // namespace cudacore::tile
