// SPDX-License-Identifier: Apache-2.0
#include "cudacore/signature.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

namespace cudacore {
namespace {

Param parse_one(const std::string& text) {
  const Signature signature = parse_signature("(" + text + ")");
  EXPECT_EQ(signature.params.size(), 1U) << text;
  return signature.params.empty() ? Param{} : signature.params.front();
}

struct TypeCase {
  const char* text;
  const char* type;
  ParamKind kind;
  std::size_t size;
};

class TypeTest : public testing::TestWithParam<TypeCase> {};

TEST_P(TypeTest, KindAndSize) {
  const TypeCase& expected = GetParam();
  const Param param = parse_one(expected.text);
  EXPECT_EQ(param.type, expected.type);
  EXPECT_EQ(param.kind, expected.kind);
  EXPECT_EQ(param.size, expected.size);
}

INSTANTIATE_TEST_SUITE_P(
    Types, TypeTest,
    testing::Values(
        TypeCase{"bool", "bool", ParamKind::boolean, 1},
        TypeCase{"char", "char", ParamKind::sint, 1},
        TypeCase{"unsigned char", "unsigned char", ParamKind::uint, 1},
        TypeCase{"short int", "short", ParamKind::sint, 2},
        TypeCase{"unsigned", "unsigned int", ParamKind::uint, 4},
        TypeCase{"signed", "int", ParamKind::sint, 4},
        TypeCase{"long unsigned int", "unsigned long", ParamKind::uint, 8},
        TypeCase{"long long", "long long", ParamKind::sint, 8},
        TypeCase{"size_t", "unsigned long", ParamKind::uint, 8},
        TypeCase{"std::int32_t", "int", ParamKind::sint, 4},
        TypeCase{"int64_t", "int64_t", ParamKind::sint, 8},
        TypeCase{"float", "float", ParamKind::float32, 4},
        TypeCase{"const double", "double", ParamKind::float64, 8},
        TypeCase{"half", "__half", ParamKind::float16, 2},
        TypeCase{"__nv_bfloat16", "__nv_bfloat16", ParamKind::bfloat16, 2},
        TypeCase{"float2", "float2", ParamKind::complex64, 8},
        TypeCase{"cuDoubleComplex", "double2", ParamKind::complex128, 16},
        TypeCase{"cuda::std::__4::complex<float>", "cuda::std::complex<float>",
                 ParamKind::complex64, 8},
        TypeCase{"thrust::THRUST_300200_SM_90_NS::complex< double >",
                 "thrust::THRUST_300200_SM_90_NS::complex<double>", ParamKind::complex128, 16},
        TypeCase{"uchar3", "uchar3", ParamKind::structure, 3},
        TypeCase{"float4", "float4", ParamKind::structure, 16},
        TypeCase{"longlong4_32a", "longlong4_32a", ParamKind::structure, 32},
        TypeCase{"dim3", "dim3", ParamKind::structure, 12},
        TypeCase{"ns::Big", "ns::Big", ParamKind::structure, 0},
        TypeCase{"struct Big const", "Big", ParamKind::structure, 0},
        TypeCase{"(anonymous namespace)::Mode", "(anonymous namespace)::Mode", ParamKind::structure,
                 0},
        TypeCase{"f(int)::{lambda(float)#1}", "f(int)::{lambda(float)#1}", ParamKind::structure, 0},
        TypeCase{"decltype (((short)())+(1))", "decltype(((short)())+(1))", ParamKind::structure,
                 0},
        TypeCase{"typename A<T>::template B<3u, (x>1)>::type", "A<T>::template B<3, (x>1)>::type",
                 ParamKind::structure, 0},
        TypeCase{"int Foo::*", "int Foo::*", ParamKind::structure, 0}));

struct PointerCase {
  const char* text;
  const char* type;
  ParamKind pointee;
  std::size_t size;
  bool is_const;
};

class PointerTest : public testing::TestWithParam<PointerCase> {};

TEST_P(PointerTest, Pointee) {
  const PointerCase& expected = GetParam();
  const Param param = parse_one(expected.text);
  EXPECT_EQ(param.type, expected.type);
  EXPECT_EQ(param.kind, ParamKind::pointer);
  EXPECT_EQ(param.size, 8U);
  EXPECT_EQ(param.align, 8U);
  EXPECT_EQ(param.pointee, expected.pointee);
  EXPECT_EQ(param.pointee_size, expected.size);
  EXPECT_EQ(param.pointee_const, expected.is_const);
}

INSTANTIATE_TEST_SUITE_P(
    Pointers, PointerTest,
    testing::Values(
        PointerCase{"float*", "float*", ParamKind::float32, 4, false},
        PointerCase{"const float*", "float const*", ParamKind::float32, 4, true},
        PointerCase{"float const* __restrict__", "float const*", ParamKind::float32, 4, true},
        PointerCase{"float* const", "float*", ParamKind::float32, 4, false},
        PointerCase{"float const* const*", "float const* const*", ParamKind::pointer, 8, true},
        PointerCase{"int volatile*", "int volatile*", ParamKind::sint, 4, false},
        PointerCase{"void const*", "void const*", ParamKind::void_type, 0, true},
        PointerCase{"float&", "float&", ParamKind::float32, 4, false},
        PointerCase{"Big const&", "Big const&", ParamKind::structure, 0, true},
        PointerCase{"int (*) [4]", "int (*) [4]", ParamKind::sint, 4, false},
        PointerCase{"float (&)[4]", "float (&) [4]", ParamKind::float32, 4, false},
        PointerCase{"double x[]", "double*", ParamKind::float64, 8, false},
        PointerCase{"double x[2][3]", "double (*) [3]", ParamKind::float64, 8, false},
        PointerCase{"int (*)(int, const float*)", "int (*)(int, float const*)", ParamKind::opaque,
                    0, false},
        PointerCase{"cuda::std::complex<float>*", "cuda::std::complex<float>*",
                    ParamKind::complex64, 8, false}));

TEST(ParseSignatureTest, AcceptsEveryForm) {
  const char* const text = "axpy(float a, float const* x, float* y, unsigned long n)";
  EXPECT_EQ(
      parse_signature("axpy(float a, const float *x, float * __restrict__ y, size_t n)").str(),
      text);
  EXPECT_EQ(parse_signature("__global__ void __launch_bounds__(256) axpy(float a, const float* x, "
                            "float* y, unsigned long n)")
                .str(),
            text);
  EXPECT_EQ(parse_signature("float a, const float* x, float* y, unsigned long n = 3").str(),
            std::string(text).substr(4));
  EXPECT_EQ(parse_signature("(int (*f)(int), float (&x)[4])").str(),
            "(int (*f)(int), float (&x) [4])");
  EXPECT_EQ(parse_signature("int (*f)(int), float").str(), "(int (*f)(int), float)");
  EXPECT_EQ(parse_signature("void k(int *&&x, int (*&f)(int), int (*p));").str(),
            "k(int*&& x, int (*&f)(int), int (*p))");
  EXPECT_EQ(parse_signature("").str(), "()");
  EXPECT_EQ(parse_signature("(void)").str(), "()");
  EXPECT_EQ(parse_signature("void k<(Mode)1, A<int, float> >(A<int, float> a)").str(),
            "k<(Mode)1, A<int, float>>(A<int, float> a)");
}

TEST(ParseSignatureTest, LaysOutLikeAStruct) {
  const Signature signature = parse_signature("char c, double d, short s, float4 v, int i");
  EXPECT_TRUE(signature.complete());
  EXPECT_EQ(signature.params[1].offset, 8U);
  EXPECT_EQ(signature.params[2].offset, 16U);
  EXPECT_EQ(signature.params[3].offset, 32U);
  EXPECT_EQ(signature.params[4].offset, 48U);
  EXPECT_EQ(signature.buffer_size(), 52U);
  EXPECT_FALSE(parse_signature("Big b").complete());
}

TEST(ParseSignatureTest, NamesWhatIsNotAType) {
  for (const char* const text :
       {"float, 3",  "float,,int",   "float a b",         "*x",
        "const",     "void x",       "long float",        "unsigned double",
        "float (*",  "vector<int",   "float %x",          "short long",
        "float)",    "k(int) extra", "int k(int), float", "k(int) = 3",
        "k(*)",      "k(&)",         "k(int &&& x)",      "int & & x",
        "int & * x", "int &x[3]",    "int (&*x)[3]",      "int (*)"}) {
    EXPECT_THROW((void)parse_signature(text), std::invalid_argument) << text;
  }
  try {
    (void)parse_signature("float a, 3x n");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("'3x n' is not a type"), std::string::npos);
  }
  try {
    (void)parse_signature("void k(int n) extra");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_NE(std::string(error.what()).find("'extra' after the parameters of 'k'"),
              std::string::npos);
  }
}

TEST(ParseSignatureTest, SurvivesDeepNesting) {
  std::string deep;
  for (int i = 0; i < 100000; ++i) {
    deep += "a<";
  }
  EXPECT_THROW((void)parse_signature(deep), std::invalid_argument);
  const std::string closed = deep + "b" + std::string(100000, '>');
  EXPECT_EQ(parse_signature(closed).params.size(), 1U);
}

TEST(DescribeKernelTest, ReadsMangledNames) {
  const auto describe = [](const char* symbol) { return describe_kernel(symbol).signature.str(); };
  EXPECT_EQ(describe("_Z4axpyIfEvT_PKS0_PS0_m"),
            "axpy<float>(float, float const*, float*, unsigned long)");
  EXPECT_EQ(describe("_ZN2ns5scaleIfLi4EEEvPT_RA4_S1_"),
            "ns::scale<float, 4>(float*, float (&) [4])");
  EXPECT_EQ(describe("_Z5fnargIXadL_Z5twiceiEEEvPi"), "fnarg<&(twice(int))>(int*)");
  EXPECT_EQ(describe("_ZN2ns5modedILNS_4ModeE1EEEvS1_NS_5PlainENS_3BigEPS3_Pi"),
            "ns::moded<(ns::Mode)1>(ns::Mode, ns::Plain, ns::Big, ns::Big*, int*)");
  EXPECT_EQ(describe("_ZN36_GLOBAL__N__00000000_4_k_cu_ba3c0bb84anonEPi"),
            "(anonymous namespace)::anon(int*)");
  EXPECT_EQ(describe("_Z3depIfEvN4WrapIT_E4typeENS2_5InnerEPS1_"),
            "dep<float>(Wrap<float>::type, Wrap<float>::Inner, float*)");
  EXPECT_EQ(describe("_Z8variadicIJifdEEvPiDpT_"),
            "variadic<int, float, double>(int*, int, float, double)");
  EXPECT_EQ(describe("_Z4nonev"), "none()");
  EXPECT_EQ(describe("cfun"), "cfun()");
  EXPECT_EQ(describe("f"), "f()");
  EXPECT_EQ(describe_kernel("_Z4axpyIfEvT_PKS0_PS0_m").name, "axpy<float>");
  EXPECT_EQ(describe_kernel("_Z4axpyIfEvT_PKS0_PS0_m").symbol, "_Z4axpyIfEvT_PKS0_PS0_m");
  EXPECT_EQ(demangle("_Zgarbage"), "_Zgarbage");
}

TEST(DescribeKernelTest, KeepsMeasuredOfWhatIsTooLongToDemangle) {
  const std::string symbol = "_Z20000" + std::string(20000, 'a') + "f";
  Signature measured;
  measured.params.resize(1);
  measured.params[0].size = 4;
  const KernelEntry entry = describe_kernel(symbol, measured);
  EXPECT_EQ(entry.symbol, symbol);
  EXPECT_EQ(entry.signature.params.size(), 1U);
  EXPECT_EQ(entry.signature.params[0].size, 4U);
}

TEST(DescribeKernelTest, MeasuredCountWins) {
  Signature measured;
  measured.params.resize(2);
  measured.params[0].size = measured.params[1].size = 4;
  EXPECT_EQ(describe_kernel("_Z1kPi", measured).signature.str(), "k(?, ?)");
}

Param measured(ParamKind kind, std::size_t size, const char* type) {
  Param param;
  param.kind = kind;
  param.size = param.align = size;
  param.type = type;
  return param;
}

Signature signature_of(Param param) {
  Signature signature;
  signature.params.push_back(std::move(param));
  return signature;
}

TEST(MergeTest, FillsUnknownNamesFromBytes) {
  const auto merged = [](Param other) {
    return merge(parse_signature("(ns::Mode m)"), signature_of(std::move(other))).params.front();
  };
  const Param from_ptx = merged(measured(ParamKind::integer, 4, ".u32"));
  EXPECT_EQ(from_ptx.kind, ParamKind::integer);
  EXPECT_EQ(from_ptx.size, 4U);
  EXPECT_EQ(from_ptx.type, "ns::Mode");
  EXPECT_EQ(from_ptx.name, "m");
  EXPECT_EQ(merged(measured(ParamKind::float32, 4, ".f32")).kind, ParamKind::float32);
  EXPECT_EQ(merged(measured(ParamKind::structure, 48, ".b8[48]")).kind, ParamKind::structure);
  EXPECT_EQ(merged(measured(ParamKind::opaque, 4, ".b32")).kind, ParamKind::opaque);
  EXPECT_EQ(merged(measured(ParamKind::opaque, 48, ".b8[48]")).kind, ParamKind::structure);
}

TEST(MergeTest, MeasuredSizesWinOverNames) {
  const Signature merged =
      merge(parse_signature("(half h)"), signature_of(measured(ParamKind::structure, 6, ".b8[6]")));
  EXPECT_EQ(merged.params.front().kind, ParamKind::structure);
  EXPECT_EQ(merged.params.front().size, 6U);
}

TEST(MergeTest, DeclaredTypesRefineBytes) {
  const auto merged = [](Param better, const char* declared) {
    return merge(signature_of(std::move(better)), parse_signature(declared)).params.front();
  };
  const Param pointer = merged(measured(ParamKind::integer, 8, ".u64"), "float const* x");
  EXPECT_EQ(pointer.kind, ParamKind::pointer);
  EXPECT_EQ(pointer.pointee, ParamKind::float32);
  EXPECT_TRUE(pointer.pointee_const);
  EXPECT_EQ(pointer.name, "x");
  EXPECT_EQ(merged(measured(ParamKind::pointer, 8, ".u64 .ptr"), "int* x").type, "int*");
  EXPECT_EQ(merged(measured(ParamKind::integer, 4, ".u32"), "int n").kind, ParamKind::sint);
  EXPECT_EQ(merged(measured(ParamKind::structure, 2, ".b8[2]"), "half h").kind, ParamKind::float16);
  EXPECT_EQ(merged(measured(ParamKind::opaque, 4, ".b32"), "float x").kind, ParamKind::float32);
  const Param named = merged(measured(ParamKind::structure, 48, ".b8[48]"), "Big b");
  EXPECT_EQ(named.type, "Big");
  EXPECT_EQ(named.size, 48U);
}

TEST(MergeTest, DeclaredTypesDoNotOverruleBytes) {
  const auto merged = [](Param better, const char* declared) {
    return merge(signature_of(std::move(better)), parse_signature(declared)).params.front();
  };
  EXPECT_EQ(merged(measured(ParamKind::float32, 4, ".f32"), "int n").kind, ParamKind::float32);
  EXPECT_EQ(merged(measured(ParamKind::integer, 4, ".u32"), "long n").size, 4U);
  EXPECT_EQ(merged(measured(ParamKind::integer, 4, ".u32"), "long n").kind, ParamKind::integer);
}

TEST(MergeTest, DropsAnotherCount) {
  const Signature merged = merge(parse_signature("(float)"), parse_signature("k(int a, int b)"));
  EXPECT_EQ(merged.str(), "k(float)");
}

TEST(MergeTest, LaysOutOnceComplete) {
  Signature other = parse_signature("(char, char, char)");
  other.params[1] = measured(ParamKind::structure, 12, ".b8[12]");
  other.params[1].align = 4;
  const Signature merged = merge(parse_signature("(char c, Big b, double d)"), other);
  EXPECT_EQ(merged.params[1].offset + merged.params[1].size, 16U);
  EXPECT_EQ(merged.params[2].offset, 16U);
}

}  // namespace
}  // namespace cudacore
