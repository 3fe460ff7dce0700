// SPDX-License-Identifier: Apache-2.0
//
// What forms say of themselves, by opcode.
#include <gtest/gtest.h>

#include <string_view>

#include "simulator/engine/opcode_key.hpp"
#include "simulator/ops/isa.hpp"

namespace cudacore::simulator {
namespace {

class FormTraits : public ::testing::Test {
 protected:
  const Opcode& find(std::string_view opcode) {
    const Opcode& found = opcodes_.find(opcode);
    EXPECT_TRUE(found.known) << opcode;
    return found;
  }

 private:
  Opcodes opcodes_{*form_table(Isa::baseline)};
};

TEST_F(FormTraits, Effect) {
  EXPECT_EQ(find("bra.uni").traits.effect, Effect::branches);
  for (const char* opcode :
       {"ld.acquire.gpu.global.u32", "ld.global.acquire.gpu.u32", "ld.volatile.shared.u32",
        "atom.global.cas.b32", "atom.exch.b64", "nanosleep.u32", "mbarrier.try_wait.shared.b64"}) {
    EXPECT_EQ(find(opcode).traits.effect, Effect::looks) << opcode;
  }
  for (const char* opcode : {"st.global.u32", "st.release.gpu.u32", "st.param.b32",
                             "red.global.add.u32", "call.uni", "bar.sync", "bar.red.popc.u32",
                             "bar.warp.sync", "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64"}) {
    EXPECT_EQ(find(opcode).traits.effect, Effect::acts) << opcode;
  }
  for (const char* opcode : {"ld.global.u32", "atom.global.add.u32", "add.u32", "ret"}) {
    EXPECT_EQ(find(opcode).traits.effect, Effect::none) << opcode;
  }
}

TEST_F(FormTraits, EndsPath) {
  for (const char* opcode : {"bra", "brx.idx", "ret", "exit", "trap"}) {
    EXPECT_TRUE(find(opcode).traits.ends_path) << opcode;
  }
  for (const char* opcode : {"call", "brkpt", "nanosleep.u32", "mov.u32"}) {
    EXPECT_FALSE(find(opcode).traits.ends_path) << opcode;
  }
}

TEST_F(FormTraits, OnlyReads) {
  for (const char* opcode :
       {"bar.sync", "barrier.arrive", "brx.idx", "stackrestore.u64", "st.param.b32"}) {
    EXPECT_TRUE(find(opcode).traits.only_reads) << opcode;
  }
  EXPECT_FALSE(find("bar.red.popc.u32").traits.only_reads);
  EXPECT_FALSE(find("ld.param.u32").traits.only_reads);
}

TEST_F(FormTraits, Role) {
  EXPECT_EQ(find("mov.u32").traits.role, Role::move);
  EXPECT_EQ(find("brx.idx").traits.role, Role::branch_table);
  EXPECT_EQ(find("ret.uni").traits.role, Role::ret);
  for (const char* opcode : {"ld.param.u32", "ld.param::func.v2.f32", "ld.volatile.param.b8"}) {
    EXPECT_EQ(find(opcode).traits.role, Role::load_param) << opcode;
  }
  EXPECT_EQ(find("st.param.v4.b16").traits.role, Role::store_param);
  for (const char* opcode : {"cvta.param.u64", "cvta.to.param::entry.u32"}) {
    EXPECT_EQ(find(opcode).traits.role, Role::convert_space) << opcode;
    EXPECT_FALSE(find(opcode).in_local.empty()) << opcode;
  }
  EXPECT_TRUE(find("cvta.to.global.u64").in_local.empty());
  for (const char* opcode : {"ld.local.u32", "st.u32", "call", "isspacep.param", "add.u32"}) {
    EXPECT_EQ(find(opcode).traits.role, Role::plain) << opcode;
  }
}

TEST_F(FormTraits, TakesIntegers) {
  for (const char* opcode : {"add.u32", "mov.b64", "cvt.rn.f32.s32", "slct.u32.f32",
                             "redux.sync.min.f32", "wmma.load.c.sync.aligned.row.m16n16k16.f32"}) {
    EXPECT_TRUE(find(opcode).takes_integers) << opcode;
  }
  for (const char* opcode : {"add.f32", "mov.f64", "cvt.rzi.s32.f32", "slct.f32.s32"}) {
    EXPECT_FALSE(find(opcode).takes_integers) << opcode;
  }
}

TEST_F(FormTraits, Widths) {
  EXPECT_TRUE(find("ld.global.u8").traits.converts);
  EXPECT_TRUE(find("st.param.b8").traits.converts);
  EXPECT_TRUE(find("cvt.u16.u32").traits.converts);
  EXPECT_FALSE(find("cvta.to.global.u64").traits.converts);
  EXPECT_EQ(find("vadd.s32.s32.s32").traits.video, 1);
  EXPECT_EQ(find("vadd4.s32.s32.s32").traits.video, 4);
  EXPECT_EQ(find("add.s32").traits.video, 0);
}

}  // namespace
}  // namespace cudacore::simulator
