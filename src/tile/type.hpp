// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tile/element.hpp"

namespace cudacore::tile {

/// A scalar (no shape), a tile, or a pointer to global memory.
struct Type {
  Element element = Element::i32;
  std::vector<std::int64_t> shape;  ///< powers of two
  bool pointer = false;

  [[nodiscard]] bool is_tile() const { return !shape.empty(); }
  [[nodiscard]] std::int64_t size() const;  ///< number of elements: 1 of a scalar
  [[nodiscard]] int index_bits() const;     ///< log2(size())
  [[nodiscard]] Type with(Element other) const { return {other, shape, false}; }
  bool operator==(const Type&) const = default;
};

[[nodiscard]] std::string to_string(const Type& type);

/// The number k of 2^k; n is a power of two.
[[nodiscard]] int log2(std::int64_t n);

}  // namespace cudacore::tile
