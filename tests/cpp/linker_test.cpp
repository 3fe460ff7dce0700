// SPDX-License-Identifier: Apache-2.0
#include "cudacore/linker.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "compile/definitions.hpp"
#include "compilers.hpp"
#include "cudacore/error.hpp"
#include "cudacore/program.hpp"
#include "messages.hpp"

namespace cudacore {
namespace {

using testing::contains;
using testing::message_of;

const std::string caller = R"(
__device__ float twice(float);
__global__ void apply(float* x, int n) {
  if (threadIdx.x < n) x[threadIdx.x] = twice(x[threadIdx.x]);
}
extern "C" __global__ void plain(float* x, float value) { *x = twice(value); }
)";
const std::string callee = "__device__ float twice(float a) { return 2.0f * a; }";

class Links : public testing::CompilerTest {
 protected:
  static ObjectCode compile(const std::string& source, CodeType target, const std::string& name) {
    ProgramOptions options;
    options.arch = "sm_90";
    options.name = name;
    options.relocatable_device_code = true;
    return Program(source, SourceType::cxx, options).compile(target);
  }

  static std::vector<ObjectCode> both(CodeType target) {
    return {compile(caller, target, "caller"), compile(callee, target, "callee")};
  }

  static LinkerOptions options() {
    LinkerOptions options;
    options.arch = "sm_90";
    return options;
  }
};

TEST_F(Links, EveryKindOfInput) {
  for (const CodeType type : {CodeType::ptx, CodeType::cubin, CodeType::ltoir}) {
    Linker linker(both(type), options());
    const ObjectCode code = linker.link();
    EXPECT_EQ(code.code_type(), CodeType::cubin);
    EXPECT_EQ(code.kernels().size(), 2U) << to_string(type);
    EXPECT_EQ(code.signature("apply").params[1].name, "n") << to_string(type);
  }
}

TEST_F(Links, SignaturesComeFromTheInputs) {
  for (const CodeType type : {CodeType::ptx, CodeType::cubin}) {
    const ObjectCode code = Linker(both(type), options()).link();
    const Signature signature = code.signature("plain");
    ASSERT_EQ(signature.params.size(), 2U) << to_string(type);
    EXPECT_EQ(signature.params[1].kind, ParamKind::float32) << to_string(type);
  }
}

TEST_F(Links, LtoIrToPtx) {
  const ObjectCode code = Linker(both(CodeType::ltoir), options()).link(CodeType::ptx);
  EXPECT_EQ(code.code_type(), CodeType::ptx);
  EXPECT_TRUE(contains(std::string(code.ptx()), ".entry plain"));
  EXPECT_THROW((void)Linker(both(CodeType::ptx), options()).link(CodeType::ptx),
               std::invalid_argument);
}

TEST_F(Links, MixedInputs) {
  const std::vector<ObjectCode> inputs = {compile(caller, CodeType::ltoir, "caller"),
                                          compile(callee, CodeType::ptx, "callee")};
  EXPECT_EQ(Linker(inputs, options()).link().kernels().size(), 2U);
}

TEST_F(Links, UnresolvedSymbolsAreReadable) {
  Linker linker({compile(caller, CodeType::cubin, "caller")}, options());
  try {
    (void)linker.link();
    FAIL();
  } catch (const LinkError& error) {
    EXPECT_TRUE(contains(error.what(), "nvJitLinkComplete failed"));
    EXPECT_TRUE(contains(error.what(), "twice(float)"));
    EXPECT_TRUE(contains(error.what(), "caller"));
    EXPECT_TRUE(contains(error.log(), "_Z5twicef"));
    EXPECT_EQ(linker.error_log(), error.log());
  }
}

TEST_F(Links, FlagsOfOptions) {
  LinkerOptions with = options();
  with.max_register_count = 32;
  with.optimization_level = 3;
  with.debug = true;
  with.lineinfo = false;
  with.ftz = true;
  with.fma = false;
  with.kernels_used = {"a", "b"};
  EXPECT_EQ(with.nvjitlink_flags(),
            (std::vector<std::string>{"-arch=sm_90", "-maxrregcount=32", "-O3", "-g", "-ftz=1",
                                      "-fma=0", "-kernels-used=a", "-kernels-used=b"}));
}

TEST_F(Links, PrecisionOptionsReachLinkTimeOptimisation) {
  LinkerOptions with = options();
  for (const bool value : {true, false}) {
    with.ftz = with.prec_div = with.prec_sqrt = with.fma = value;
    EXPECT_NO_THROW((void)Linker(both(CodeType::ltoir), with).link());
  }
}

TEST_F(Links, DefinedTwice) {
  for (const CodeType type : {CodeType::ptx, CodeType::cubin}) {
    std::vector<ObjectCode> inputs = both(type);
    inputs.push_back(compile(callee, type, "again"));
    const std::string kind(to_string(type));
    Linker linker(inputs, options());
    try {
      (void)linker.link();
      FAIL() << kind;
    } catch (const LinkError& error) {
      EXPECT_EQ(error.code(), 0);
      EXPECT_TRUE(contains(error.what(), "twice(float) is defined in input 1 (" + kind +
                                             " \"callee\") and again in input 2 (" + kind +
                                             " \"again\")"));
      EXPECT_EQ(linker.error_log(), error.log());
    }
  }
  const std::vector<ObjectCode> mixed = {compile(callee, CodeType::ptx, "text"),
                                         compile(callee, CodeType::cubin, "binary")};
  EXPECT_THROW((void)Linker(mixed, options()).link(), LinkError);
}

TEST_F(Links, WhatMayBeDefinedTwice) {
  const std::string source = R"(
#include <cuda_fp16.h>
template <typename T> __global__ void shared_kernel(T* x) { *x = T(1); }
template __global__ void shared_kernel<float>(float*);
inline __device__ __noinline__ float common(float x) { return x * x; }
static __device__ __noinline__ float own(float x) { return x + 1; }
namespace { __device__ int hidden = 3; }
static __constant__ float table[4] = {1, 2, 3, 4};
__device__ float twice(float);
extern __device__ int counter;
extern __shared__ int space[];
__global__ void NAME(float* x, __half* h) {
  *x = common(own(*x)) + hidden++ + table[threadIdx.x] + twice(*x) + counter + space[0];
  *h = __float2half(*x);
  printf("%f\n", *x);
}
)";
  const std::string others = callee + "\n__device__ int counter = 1;";
  for (const CodeType type : {CodeType::ptx, CodeType::cubin}) {
    const ObjectCode code = Linker({compile("#define NAME first\n" + source, type, "first"),
                                    compile("#define NAME second\n" + source, type, "second"),
                                    compile(others, type, "others")},
                                   options())
                                .link();
    EXPECT_EQ(code.kernels().size(), 3U) << to_string(type);
  }
}

TEST(Definitions, OfPtx) {
  const std::string ptx = R"(
.version 8.0
.target sm_90
.extern .func (.param .b32 r) far(.param .b32 a);
.visible .func (.param .b32 r) declared(.param .b32 a);
.visible .func (.param .b32 r) near(.param .b32 a)
{ { .reg .b32 %r<2>; } ret; }
.weak .func loose() { ret; }
.func own() { ret; }
.visible .entry k(.param .u64 k_param_0) .maxntid 32, 1, 1 { ret; } // .visible .entry comment
.visible .global .attribute(.managed) .align 4 .b8 table[8] = {1, 2, 3, 4};
.visible .const .v4 .f32 vector;
.visible .global .u64 address = generic(table);
.global .u32 local;
.common .global .u32 both;
)";
  EXPECT_EQ(compile::strong_definitions_in_ptx(ptx),
            (std::vector<std::string>{"near", "k", "table", "vector", "address"}));
  for (std::size_t size = 0; size < ptx.size(); ++size) {
    (void)compile::strong_definitions_in_ptx(ptx.substr(0, size));
  }
}

TEST_F(Links, LogsAreKept) {
  LinkerOptions with = options();
  with.verbose = true;
  Linker linker(both(CodeType::ptx), with);
  (void)linker.link();
  EXPECT_TRUE(contains(linker.info_log(), "registers"));
  EXPECT_EQ(linker.error_log(), "");
}

TEST_F(Links, WrongUseIsRefused) {
  EXPECT_THROW(Linker({}, options()), std::invalid_argument);
  EXPECT_THROW((void)Linker(both(CodeType::ptx), options()).link(CodeType::ltoir),
               std::invalid_argument);
  LinkerOptions with = options();
  with.link_time_optimization = true;
  EXPECT_THROW((void)Linker(both(CodeType::ptx), with).link(), std::invalid_argument);
  with = options();
  with.ptx = true;
  EXPECT_THROW((void)Linker(both(CodeType::ltoir), with).link(), std::invalid_argument);
  with = options();
  with.numba_debug = true;
  const std::string text =
      message_of<NotSupportedError>([&] { (void)Linker(both(CodeType::ptx), with).link(); });
  EXPECT_TRUE(contains(text, "-numba-debug"));
}

TEST_F(Links, UnknownArchDoesNotCrash) {
  LinkerOptions with = options();
  with.arch = "sm_999";
  try {
    (void)Linker(both(CodeType::cubin), with).link();
    FAIL();
  } catch (const Error& error) {
    EXPECT_TRUE(contains(error.what(), "999"));
  }
}

TEST_F(Links, DamagedInputIsALinkError) {
  const ObjectCode garbage(
      std::vector<std::byte>(100, std::byte{7}), CodeType::cubin,
      {.name = "garbage", .symbol_mapping = {}, .ptx = {}, .source = {}, .known_kernels = {}});
  const std::string text =
      message_of<LinkError>([&] { (void)Linker({garbage}, options()).link(); });
  EXPECT_TRUE(contains(text, "cubin \"garbage\""));
}

}  // namespace
}  // namespace cudacore
