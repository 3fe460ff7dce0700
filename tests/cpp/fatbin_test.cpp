// SPDX-License-Identifier: Apache-2.0
#include "cudacore/fatbin.hpp"

#include "compilers.hpp"
#include "cudacore/program.hpp"
#include "messages.hpp"
#include "signature/fatbin_file.hpp"

namespace cudacore {
namespace {

using testing::contains;
using testing::message_of;

class Fatbins : public testing::CompilerTest {
 protected:
  void SetUp() override {
    CompilerTest::SetUp();
    try {
      (void)system::nvfatbin();
    } catch (const LibraryNotFoundError& error) {
      GTEST_SKIP() << error.what();
    }
  }

  static ObjectCode compile(const std::string& arch, CodeType target) {
    const std::vector<std::string> names = {"axpy<float>"};
    ProgramOptions options;
    options.arch = arch;
    options.name = "f.cu";
    return Program(
               "template <typename T> __global__ void axpy(T a, T* x) { *x *= a; }\n"
               "__device__ float table[8];",
               SourceType::cxx, options)
        .compile(target, names);
  }

  static ObjectCode make(const std::string& mode = "none") {
    const std::vector<ObjectCode> inputs = {compile("sm_80", CodeType::cubin),
                                            compile("sm_90a", CodeType::cubin),
                                            compile("compute_75", CodeType::ptx)};
    return make_fatbin(inputs, {.name = "f", .compress_mode = mode});
  }
};

TEST_F(Fatbins, HoldThePartsInOrder) {
  const ObjectCode code = make();
  EXPECT_EQ(code.code_type(), CodeType::fatbin);
  EXPECT_EQ(code.name(), "f");
  const auto parts = signature::parts_of_fatbin(code.code());
  ASSERT_EQ(parts.size(), 3U);
  using Kind = signature::FatbinPart::Kind;
  EXPECT_EQ(parts[0].kind, Kind::cubin);
  EXPECT_EQ(parts[0].architecture, 80U);
  EXPECT_EQ(parts[1].architecture, 90U);
  EXPECT_EQ(parts[2].kind, Kind::ptx);
  EXPECT_EQ(parts[2].architecture, 75U);
  EXPECT_FALSE(parts[2].is_compressed);
}

TEST_F(Fatbins, TellTheirKernels) {
  const ObjectCode code(make().code(), CodeType::fatbin);
  ASSERT_EQ(code.kernels().size(), 1U);
  EXPECT_EQ(code.kernels()[0].name, "axpy<float>");
  ASSERT_EQ(code.signature("axpy<float>").params.size(), 2U);
  EXPECT_EQ(code.signature("axpy<float>").params[0].kind, ParamKind::float32);
  const auto variables = signature::variables_in_fatbin(code.code());
  ASSERT_TRUE(variables.has_value());
  EXPECT_EQ(variables->at(0).symbol, "table");
}

TEST_F(Fatbins, CompressedOnesTellNothing) {
  const ObjectCode code(make("size").code(), CodeType::fatbin);
  EXPECT_EQ(signature::kernels_in_fatbin(code.code()), std::nullopt);
  EXPECT_THROW((void)code.kernels(), NotSupportedError);
}

TEST_F(Fatbins, KnowWhatAnyPartTells) {
  const std::string source = "extern \"C\" __global__ void fill(float* p, float v) { *p = v; }";
  const auto compiled = [&](const char* arch, CodeType target) {
    ProgramOptions options;
    options.arch = arch;
    return ObjectCode(Program(source, SourceType::cxx, options).compile(target).code(), target);
  };
  const ObjectCode cubin = compiled("sm_80", CodeType::cubin);
  ASSERT_EQ(cubin.kernels()[0].signature.params[1].kind, ParamKind::opaque);
  const ObjectCode ptx = compiled("compute_75", CodeType::ptx);
  for (const auto& inputs : {std::array{cubin, ptx}, std::array{ptx, cubin}}) {
    const auto known =
        make_fatbin(inputs, {.name = "f", .compress_mode = "size"}).details().known_kernels;
    ASSERT_EQ(known.size(), 1U);
    ASSERT_EQ(known[0].signature.params.size(), 2U);
    EXPECT_EQ(known[0].signature.params[1].kind, ParamKind::float32);
    EXPECT_EQ(known[0].signature.str(), ptx.kernels()[0].signature.str());
  }
}

TEST_F(Fatbins, CutAnywhereAreRefused) {
  const std::vector<std::byte> code = make().code();
  for (std::size_t size = 0; size < code.size(); size += size < 400 ? 1 : 97) {
    const std::vector<std::byte> cut(code.begin(),
                                     code.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_THROW((void)signature::parts_of_fatbin(cut), std::invalid_argument) << size;
  }
}

TEST_F(Fatbins, AreMadeOfCubinsAndPtx) {
  const auto refused = [](const std::vector<ObjectCode>& inputs) {
    return message_of<std::invalid_argument>([&] { (void)make_fatbin(inputs); });
  };
  EXPECT_TRUE(contains(refused({}), "at least one"));
  const ObjectCode cubin = compile("sm_90", CodeType::cubin);
  EXPECT_TRUE(contains(refused({cubin, cubin}), "two inputs are cubin for sm_90"));
  EXPECT_TRUE(contains(refused({compile("sm_90", CodeType::ltoir)}), "not of ltoir \"f.cu\""));
}

}  // namespace
}  // namespace cudacore
