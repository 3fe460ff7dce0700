// SPDX-License-Identifier: Apache-2.0
#include "tile/literal.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace cudacore::tile {
namespace {

TEST(TileLiteral, RoundsOnceToEven) {
  const double half = std::ldexp(1.0, -11);  // of the last bit of 1 as tf32
  EXPECT_EQ(encode(1 + half, Element::tf32), 127U << 10U);
  EXPECT_EQ(encode(1 + 3 * half, Element::tf32), (127U << 10U) + 2);
  EXPECT_EQ(encode(1 + half + std::ldexp(1.0, -40), Element::tf32), (127U << 10U) + 1);
  EXPECT_EQ(literal(1 + half, Element::tf32), literal(1.0, Element::tf32));
}

}  // namespace
}  // namespace cudacore::tile
