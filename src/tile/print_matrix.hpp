// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tile/matrix_product.hpp"
#include "tile/printer.hpp"

namespace cudacore::tile {

/// Prints mma; `is_held`: its left operand comes from registers.
void print_mma(Printer& printer, const Operation& mma, const MatrixProduct& product, bool is_held);

/// Has the text include what both need, and what that includes in turn.
void need_matrix_headers(Printer& printer);

/// Prints what goes before a loop whose product loads the first fragments of an iteration in the
/// one before.
void print_product_ahead(Printer& printer, const Operation& ahead, const MatrixProduct& product);

/// Prints the operations that pipeline.hpp tells of, and returns true; false for others.
bool print_pipeline(Printer& printer, const Operation& operation);

}  // namespace cudacore::tile
