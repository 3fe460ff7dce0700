// SPDX-License-Identifier: Apache-2.0
#include "simulator/ops/families.hpp"
#include "simulator/ops/matrix_forms.hpp"

namespace cudacore::simulator {

void add_matrix(FormTable& table) {
  add_matrix_products(table);
  add_matrix_memory(table);
}

}  // namespace cudacore::simulator
