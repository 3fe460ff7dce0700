// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "tile/effects.hpp"
#include "tile/kernel.hpp"
#include "tile/target.hpp"

namespace cudacore::tile {

class Printer;

/// The layouts that an operation wants; an empty one stands for any.
struct OperationLayouts {
  std::vector<Layout> operands;
  std::vector<Layout> results;
};

/// How the operations that differ between architectures are carried out: mma, and loops that load
/// ahead of what they compute. MatrixLowering serves all architectures; this interface is where one
/// for the warpgroup instructions of compute capability 9.0 enters. The members are called in this
/// order.
class Lowering {
 public:
  virtual ~Lowering() = default;
  /// The number of warps that suits a kernel, or 0: no opinion.
  [[nodiscard]] virtual int warps(const Kernel& kernel) const = 0;
  /// May rewrite the kernel before layouts are assigned, for example into operations of its own.
  virtual void prepare(Kernel& kernel, const Target& target) const = 0;
  /// The layouts of mma and of operations of its own; nothing for other operations. These are fixed
  /// first, and what else is computed from such tiles follows them.
  [[nodiscard]] virtual std::optional<OperationLayouts> layouts(const Operation& operation,
                                                                const Target& target) const = 0;
  /// May rewrite the kernel when all values have layouts and conversions stand in the text. Sets
  /// Operation::scratch_bytes of its own operations.
  virtual void rewrite(Kernel& kernel, const Target& target) const = 0;
  /// The phases of mma and of operations of its own; nothing for other operations.
  [[nodiscard]] virtual std::optional<std::vector<Phase>> effects(
      const Operation& operation) const = 0;
  /// Prints mma and operations of its own, and returns true; false for other operations.
  virtual bool print(Printer& printer, const Operation& operation) const = 0;
};

[[nodiscard]] std::unique_ptr<Lowering> make_lowering(int architecture);

}  // namespace cudacore::tile
