// SPDX-License-Identifier: Apache-2.0
#include "cudacore/object_code.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "compilers.hpp"
#include "cudacore/cudacore.hpp"
#include "messages.hpp"
#include "signature/variables.hpp"

namespace cudacore {
namespace {

using testing::contains;
using testing::message_of;

constexpr std::string_view ptx = R"(
.version 8.0
.target sm_90
.address_size 64
.visible .global .align 4 .b8 _ZN2ns5tableE[400];
.global .attribute(.managed) .align 4 .u32 managed = 7;
.const .align 8 .u64 limits[2] = {1, 2};
.global .align 1 .b8 $str[3] = {65, 66, 0};
.extern .global .align 4 .u32 elsewhere;
.visible .entry _Z4fillPfi(
	.param .u64 _Z4fillPfi_param_0,
	.param .u32 _Z4fillPfi_param_1
)
{
	ret;
}
)";

std::vector<std::byte> bytes(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

ObjectCode::Details named(const std::string& name) {
  ObjectCode::Details details;
  details.name = name;
  return details;
}

TEST(CodeTypes, NamesGoBothWays) {
  for (const CodeType type : {CodeType::ptx, CodeType::cubin, CodeType::ltoir, CodeType::fatbin,
                              CodeType::object, CodeType::library}) {
    EXPECT_EQ(code_type_from_string(to_string(type)), type);
  }
  const std::string text =
      message_of<std::invalid_argument>([] { (void)code_type_from_string("elf"); });
  EXPECT_TRUE(contains(text, "\"cubin\""));
}

TEST(ObjectCodes, PtxTellsItsKernelsWithoutADriver) {
  const ObjectCode code(bytes(std::string(ptx) + '\0'), CodeType::ptx, named("p"));
  EXPECT_EQ(code.ptx(), ptx);
  ASSERT_EQ(code.kernels().size(), 1U);
  EXPECT_EQ(code.kernels()[0].name, "fill");
  EXPECT_EQ(code.signature("fill").params[1].kind, ParamKind::sint);
  EXPECT_THROW((void)code.signature("nope"), std::invalid_argument);
}

TEST(ObjectCodes, CopiesAreTheSameCode) {
  const ObjectCode code(bytes(ptx), CodeType::ptx);
  const ObjectCode copy = code;
  EXPECT_EQ(code, copy);
  EXPECT_EQ(code.code().data(), copy.code().data());
  EXPECT_FALSE(code == ObjectCode(bytes(ptx), CodeType::ptx));
}

TEST(ObjectCodes, MappedNamesAreUsed) {
  ObjectCode::Details details;
  details.symbol_mapping["my kernel"] = "_Z4fillPfi";
  const ObjectCode code(bytes(ptx), CodeType::ptx, details);
  EXPECT_EQ(code.signature("my kernel").kernel, "fill");
}

TEST(ObjectCodes, NamesComeFromTheSource) {
  ObjectCode::Details details;
  details.source = "__global__ void fill(float* out, int count) {}";
  const ObjectCode code(bytes(ptx), CodeType::ptx, details);
  EXPECT_EQ(code.signature("fill").params[1].name, "count");
}

TEST(ObjectCodes, KnownKernelsAddTypes) {
  const ObjectCode plain(bytes(".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry "
                               "k(.param .u64 p)\n{\nret;\n}\n"),
                         CodeType::ptx);
  ObjectCode::Details details;
  KernelEntry known{"k", "k", parse_signature("(double*)")};
  known.signature.kernel = "k";
  details.known_kernels.push_back(known);
  const ObjectCode code(plain.code(), CodeType::ptx, details);
  EXPECT_EQ(code.signature("k").params[0].pointee, ParamKind::float64);
}

TEST(ObjectCodes, OpaqueCodeCannotBeListed) {
  const ObjectCode code(bytes("something"), CodeType::ltoir, named("ir"));
  EXPECT_TRUE(contains(message_of<NotSupportedError>([&] { (void)code.kernels(); }), "\"ir\""));
  EXPECT_TRUE(
      contains(message_of<std::invalid_argument>([&] { (void)code.get_kernel("k"); }), "Linker"));
}

TEST(ObjectCodes, DamagedCodeNeverReachesTheDriver) {
  const ObjectCode cubin(bytes("\x7f"
                               "ELF but no more"),
                         CodeType::cubin, named("c"));
  EXPECT_THROW((void)cubin.kernels(), std::invalid_argument);
  EXPECT_THROW((void)cubin.get_kernel("k"), std::invalid_argument);
  EXPECT_THROW((void)cubin.handle(), std::invalid_argument);
  const std::string text = message_of<std::invalid_argument>([&] { (void)cubin.kernels(); });
  EXPECT_TRUE(text.starts_with("damaged cubin \"c\": it ends within the ELF header")) << text;
  const ObjectCode other(bytes("garbage"), CodeType::cubin, named("other"));
  EXPECT_TRUE(contains(message_of<std::invalid_argument>([&] { (void)other.handle(); }),
                       "cubin \"other\": the 7 bytes are not a cubin"));
  const ObjectCode broken(bytes(".visible .entry k("), CodeType::ptx, named("broken"));
  EXPECT_TRUE(contains(message_of<std::invalid_argument>([&] { (void)broken.kernels(); }),
                       "ptx \"broken\": PTX line 1: "));
  const ObjectCode fatbin(bytes("\x50\xed\x55\xba too short to be true"), CodeType::fatbin);
  EXPECT_THROW((void)fatbin.get_kernel("k"), std::invalid_argument);
  EXPECT_THROW(ObjectCode({}, CodeType::cubin), std::invalid_argument);
  EXPECT_THROW(ObjectCode(bytes(std::string_view("\0", 1)), CodeType::ptx), std::invalid_argument);
}

TEST(ObjectCodes, UnknownKernelsAreListedBeforeTheDriverIsAsked) {
  const ObjectCode code(bytes(ptx), CodeType::ptx);
  EXPECT_TRUE(
      contains(message_of<std::invalid_argument>([&] { (void)code.get_kernel("nope"); }), "fill"));
  EXPECT_TRUE(contains(message_of<std::invalid_argument>([&] { (void)code.get_global("nope"); }),
                       "ns::table"));
}

TEST(ObjectCodes, FilesAreRead) {
  const std::filesystem::path path = std::filesystem::path(::testing::TempDir()) / "code.ptx";
  std::ofstream(path, std::ios::binary) << ptx;
  const ObjectCode code = ObjectCode::from_file(path, CodeType::ptx);
  EXPECT_EQ(code.ptx(), ptx);
  EXPECT_EQ(code.name(), "code.ptx");
  EXPECT_THROW((void)ObjectCode::from_file("/no/such/file", CodeType::ptx),
               std::filesystem::filesystem_error);
  try {
    (void)ObjectCode::from_file(path.parent_path(), CodeType::cubin);
    FAIL() << "read a directory";
  } catch (const std::filesystem::filesystem_error& error) {
    EXPECT_EQ(error.code(), std::errc::is_a_directory);
    EXPECT_EQ(error.path1(), path.parent_path());
  }
}

TEST(Variables, OfPtx) {
  const auto variables = signature::variables_in_ptx(ptx);
  ASSERT_EQ(variables.size(), 3U);
  EXPECT_EQ(variables[0].symbol, "_ZN2ns5tableE");
  EXPECT_EQ(variables[0].name, "ns::table");
  EXPECT_EQ(variables[1].symbol, "managed");
  EXPECT_EQ(variables[2].symbol, "limits");
  for (const std::string_view name :
       {"ns::table", "table", "&ns::table", "::ns::table", "_ZN2ns5tableE"}) {
    EXPECT_EQ(signature::find_variable(variables, name).symbol, "_ZN2ns5tableE") << name;
  }
  EXPECT_TRUE(signature::variables_in_ptx("").empty());
  EXPECT_TRUE(signature::variables_in_ptx(".global").empty());
  EXPECT_TRUE(signature::variables_in_ptx(".global .b8 [3];\n\n.visible").empty());
}

TEST(Variables, AmbiguousNamesListTheCandidates) {
  const std::vector<signature::VariableEntry> variables = {{"_ZN1a1xE", "a::x"},
                                                           {"_ZN1b1xE", "b::x"}};
  const std::string text =
      message_of<std::invalid_argument>([&] { (void)signature::find_variable(variables, "x"); });
  EXPECT_TRUE(contains(text, "a::x, b::x"));
}

using Cubins = testing::CompilerTest;

TEST_F(Cubins, TellTheirVariables) {
  ProgramOptions options;
  options.arch = "sm_90";
  const ObjectCode code = Program(
                              "namespace ns { __device__ float table[3]; __constant__ int c; }\n"
                              "__managed__ int m;\n"
                              "__global__ void k(float* x) { *x = ns::table[0] + ns::c + m; }",
                              SourceType::cxx, options)
                              .compile();
  const auto variables = signature::variables_in_cubin(code.code());
  for (const std::string_view name : {"ns::table", "ns::c", "m"}) {
    EXPECT_NO_THROW((void)signature::find_variable(variables, name)) << name;
  }
}

TEST_F(Cubins, TruncatedAnywhereNeverCrash) {
  ProgramOptions options;
  options.arch = "sm_90";
  const ObjectCode code =
      Program("__global__ void k(float* x) { *x = 1; }", SourceType::cxx, options).compile();
  for (std::size_t size = 1; size < code.code().size(); size += 97) {
    const ObjectCode part({code.code().begin(), code.code().begin() + static_cast<long>(size)},
                          CodeType::cubin, named("part"));
    EXPECT_THROW((void)part.handle(), std::invalid_argument) << size;
  }
}

}  // namespace
}  // namespace cudacore
