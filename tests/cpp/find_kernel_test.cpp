// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "cudacore/signature.hpp"

namespace cudacore {
namespace {

std::vector<KernelEntry> entries_of(std::initializer_list<const char*> symbols) {
  std::vector<KernelEntry> entries;
  for (const char* const symbol : symbols) {
    entries.push_back(describe_kernel(symbol));
  }
  return entries;
}

std::vector<KernelEntry> sample() {
  return entries_of({"_Z4axpyIfEvT_PKS0_PS0_m", "_Z4axpyIdEvT_PKS0_PS0_m", "cfun",
                     "_ZN2ns5scaleIfLi4EEEvPT_RA4_S1_",
                     "_ZN36_GLOBAL__N__00000000_4_k_cu_ba3c0bb84anonEPi",
                     "_Z7nontypeILb1ELc120EEvPi", "_Z1kPi", "_Z1kPf", "_Z4headIPKfEvT_",
                     "_ZN1a1zEv", "_ZN1b1zEv", "_Z5applyI6__halfEvT_"});
}

std::string error_of(std::string_view name) {
  const auto entries = sample();
  try {
    return "found " + entries[find_kernel(entries, name)].symbol;
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
}

TEST(FindKernelTest, FindsByEveryName) {
  const auto entries = sample();
  const auto find = [&](std::string_view name) { return find_kernel(entries, name); };
  EXPECT_EQ(find("_Z4axpyIdEvT_PKS0_PS0_m"), 1U);
  EXPECT_EQ(find("axpy<float>"), 0U);
  EXPECT_EQ(find(" axpy < double > "), 1U);
  EXPECT_EQ(find("::axpy<float>"), 0U);
  EXPECT_EQ(find("cfun"), 2U);
  EXPECT_EQ(find("scale<float,4>"), 3U);
  EXPECT_EQ(find("ns::scale< float, 4u >"), 3U);
  EXPECT_EQ(find("scale"), 3U);
  EXPECT_EQ(find("ns::scale"), 3U);
  EXPECT_EQ(find("anon"), 4U);
  EXPECT_EQ(find("nontype<true, 'x'>"), 5U);
  EXPECT_EQ(find("nontype<true, 120>"), 5U);
  EXPECT_EQ(find("k(float *)"), 7U);
  EXPECT_EQ(find("void k(int*)"), 6U);
  EXPECT_EQ(find("head<const float*>"), 8U);
  EXPECT_EQ(find("head<float const *>"), 8U);
  EXPECT_EQ(find("b::z"), 10U);
  EXPECT_EQ(find("apply<half>"), 11U);
}

TEST(FindKernelTest, ListsCandidates) {
  EXPECT_EQ(error_of("k"), "'k' names 2 kernels; ask for one of: k(int*), k(float*)");
  EXPECT_EQ(error_of("z"), "'z' names 2 kernels; ask for one of: a::z(), b::z()");
  EXPECT_EQ(error_of("axpy").find("'axpy' names 2 kernels; ask for one of: axpy<float>(float, "),
            0U);
}

TEST(FindKernelTest, ListsAllThereIs) {
  EXPECT_EQ(
      error_of("foo"),
      "no kernel 'foo'; this object has: axpy<float>, axpy<double>, cfun, ns::scale<float, 4>, "
      "(anonymous namespace)::anon, nontype<true, (char)120>, k(int*), k(float*), head<float "
      "const*>, a::z, "
      "b::z, apply<__half>");
  EXPECT_NE(error_of("axpy<int>").find("; did you mean axpy<float>, axpy<double>?"),
            std::string::npos);
  EXPECT_NE(error_of("k(double*)").find("; did you mean k(int*), k(float*)?"), std::string::npos);
  EXPECT_NE(error_of("").find("no kernel ''"), std::string::npos);
  EXPECT_THROW((void)find_kernel({}, "k"), std::invalid_argument);
}

TEST(FindKernelTest, ListsTwentyAtMost) {
  std::vector<KernelEntry> many;
  for (int i = 0; i < 25; ++i) {
    many.push_back(describe_kernel("k" + std::to_string(i)));
  }
  try {
    (void)find_kernel(many, "x");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("k19 and 5 more"), std::string::npos);
  }
}

}  // namespace
}  // namespace cudacore
