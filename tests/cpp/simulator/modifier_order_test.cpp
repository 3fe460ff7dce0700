// SPDX-License-Identifier: Apache-2.0
//
// Modifiers in orders other than the manual's.
#include "simulator/engine/modifier_order.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "simulator/engine/opcode_key.hpp"
#include "simulator/ops/isa.hpp"

namespace cudacore::simulator {
namespace {

TEST(ModifierOrder, IsTheSameForWhatMeansTheSame) {
  EXPECT_EQ(in_one_order("fma.rn.f16x2.relu"), in_one_order("fma.rn.relu.f16x2"));
  EXPECT_EQ(in_one_order("atom.add.global.u32"), in_one_order("atom.global.add.u32"));
  EXPECT_EQ(in_one_order("ret"), "ret");
  // The order matters.
  EXPECT_NE(in_one_order("cvt.rn.f32.s32"), in_one_order("cvt.rn.s32.f32"));
  EXPECT_NE(in_one_order("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32"),
            in_one_order("wmma.mma.sync.aligned.col.row.m16n16k16.f32.f32"));
  EXPECT_NE(in_one_order("cp.async.bulk.shared::cluster.global"),
            in_one_order("cp.async.bulk.global.shared::cluster"));
  // These belong to the name.
  EXPECT_NE(in_one_order("mul.wide.u32"), in_one_order("mul.u32.wide"));
  EXPECT_NE(in_one_order("mbarrier.arrive.expect_tx.shared.b64"),
            in_one_order("mbarrier.arrive.shared.expect_tx.b64"));
}

TEST(ModifierOrder, LeadsToTheForm) {
  const FormTable& table = *form_table(Isa::baseline);
  Opcodes opcodes(table);
  const std::map<const char*, const char*> written{
      {"ldmatrix.sync.aligned.x4.m8n8.shared.b16", "ldmatrix.sync.aligned.m8n8.x4.shared.b16"},
      {"stmatrix.sync.aligned.x2.trans.m8n8.shared.b16",
       "stmatrix.sync.aligned.m8n8.x2.trans.shared.b16"},
      {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32.satfinite",
       "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32"},
      {"ld.global.acquire.gpu.u32", "ld.acquire.global.u32"},
      {"st.global.release.gpu.u32", "st.release.global.u32"},
      {"fma.rn.f16x2.relu", "fma.rn.relu.f16x2"},
      {"max.f16x2.NaN", "max.NaN.f16x2"},
      {"ld.v4.global.f32", "ld.global.v4.f32"},
      {"atom.add.global.u32", "atom.global.add.u32"},
      {"vote.ballot.sync.b32", "vote.sync.ballot.b32"},
      {"ld.v2.param.u32", "ld.param.v2.u32"},
  };
  for (const auto& [opcode, key] : written) {
    EXPECT_EQ(opcodes.find(opcode).key, key);
    EXPECT_TRUE(opcodes.find(opcode).known) << opcode;
  }
  EXPECT_FALSE(opcodes.find("mul.u32.wide").known);
  EXPECT_FALSE(opcodes.find("cvt.s32.f32.rn").known);
  EXPECT_FALSE(opcodes.find("mbarrier.cta.arrive.release.b64").known);
  EXPECT_TRUE(opcodes.find("mbarrier.arrive.release.cta.b64").known);
  EXPECT_FALSE(opcodes.find("cvta.param.to.u64").known);
  EXPECT_TRUE(opcodes.find("cvta.to.u64.param").known);
  // In a frame only the width matters.
  EXPECT_FALSE(opcodes.find("st.v2.param.b32").in_frame.empty());
  EXPECT_FALSE(opcodes.find("st.param.b32.v2").in_frame.empty());
}

/// If two forms had the same canonical order, a program with another order could get either.
TEST(ModifierOrder, TellsFormsApart) {
  std::map<std::string, std::string> keys;
  for (const Form* form : form_table(Isa::baseline)->all()) {
    EXPECT_EQ(keys.try_emplace(in_one_order(form->key), form->key).first->second, form->key);
  }
}

}  // namespace
}  // namespace cudacore::simulator
