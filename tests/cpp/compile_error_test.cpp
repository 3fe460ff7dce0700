// SPDX-License-Identifier: Apache-2.0
#include "compile/compile_error.hpp"

#include <gtest/gtest.h>

#include <string>

#include "compilers.hpp"
#include "cudacore/error.hpp"
#include "cudacore/program.hpp"
#include "messages.hpp"
#include "signature/compiler_log.hpp"

namespace cudacore::compile {
namespace {

using signature::demangle_all;
using signature::first_error;
using signature::FirstError;
using testing::contains;
using testing::message_of;

TEST(FirstError, OfNvrtc) {
  const FirstError error = first_error(
      "k.cu(2): warning #177-D: variable \"x\" was declared but never referenced\n"
      "  int x;\n"
      "      ^\n"
      "\n"
      "dir(1)/k.cu(31): error: identifier \"bad\" is undefined\n"
      "    bad;\n"
      "    ^\n"
      "\n"
      "k.cu(40): error: expected a \";\"\n"
      "\n"
      "2 errors detected in the compilation of \"k.cu\".\n");
  EXPECT_EQ(error.file, "dir(1)/k.cu");
  EXPECT_EQ(error.line, 31U);
  EXPECT_EQ(error.text, "dir(1)/k.cu(31): error: identifier \"bad\" is undefined");
  EXPECT_EQ(error.excerpt, "    bad;\n    ^");
  EXPECT_EQ(error.more, 1U);
}

TEST(FirstError, OfPtxasAndTheLinker) {
  const FirstError ptxas = first_error(
      "ptxas application ptx input, line 4; fatal   : Parsing error near 'foo': syntax error\n"
      "ptxas fatal   : Ptx assembly aborted due to errors\n"
      "ERROR NVJITLINK_ERROR_PTX_COMPILE: JIT the PTX (in)\n");
  EXPECT_TRUE(ptxas.text.starts_with("ptxas application ptx input, line 4"));
  EXPECT_EQ(ptxas.more, 0U);
  const FirstError linker =
      first_error("error   : Undefined reference to '_Z1ff' in 'in'\nERROR 9: finish\n");
  EXPECT_EQ(linker.text, "error   : Undefined reference to '_Z1ff' in 'in'");
  EXPECT_EQ(linker.more, 0U);
}

TEST(FirstError, AtTheEndOfTheSource) {
  const FirstError error = first_error(
      "At end of source: error: expected a \"}\"\nk.cu(2): note #3196-D: to match this \"{\"\n"
      "  if (x) {\n         ^\n\nAt end of source: error: expected a \"}\"\n"
      "k.cu(1): note #3196-D: to match this \"{\"\n\n2 errors detected\n");
  EXPECT_EQ(error.text, "At end of source: error: expected a \"}\"");
  EXPECT_EQ(error.excerpt, "k.cu(2): note #3196-D: to match this \"{\"\n  if (x) {\n         ^");
  EXPECT_EQ(error.line, 0U);
  EXPECT_EQ(error.more, 1U);
  EXPECT_EQ(first_error("k.cu(1): error: a\nAt end of source: error: b\n").more, 1U);
  EXPECT_TRUE(first_error("At end of source: warning: c\n").text.empty());
}

TEST(FirstError, OfNothing) {
  EXPECT_TRUE(first_error("").text.empty());
  EXPECT_TRUE(first_error("ptxas info    : Used 8 registers\nno error here").text.empty());
  EXPECT_TRUE(first_error("k.cu(x): error\nk.cu(1): erro").text.empty());
  const FirstError odd = first_error("(1): error: no file\n");
  EXPECT_TRUE(odd.file.empty());
  EXPECT_EQ(odd.text, "(1): error: no file");
}

TEST(DemangleAll, ReplacesWholeWordsOnly) {
  EXPECT_EQ(demangle_all("undefined '_Z1ff' in x_Z1ff and _Zbad"),
            "undefined 'f(float)' in x_Z1ff and _Zbad");
  EXPECT_EQ(demangle_all("_Z1ff"), "f(float)");
  EXPECT_EQ(demangle_all(""), "");
}

class CompileErrors : public testing::CompilerTest {
 protected:
  static ProgramOptions options() {
    ProgramOptions options;
    options.arch = "sm_90";
    options.name = "k.cu";
    return options;
  }

  static std::string message(const std::string& source, const ProgramOptions& options) {
    return message_of<CompileError>(
        [&] { (void)Program(source, SourceType::cxx, options).compile(); });
  }
};

TEST_F(CompileErrors, ShowTheLineAndTheCount) {
  const std::string text =
      message("__global__ void k(int* x) {\n  *x = bad;\n  *x = worse;\n}\n", options());
  EXPECT_TRUE(contains(text, "nvrtcCompileProgram failed on \"k.cu\": NVRTC_ERROR_COMPILATION"));
  EXPECT_TRUE(contains(text, "k.cu(2): error: identifier \"bad\" is undefined"));
  EXPECT_TRUE(contains(text, "    *x = bad;\n"));
  EXPECT_TRUE(contains(text, "(and 1 more error; see .log)"));
}

TEST_F(CompileErrors, ShowTheLineAlsoInBriefLogsAndHeaders) {
  ProgramOptions brief = options();
  brief.brief_diagnostics = true;
  brief.headers["dir/my.h"] = "#pragma once\n__device__ int f() { return mistake; }\n";
  const std::string text = message("#include <dir/my.h>\n__global__ void k() {}\n", brief);
  EXPECT_TRUE(contains(text, "my.h(2): error: identifier \"mistake\" is undefined"));
  EXPECT_TRUE(contains(text, "__device__ int f() { return mistake; }"));
}

TEST_F(CompileErrors, MissingHeadersSayWhereWasSearchedAndWhatToDo) {
  ProgramOptions searched = options();
  searched.include_path = {"/no/such/folder"};
  const std::string own = message("#include \"mine.h\"\n", searched);
  EXPECT_TRUE(contains(own, "Searched for mine.h in: \n  /no/such/folder"));
  EXPECT_TRUE(contains(own, "include_path"));
  const std::string cuda = message("#include <cub/no_such_header.cuh>\n", searched);
  EXPECT_TRUE(contains(cuda, "CUDA's headers are there, but have no such file"));
  const std::string host = message("#include <vector>\n", searched);
  EXPECT_TRUE(contains(host, "<cuda/std/vector>"));
}

TEST_F(CompileErrors, CarryTheWholeLogAndCode) {
  try {
    (void)Program("oops", SourceType::cxx, options()).compile();
    FAIL();
  } catch (const CompileError& error) {
    EXPECT_EQ(error.name(), "NVRTC_ERROR_COMPILATION");
    EXPECT_EQ(error.code(), 6);
    EXPECT_EQ(error.function(), "nvrtcCompileProgram");
    EXPECT_TRUE(contains(error.log(), "detected in the compilation"));
  }
}

TEST_F(CompileErrors, UnknownFlagsAreNotSupported) {
  ProgramOptions debug = options();
  debug.numba_debug = true;
  debug.debug = true;
  if (system::nvrtc().version.major > 12) GTEST_SKIP() << "this NVRTC knows --numba-debug";
  const std::string text = message_of<NotSupportedError>(
      [&] { (void)Program("__global__ void k() {}", SourceType::cxx, debug).compile(); });
  EXPECT_TRUE(contains(text, "--numba-debug"));
}

}  // namespace
}  // namespace cudacore::compile
