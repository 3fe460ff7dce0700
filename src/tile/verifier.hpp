// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tile/kernel.hpp"

namespace cudacore::tile {

/// Looks at each operation of a kernel; the first that is wrong throws.
class Verifier {
 public:
  explicit Verifier(const Kernel& kernel) : kernel_(kernel) {}

  void region(const Region& region);

 private:
  [[noreturn]] void fail(const Operation& operation, const std::string& message) const;
  // What leaves a region has the types of what takes it.
  void terminator(const Operation& operation) const;
  void check(const Operation& operation);
  static bool takes_values(const std::string& op);
  void require(const Operation& operation, bool holds, const std::string& message) const;
  static const Type& type_of(const Operation& operation, std::size_t i);
  void source(const Operation& operation) const;
  void elementwise(const Operation& operation) const;
  void check_mode(const Operation& operation, Element element) const;
  void conversion(const Operation& operation) const;
  void scalars(const Operation& operation, std::string_view key, std::size_t count) const;
  void pointer(const Operation& operation, const Type& accessed) const;
  void access(const Operation& operation) const;
  void access_at(const Operation& operation) const;
  void folding(const Operation& operation) const;
  void structured(const Operation& operation) const;
  // Operations that rearrange a tile's elements.
  void shape(const Operation& operation) const;
  void permutation(const Operation& operation) const;
  void product(const Operation& operation) const;

  const Kernel& kernel_;
  std::vector<const Operation*> owners_;  // of the regions around what is looked at
};

}  // namespace cudacore::tile
