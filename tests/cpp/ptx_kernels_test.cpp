// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "cudacore/signature.hpp"

namespace cudacore {
namespace {

TEST(PtxKernelsTest, ReadsNvrtcOfCuda12) {
  const auto kernels = kernels_in_ptx(R"(
.version 8.8
.target sm_90
.address_size 64

	// .globl	_Z4axpyIfEvT_PKS0_PS0_m
.visible .entry _Z4axpyIfEvT_PKS0_PS0_m(
	.param .f32 _Z4axpyIfEvT_PKS0_PS0_m_param_0,
	.param .u64 _Z4axpyIfEvT_PKS0_PS0_m_param_1,
	.param .u64 _Z4axpyIfEvT_PKS0_PS0_m_param_2,
	.param .u64 _Z4axpyIfEvT_PKS0_PS0_m_param_3
)
.maxntid 256, 1, 1
.minnctapersm 2
{
	.reg .pred 	%p<2>;
	ret;
}
.visible .entry _Z4nonev()
{
	ret;
}
)");
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].symbol, "_Z4axpyIfEvT_PKS0_PS0_m");
  EXPECT_EQ(kernels[0].name, "axpy<float>");
  EXPECT_EQ(kernels[0].signature.str(), "axpy<float>(float, float const*, float*, unsigned long)");
  EXPECT_EQ(kernels[0].signature.params[3].offset, 24U);
  EXPECT_EQ(kernels[1].signature.str(), "none()");
}

TEST(PtxKernelsTest, ReadsNvrtcOfCuda13) {
  const auto kernels = kernels_in_ptx(R"(
.visible .entry cfun(
	.param .u64 .ptr .align 1 cfun_param_0,
	.param .u64 cfun_param_1,
	.param .align 16 .b8 cfun_param_2[16],
	.param .u8 cfun_param_3
)
{ ret; }
.weak .entry _ZN2ns5modedILNS_4ModeE1EEEvS1_NS_5PlainENS_3BigEPS3_Pi(
	.param .u32 _ZN2ns5modedILNS_4ModeE1EEEvS1_NS_5PlainENS_3BigEPS3_Pi_param_0,
	.param .u32 _ZN2ns5modedILNS_4ModeE1EEEvS1_NS_5PlainENS_3BigEPS3_Pi_param_1,
	.param .align 8 .b8 _ZN2ns5modedILNS_4ModeE1EEEvS1_NS_5PlainENS_3BigEPS3_Pi_param_2[48],
	.param .u64 .ptr .align 1 _ZN2ns5modedILNS_4ModeE1EEEvS1_NS_5PlainENS_3BigEPS3_Pi_param_3,
	.param .u64 .ptr .align 1 _ZN2ns5modedILNS_4ModeE1EEEvS1_NS_5PlainENS_3BigEPS3_Pi_param_4
)
{ ret; }
)");
  ASSERT_EQ(kernels.size(), 2U);
  const Signature& cfun = kernels[0].signature;
  EXPECT_EQ(cfun.str(), "cfun(.u64 .ptr, .u64, .b8[16], .u8)");
  EXPECT_EQ(cfun.params[0].kind, ParamKind::pointer);
  EXPECT_EQ(cfun.params[0].align, 8U);
  EXPECT_EQ(cfun.params[0].pointee, ParamKind::opaque);
  EXPECT_EQ(cfun.params[1].kind, ParamKind::integer);
  EXPECT_EQ(cfun.params[2].kind, ParamKind::structure);
  EXPECT_EQ(cfun.params[2].align, 16U);
  EXPECT_EQ(cfun.params[3].offset, 32U);
  EXPECT_EQ(cfun.buffer_size(), 33U);
  const Signature& moded = kernels[1].signature;
  EXPECT_EQ(moded.params[0].kind, ParamKind::integer);
  EXPECT_EQ(moded.params[0].type, "ns::Mode");
  EXPECT_EQ(moded.params[2].size, 48U);
  EXPECT_EQ(moded.params[3].offset, 56U);
  EXPECT_EQ(moded.params[3].pointee, ParamKind::structure);
}

TEST(PtxKernelsTest, KeepsNamesAndSkipsWhatIsNoKernel) {
  const auto kernels = kernels_in_ptx(R"(
// .entry commented(
/* .visible .entry blocked() { } */
.file 1 ".entry quoted("
.func (.param .b32 r) helper(.param .b32 x) { ret; }
.entry declared(.param .u64 x);
.visible .entry k (.param .u64 .ptr.global.align 16 data, /* why */ .param .s32 n,
  .param .v4 .f32 color, .param .f16 h, .param .b64 bits, .param .f32 table[4]) .reqntid 32
{ ret; }
.entry bare { ret; }
)");
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels[0].signature.str(),
            "k(.u64 .ptr data, .s32 n, .v4 .f32 color, .f16 h, .b64 bits, .f32[4] table)");
  EXPECT_EQ(kernels[0].signature.params[2].align, 16U);
  EXPECT_EQ(kernels[0].signature.params[2].offset, 16U);
  EXPECT_EQ(kernels[0].signature.params[5].size, 16U);
  EXPECT_EQ(kernels[0].signature.params[5].align, 4U);
  EXPECT_TRUE(kernels[1].signature.params.empty());
}

TEST(PtxKernelsTest, AnswersWithResultOrInvalidArgument) {
  const std::string ptx =
      ".visible .entry k(\n\t.param .align 8 .b8 k_param_0[24],\n\t.param .u64 .ptr .align 1 p)\n{ "
      "}";
  ASSERT_EQ(kernels_in_ptx(ptx).size(), 1U);
  for (std::size_t size = 0; size < ptx.size(); ++size) {
    try {
      (void)kernels_in_ptx(ptx.substr(0, size));
    } catch (const std::invalid_argument&) {
    }
    std::string changed = ptx;
    for (const char c : {'\0', '.', '(', ')', '[', '9', '"', '<', '/', '\xff'}) {
      changed[size] = c;
      try {
        (void)kernels_in_ptx(changed);
      } catch (const std::invalid_argument&) {
      }
    }
  }
  EXPECT_TRUE(kernels_in_ptx("").empty());
}

TEST(PtxKernelsTest, NamesTheLine) {
  try {
    (void)kernels_in_ptx("\n.entry k(\n.param .q32 x\n)\n{}");
    FAIL();
  } catch (const std::invalid_argument& error) {
    EXPECT_STREQ(error.what(), "PTX line 3: '.q32' is not the type of a kernel's parameter");
  }
}

}  // namespace
}  // namespace cudacore
