// SPDX-License-Identifier: Apache-2.0
//
// The families that are compiled for each ISA, chosen at run time.
#pragma once

#include <stdexcept>

#include "simulator/ops/families.hpp"

namespace cudacore::simulator {

/// Calls a template for an ISA known at run time: `call.template operator()<isa>()`.
template <class Call>
void with_isa(Isa isa, Call&& call) {
  switch (isa) {
    case Isa::baseline:
      call.template operator()<Isa::baseline>();
      break;
#if defined(__x86_64__) && !defined(CUDACORE_SIMULATOR_BASELINE_ONLY)
    case Isa::avx2:
      call.template operator()<Isa::avx2>();
      break;
    case Isa::avx512:
      call.template operator()<Isa::avx512>();
      break;
#endif
    default:
      throw std::logic_error("no forms for this ISA");
  }
}

template <Isa isa>
void add_integer_families(FormTable& table) {
  add_integer_arithmetic<isa>(table);
  add_integer_bits<isa>(table);
  add_integer_compare<isa>(table);
  add_integer_convert<isa>(table);
  add_moves<isa>(table);
}

}  // namespace cudacore::simulator
