// SPDX-License-Identifier: Apache-2.0
#include "tile/type.hpp"

#include <bit>

namespace cudacore::tile {

std::int64_t Type::size() const {
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  return size;
}

int Type::index_bits() const { return log2(size()); }

std::string to_string(const Type& type) {
  std::string text(name(type.element));
  if (type.pointer) text = "ptr<" + text + ">";
  if (type.shape.empty()) return text;
  text += '[';
  for (std::size_t i = 0; i < type.shape.size(); ++i)
    text += (i == 0 ? "" : ",") + std::to_string(type.shape[i]);
  return text + "]";
}

int log2(std::int64_t n) { return std::countr_zero(static_cast<std::uint64_t>(n)); }

}  // namespace cudacore::tile
