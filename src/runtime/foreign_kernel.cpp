// SPDX-License-Identifier: Apache-2.0
#include "runtime/foreign_kernel.hpp"

#include <algorithm>

namespace cudacore {
namespace {

/// Behind their arrays, CuPy's elementwise kernels take an indexer: a size, the extents whose
/// product it is, and as many words of scratch memory, which CuPy leaves as it finds them.
void clear_scratch(std::span<std::uint64_t> indexer) noexcept {
  if (indexer.size() % 2 == 0) return;
  const std::size_t extents = indexer.size() / 2;
  std::uint64_t product = 1;
  for (const std::uint64_t extent : indexer.subspan(1, extents)) product *= extent;
  if (product == indexer[0]) std::ranges::fill(indexer.subspan(1 + extents), 0);
}

}  // namespace

void clear_unread(std::string_view kernel, std::span<std::uint64_t> last_argument) noexcept {
  if (kernel.starts_with("cupy_")) clear_scratch(last_argument);
}

}  // namespace cudacore
