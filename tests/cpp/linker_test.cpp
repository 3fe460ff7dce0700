// SPDX-License-Identifier: Apache-2.0
#include "cudacore/linker.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "compilers.hpp"
#include "cudacore/error.hpp"
#include "cudacore/program.hpp"

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
  with.kernels_used = {"a", "b"};
  EXPECT_EQ(with.nvjitlink_flags(),
            (std::vector<std::string>{"-arch=sm_90", "-maxrregcount=32", "-O3", "-g", "-ftz=true",
                                      "-kernels-used=a", "-kernels-used=b"}));
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
