// SPDX-License-Identifier: Apache-2.0
//
// The addresses of all functions. They are declared here without their types, which are in
// <cuda.h>.
#include <algorithm>
#include <cstring>
#include <vector>

#include "simulator/api/proc_address.hpp"

extern "C" {
#define CUDACORE_SIMULATOR_SYMBOL(name, version, since) void name##version();
#define CUDACORE_SIMULATOR_TWINS(name, version, since, suffix, arity) \
  void name##version();                                               \
  void name##version##suffix();
#include "simulator/api/not_simulated.def"
#include "simulator/api/symbols.def"
#undef CUDACORE_SIMULATOR_TWINS
#undef CUDACORE_SIMULATOR_SYMBOL
}

namespace cudacore::simulator {

std::span<const Symbol> symbols() noexcept {
  static const auto table = [] {
    std::vector<Symbol> list{
#define CUDACORE_SIMULATOR_TWINS(name, version, since, suffix, arity) \
  Symbol{#name, since, reinterpret_cast<void*>(&::name##version),     \
         reinterpret_cast<void*>(&::name##version##suffix)},
#define CUDACORE_SIMULATOR_SYMBOL(name, version, since) \
  CUDACORE_SIMULATOR_TWINS(name, version, since, , 0)
#include "simulator/api/not_simulated.def"
#include "simulator/api/symbols.def"
#undef CUDACORE_SIMULATOR_TWINS
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
