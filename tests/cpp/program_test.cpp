// SPDX-License-Identifier: Apache-2.0
#include "cudacore/program.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "compilers.hpp"
#include "cudacore/cudacore.hpp"
#include "driver/nvrtc_api.hpp"
#include "messages.hpp"

namespace cudacore {
namespace {

using testing::contains;
using testing::message_of;

const std::string axpy = R"(
namespace ns { __device__ float table[4]; }
template <typename T>
__global__ void axpy(T a, const T* x, T* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += a * x[i] + T(ns::table[0]);
}
extern "C" __global__ void fill(float* out, float value, unsigned long long n) {
  for (unsigned long long i = threadIdx.x; i < n; i += blockDim.x) out[i] = value;
}
)";

class Programs : public testing::CompilerTest {
 protected:
  static ProgramOptions options(const std::string& arch = "sm_90") {
    ProgramOptions options;
    options.arch = arch;
    return options;
  }

  static ObjectCode compile(const std::string& source, CodeType target = CodeType::cubin,
                            const ProgramOptions& with = options()) {
    return Program(source, SourceType::cxx, with).compile(target);
  }
};

TEST_F(Programs, CubinKeepsItsPtx) {
  const ObjectCode code = compile(axpy);
  EXPECT_EQ(code.code_type(), CodeType::cubin);
  EXPECT_EQ(code.name(), "default_program");
  EXPECT_EQ(std::to_integer<char>(code.code()[1]), 'E');
  EXPECT_TRUE(contains(std::string(code.ptx()), ".target sm_90"));
}

TEST_F(Programs, NameExpressionsInstantiateTemplates) {
  Program program(axpy, SourceType::cxx, options());
  const std::vector<std::string> names = {"axpy<float>", "axpy< double >", "&ns::table"};
  const ObjectCode code = program.compile(CodeType::cubin, names);
  EXPECT_EQ(code.symbol_mapping().at("axpy<float>"), "_Z4axpyIfEvT_PKS0_PS0_i");
  EXPECT_EQ(code.symbol_mapping().at("axpy< double >"), "_Z4axpyIdEvT_PKS0_PS0_i");
  EXPECT_EQ(code.symbol_mapping().at("&ns::table"), "_ZN2ns5tableE");
  EXPECT_EQ(code.kernels().size(), 3U);
  const Signature signature = code.signature("axpy<double>");
  ASSERT_EQ(signature.params.size(), 4U);
  EXPECT_EQ(signature.params[0].kind, ParamKind::float64);
  EXPECT_EQ(signature.params[1].pointee, ParamKind::float64);
  EXPECT_TRUE(signature.params[1].pointee_const);
  EXPECT_EQ(signature.params[3].name, "n");
  EXPECT_EQ(signature.params[3].offset, 24U);
}

TEST_F(Programs, WrongNameExpressionIsNamed) {
  Program program(axpy, SourceType::cxx, options());
  const std::vector<std::string> names = {"axpy<nope>"};
  const std::string text =
      message_of<CompileError>([&] { (void)program.compile(CodeType::cubin, names); });
  EXPECT_TRUE(contains(text, "nope"));
}

TEST_F(Programs, UnmangledKernelsKnowTheirTypesFromPtx) {
  const Signature signature = compile(axpy).signature("fill");
  ASSERT_EQ(signature.params.size(), 3U);
  EXPECT_EQ(signature.params[1].kind, ParamKind::float32);
  EXPECT_EQ(signature.params[1].name, "value");
  EXPECT_EQ(signature.params[2].size, 8U);
}

TEST_F(Programs, ArchIsReadInEverySpelling) {
  for (const std::string arch : {"sm_90", "compute_90", "90"}) {
    const std::string ptx(compile(axpy, CodeType::ptx, options(arch)).ptx());
    EXPECT_TRUE(contains(ptx, ".target sm_90\n")) << arch;
  }
  for (const std::string arch : {"sm_90a", "90a"}) {
    const std::string ptx(compile(axpy, CodeType::ptx, options(arch)).ptx());
    EXPECT_TRUE(contains(ptx, ".target sm_90a\n")) << arch;
  }
  EXPECT_EQ(compile(axpy, CodeType::cubin, options("compute_90")).code_type(), CodeType::cubin);
}

TEST_F(Programs, WrongArchIsRefused) {
  for (const std::string arch : {"", "sm_", "sm_9x", "90b", "hopper", "-90", "sm_90af"}) {
    const std::string text = message_of<std::invalid_argument>(
        [&] { (void)compile(axpy, CodeType::cubin, options(arch)); });
    EXPECT_TRUE(contains(text, "\"" + arch + "\"")) << arch;
    EXPECT_TRUE(contains(text, "90, ")) << arch;
  }
  const std::string text = message_of<NotSupportedError>(
      [&] { (void)compile(axpy, CodeType::cubin, options("sm_31")); });
  EXPECT_TRUE(contains(text, "does not compile for sm_31"));
}

TEST_F(Programs, WrongTextIsRefused) {
  EXPECT_THROW(Program(std::string("a\0b", 3), SourceType::cxx), std::invalid_argument);
  EXPECT_THROW(Program("", SourceType::cxx), std::invalid_argument);
  ProgramOptions header = options();
  header.headers["a.h"] = std::string("\0", 1);
  EXPECT_THROW(Program("int x;", SourceType::cxx, header), std::invalid_argument);
  EXPECT_THROW((void)compile(axpy, CodeType::fatbin), std::invalid_argument);
}

TEST_F(Programs, LinkTimeOptimizationMeansNothingForACubin) {
  ProgramOptions lto = options();
  lto.link_time_optimization = true;
  EXPECT_NO_THROW((void)compile(axpy, CodeType::cubin, lto));
}

TEST_F(Programs, OptionsReachTheCompiler) {
  ProgramOptions with = options();
  with.define_macro = {{"VALUE", "41"}, {"FLAG", std::nullopt}};
  with.headers["value.h"] = "#define MORE 1\n";
  with.std = "c++20";
  with.lineinfo = true;
  with.ptxas_options = {"-v"};
  with.max_register_count = 32;
  Program program(
      "#include \"value.h\"\n#if !defined(FLAG) || __cplusplus < 202002L\n#error no\n"
      "#endif\nextern \"C\" __global__ void k(int* x) { *x = VALUE + MORE; }",
      SourceType::cxx, with);
  const ObjectCode code = program.compile();
  EXPECT_TRUE(contains(std::string(code.ptx()), "42"));
  EXPECT_TRUE(contains(program.log(), "registers"));
}

TEST_F(Programs, FlagsOfATarget) {
  ProgramOptions with = options();
  with.fma = false;
  with.device_code_optimize = true;
  with.diag_suppress = {177, 20012};
  with.debug = false;
  EXPECT_EQ(
      with.nvrtc_flags(CodeType::ltoir),
      (std::vector<std::string>{"-arch=sm_90", "--dlink-time-opt", "--dopt=on", "--fmad=false",
                                "--diag-suppress=177", "--diag-suppress=20012"}));
  with = options();
  with.device_code_optimize = false;
  EXPECT_EQ(with.nvrtc_flags(CodeType::ptx), std::vector<std::string>{"-arch=sm_90"});
  with.use_libdevice = true;
  EXPECT_THROW((void)with.nvrtc_flags(CodeType::ptx), NotSupportedError);
}

TEST_F(Programs, CudaHeadersAreFound) {
  for (const std::string header : {"cuda_fp16.h", "cuda_bf16.h", "cooperative_groups.h",
                                   "cuda/std/array", "cuda/atomic", "cub/block/block_reduce.cuh"}) {
    const std::string source = "#include <" + header + ">\n__global__ void k() {}\n";
    EXPECT_NO_THROW((void)compile(source, CodeType::ptx)) << header;
  }
}

TEST_F(Programs, UserHeadersComeFirst) {
  const std::filesystem::path folder = std::filesystem::path(::testing::TempDir()) / "mine";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "cuda_fp16.h") << "#define MINE 1\n";
  ProgramOptions with = options();
  with.include_path = {folder.string()};
  EXPECT_NO_THROW((void)compile("#include <cuda_fp16.h>\n#ifndef MINE\n#error not mine\n#endif\n",
                                CodeType::ptx, with));
}

TEST_F(Programs, BundledHeadersNeedANewNvrtc) {
  const auto [version, path] = system::nvrtc();
  ProgramOptions with = options();
  with.use_bundled_headers = true;
  const std::string source = "#include <cuda_fp16.h>\n#include <cuda/std/array>\n";
  setenv("XDG_CACHE_HOME", ::testing::TempDir().c_str(), 1);
  if (version.major > 13 || (version.major == 13 && version.minor >= 3)) {
    EXPECT_NO_THROW((void)compile(source, CodeType::ptx, with));
  } else {
    EXPECT_THROW((void)compile(source, CodeType::ptx, with), NotSupportedError);
  }
}

TEST_F(Programs, PrecompiledHeadersSayWhatBecameOfThem) {
  ProgramOptions with = options();
  Program without(axpy, SourceType::cxx, with);
  (void)without.compile();
  EXPECT_EQ(without.pch_status(), std::nullopt);
  const auto [version, path] = system::nvrtc();
  if (version.major == 12 && version.minor < 8) GTEST_SKIP() << "NVRTC 12.8 brought them";
  with.create_pch = ::testing::TempDir() + "kernels.pch";
  Program program("#include <cuda_fp16.h>\n" + axpy, SourceType::cxx, with);
  (void)program.compile();
  EXPECT_EQ(program.pch_status(), PchStatus::created) << program.log();
}

TEST_F(Programs, TheHeapOfPrecompiledHeadersGrows) {
  const driver::NvrtcApi& api = driver::nvrtc();
  if (api.nvrtcSetPCHHeapSize == nullptr) GTEST_SKIP() << "NVRTC 12.8 brought them";
  ASSERT_EQ(api.nvrtcSetPCHHeapSize(64 * 1024), 0);
  ProgramOptions with = options();
  with.create_pch = ::testing::TempDir() + "large.pch";
  Program program("#include <cuda_fp16.h>\n#include <cuda/std/array>\n" + axpy, SourceType::cxx,
                  with);
  (void)program.compile();
  EXPECT_EQ(program.pch_status(), PchStatus::created) << program.log();
  std::size_t size = 0;
  EXPECT_EQ(api.nvrtcGetPCHHeapSize(&size), 0);
  EXPECT_GT(size, 64U * 1024U);
}

TEST_F(Programs, WithoutArchNeedsADriver) {
  try {
    (void)Device::count();
    GTEST_SKIP() << "this machine has a driver";
  } catch (const DriverNotFoundError&) {
    const std::string text =
        message_of<DriverNotFoundError>([] { (void)Program(axpy, SourceType::cxx).compile(); });
    EXPECT_TRUE(contains(text, "arch=\"sm_90\""));
  }
}

TEST_F(Programs, PtxBecomesACubin) {
  const ObjectCode ptx = compile(axpy, CodeType::ptx);
  ProgramOptions with = options();
  with.max_register_count = 32;
  with.name = "from_ptx";
  Program program(std::string(ptx.ptx()) + '\0', SourceType::ptx, with);
  EXPECT_EQ(program.backend(), "nvJitLink");
  const ObjectCode cubin = program.compile();
  EXPECT_EQ(cubin.code_type(), CodeType::cubin);
  EXPECT_EQ(cubin.name(), "from_ptx");
  EXPECT_EQ(cubin.ptx(), ptx.ptx());
  EXPECT_EQ(cubin.signature("fill").params[1].kind, ParamKind::float32);
  EXPECT_EQ(program.compile(CodeType::ptx).ptx(), ptx.ptx());
  EXPECT_THROW((void)program.compile(CodeType::ltoir), std::invalid_argument);
  const std::vector<std::string> names = {"fill"};
  EXPECT_THROW((void)program.compile(CodeType::cubin, names), std::invalid_argument);
}

TEST_F(Programs, PtxIgnoresOptionsOfTheCompiler) {
  ProgramOptions with = options();
  with.define_macro = {{"X", std::nullopt}};
  EXPECT_NO_THROW(Program(".version 8.0", SourceType::ptx, with));
}

TEST_F(Programs, BadPtxIsALinkErrorWithTheLine) {
  const std::string ptx = ".version 8.0\n.target sm_90\n.address_size 64\nfoo\n";
  Program program(ptx, SourceType::ptx, options());
  const std::string text = message_of<LinkError>([&] { (void)program.compile(); });
  EXPECT_TRUE(contains(text, "line 4"));
  EXPECT_TRUE(contains(program.log(), "line 4"));
}

TEST_F(Programs, LtoIrBecomesACubinOrPtx) {
  const ObjectCode ir = compile(axpy, CodeType::ltoir);
  const auto& bytes = ir.code();
  Program program(std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
                  SourceType::ltoir, options());
  EXPECT_EQ(program.compile().kernels().size(), 1U);
  EXPECT_EQ(program.compile(CodeType::ptx).signature("fill").params.size(), 3U);
}

TEST_F(Programs, ManyThreadsMayCompileOneProgram) {
  Program program(axpy, SourceType::cxx, options());
  std::vector<std::thread> threads;
  std::vector<std::size_t> sizes(4);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    threads.emplace_back([&, i] {
      const std::vector<std::string> names = {"axpy<float>"};
      sizes[i] = program.compile(CodeType::cubin, names).kernels().size();
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sizes, (std::vector<std::size_t>{2, 2, 2, 2}));
}

}  // namespace
}  // namespace cudacore
