// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "tile/printer.hpp"

namespace cudacore::tile {

/// The region of a reduce or scan, printed as a function that changes its first arguments.
class CombineFunction {
 public:
  CombineFunction(Printer& printer, const Operation& operation);

  /// The statement a = f(a, b) for groups of expressions; those of `a` are variables.
  [[nodiscard]] std::string call(const std::vector<std::string>& a,
                                 const std::vector<std::string>& b) const;
  /// Whether the groups may change places.
  [[nodiscard]] bool is_commutative() const { return commutative_; }

 private:
  std::string name_;
  bool commutative_ = false;
};

}  // namespace cudacore::tile
