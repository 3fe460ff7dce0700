// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "cudacore/signature.hpp"

namespace cudacore {
namespace {

std::string named(std::string_view signature, std::string_view source) {
  Signature result = parse_signature(signature);
  read_definition(result, source);
  return result.str();
}

TEST(ParameterNamesTest, FindsTheDefinition) {
  constexpr std::string_view source = R"code(
// __global__ void axpy(float wrong, float* w, float* r, size_t o) {}
#define KERNEL __global__ void axpy(float wrong, \
    float* w, float* r, size_t o) {}
const char* text = "__global__ void axpy(float q, float* w, float* e, int r) {";
const char* raw = R"x()" __global__ void axpy(float q, float* w, float* e, int r) {})x";
template <class T> __global__ void axpy(T, const T*, T*, size_t);
namespace ns {
template <class T, int N = (3 > 2)>
__global__ __launch_bounds__(256, 2) void axpy(T a, const T* __restrict__ x /* in, out */,
                                               T* __restrict__ y, size_t n = f(1, 2)) {}
}
)code";
  EXPECT_EQ(named("ns::axpy<float>(float, float const*, float*, unsigned long)", source),
            "ns::axpy<float>(float a, float const* x, float* y, unsigned long n)");
  EXPECT_EQ(named("axpy(float)", source), "axpy(float)");
  EXPECT_EQ(named("other(float)", source), "other(float)");
}

TEST(ParameterNamesTest, ReadsEveryDeclarator) {
  constexpr std::string_view source = R"(
extern "C" void __global__ [[maybe_unused]] k(
    float (&r)[4], int (*f)(int, float), typename W<T>::type d, const __grid_constant__ ns::P p,
    unsigned u, unsigned int, std::array<int, (3 > 2)> const& c, char s = 'x', double m[2][3],
    decltype(T() + 1) e) { }
)";
  EXPECT_EQ(
      named("k(float*, void*, int, P, unsigned, unsigned, void*, char, double*, int)", source),
      "k(float* r, void* f, int d, P p, unsigned int u, unsigned int, void* c, char s, "
      "double* m, int e)");
}

TEST(ParameterNamesTest, SkipsWhatIsAmbiguous) {
  constexpr std::string_view source =
      "__global__ void k(int* a, int n) {}\n"
      "__global__ void k(float* b, int n) {}\n"
      "__global__ void same(int* a) {}\n"
      "__global__ void same(float* a) {}\n"
      "template <> __global__ void same<double>(double* a) {}";
  EXPECT_EQ(named("k(int*, int)", source), "k(int*, int)");
  EXPECT_EQ(named("same(float*)", source), "same(float* a)");
}

TEST(ParameterNamesTest, KeepsNamesAndSurvivesHalfASource) {
  constexpr std::string_view source = "__global__ void k(int* a, int n) { return; }";
  EXPECT_EQ(named("k(int* mine, int)", source), "k(int* mine, int n)");
  for (std::size_t size = 0; size < source.size(); ++size) {
    (void)named("k(int*, int)", source.substr(0, size));
    (void)named("k(int*, int)", source.substr(size));
  }
  std::string keywords;
  for (int i = 0; i < 200'000; ++i) keywords += "__global__ (";
  EXPECT_EQ(named("k(int*)", keywords), "k(int*)");  // in linear time
  for (const char* const odd :
       {"R\"", "R\"x(", "\"", "'", "/*", "#\\", "__global__ k<", "__global__ k("}) {
    EXPECT_EQ(named("k(int*)", odd), "k(int*)");
  }
}

}  // namespace
}  // namespace cudacore
