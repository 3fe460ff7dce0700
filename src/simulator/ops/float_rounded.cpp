// SPDX-License-Identifier: Apache-2.0
//
// Single- and double-precision arithmetic rounded towards zero, down and up.
#include "simulator/ops/families.hpp"
#include "simulator/ops/float_lanes.hpp"

namespace cudacore::simulator {
namespace {

template <Rounding R>
void add_direction(FormTable& table, const char* rounding) {
  add_sums_and_products<Rounded<R>>(table, rounding);
  add_rounded_only<Rounded<R>>(table, rounding);
}

}  // namespace

void add_float_rounded(FormTable& table) {
  add_direction<Rounding::rz>(table, ".rz");
  add_direction<Rounding::rm>(table, ".rm");
  add_direction<Rounding::rp>(table, ".rp");
}

}  // namespace cudacore::simulator
