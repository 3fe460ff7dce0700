// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "tile/matrix_lowering.hpp"

namespace cudacore::tile {

std::unique_ptr<Lowering> make_lowering(int capability) {
  return std::make_unique<MatrixLowering>(capability);
}

}  // namespace cudacore::tile
