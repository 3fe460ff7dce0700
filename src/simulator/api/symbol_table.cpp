// SPDX-License-Identifier: Apache-2.0
//
// The addresses of all functions. They are declared here without their types, which are in
// <cuda.h>.
#include <algorithm>
#include <cstring>
#include <vector>

#include "simulator/api/proc_address.hpp"

extern "C" {
#define CUDACORE_SIMULATOR_SYMBOL(name, since, legacy, per_thread) \
  void legacy();                                                   \
  void per_thread();
#include "simulator/api/symbols.def"
#undef CUDACORE_SIMULATOR_SYMBOL
}

namespace cudacore::simulator {

std::span<const Symbol> symbols() noexcept {
  static const auto table = [] {
    std::vector<Symbol> list{
#define CUDACORE_SIMULATOR_SYMBOL(name, since, legacy, per_thread) \
  Symbol{#name, since, reinterpret_cast<void*>(&::legacy), reinterpret_cast<void*>(&::per_thread)},
#include "simulator/api/symbols.def"
#undef CUDACORE_SIMULATOR_SYMBOL
    };
    std::ranges::sort(list, [](const Symbol& a, const Symbol& b) {
      const int order = std::strcmp(a.name, b.name);
      return order != 0 ? order < 0 : a.since < b.since;
    });
    return list;
  }();
  return table;
}

}  // namespace cudacore::simulator
