// SPDX-License-Identifier: Apache-2.0
#include "driver/driver_log.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <string_view>

namespace cudacore::driver {
namespace {

/// "[12:34:56.789][4242][CUDA][E] text" without the parts in brackets.
std::string_view without_prefix(std::string_view line) {
  while (line.starts_with('[')) {
    const std::size_t end = line.find(']');
    if (end == std::string_view::npos) break;
    line.remove_prefix(end + 1);
  }
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  return line;
}

}  // namespace

std::string take_driver_log(const DriverApi& api) {
  if (api.cuLogsCurrent == nullptr || api.cuLogsDumpToMemory == nullptr) return {};
  static std::mutex mutex;
  static std::optional<CUlogIterator> seen;
  const std::scoped_lock lock(mutex);
  std::array<char, 25600> text{};  // the driver keeps no more than this
  std::size_t size = text.size();
  if (api.cuLogsDumpToMemory(seen ? &*seen : nullptr, text.data(), &size, 0) != CUDA_SUCCESS) {
    return {};
  }
  CUlogIterator end = 0;
  if (!seen && api.cuLogsCurrent(&end, 0) == CUDA_SUCCESS) seen = end;

  std::string_view lines(text.data(), std::min(size, text.size()));
  while (!lines.empty() && (lines.back() == '\n' || lines.back() == '\0')) lines.remove_suffix(1);
  const std::size_t newline = lines.rfind('\n');
  if (newline != std::string_view::npos) lines.remove_prefix(newline + 1);
  return std::string(without_prefix(lines));
}

}  // namespace cudacore::driver
