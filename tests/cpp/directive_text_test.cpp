// SPDX-License-Identifier: Apache-2.0
#include "compile/directive_text.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <string>

namespace cudacore::compile {
namespace {

TEST(DirectiveText, FindsWhatOccurs) {
  constexpr std::array<std::string_view, 5> wanted = {"ab", "_ba", "a__", "bb_a", "aaaaaa"};
  std::mt19937 random(7);  // NOLINT: the same texts each time
  for (std::size_t size = 0; size < 120; ++size) {
    for (int round = 0; round < 20; ++round) {
      std::string text(size, 'x');
      for (char& c : text) c = "ab_xxxx"[random() % 7];
      std::uint32_t expected = 0;
      for (std::size_t k = 0; k < wanted.size(); ++k) {
        const std::size_t place = text.find(wanted.at(k));
        EXPECT_EQ(index_of(text, wanted.at(k), 0), place) << text;
        if (place != std::string::npos) expected |= 1U << k;
      }
      EXPECT_EQ(occurring(text, wanted), expected) << text;
    }
  }
}

}  // namespace
}  // namespace cudacore::compile
