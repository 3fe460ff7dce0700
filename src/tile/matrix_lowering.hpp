// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tile/lowering.hpp"
#include "tile/matrix_product.hpp"

namespace cudacore::tile {

/// mma by matrix instructions of a warp (mma.sync), fed from shared memory through ldmatrix; from
/// compute capability 8.0 on, loops copy to shared memory ahead by cp.async.
///
/// Marks that mma carries as attributes: `chained`, its result becomes the left operand of another;
/// `held`, its left operand comes from registers.
class MatrixLowering : public Lowering {
 public:
  explicit MatrixLowering(int architecture) : architecture_(architecture) {}

  [[nodiscard]] int warps(const Kernel& kernel) const override;
  void prepare(Kernel& kernel, const Target& target) const override;
  [[nodiscard]] std::optional<OperationLayouts> layouts(const Operation& operation,
                                                        const Target& target) const override;
  void rewrite(Kernel& kernel, const Target& target) const override;
  [[nodiscard]] std::optional<std::vector<Phase>> effects(
      const Operation& operation) const override;
  bool print(Printer& printer, const Operation& operation) const override;

 private:
  [[nodiscard]] MatrixProduct product(const Operation& mma, int warps) const;
  [[nodiscard]] std::int64_t possible_occupancy(Kernel& kernel, const Target& target) const;

  int architecture_;
};

}  // namespace cudacore::tile
