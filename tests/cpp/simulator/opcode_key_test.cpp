// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/opcode_key.hpp"

#include <gtest/gtest.h>

#include <string_view>

namespace cudacore::simulator {
namespace {

struct Opcode {
  std::string_view text;
  std::string_view key;
};

TEST(OpcodeKey, LeavesOutWhatMakesNoDifference) {
  const Opcode opcodes[] = {
      {"fma.rn.ftz.f32", "fma.rn.ftz.f32"},
      {"ld.global.nc.L1::no_allocate.L2::128B.v4.f32", "ld.global.v4.f32"},
      {"ld.relaxed.gpu.global.u32", "ld.relaxed.global.u32"},
      {"st.weak.shared::cta.u32", "st.shared.u32"},
      {"st.shared::cluster.u32", "st.shared::cluster.u32"},
      {"bra.uni", "bra"},
      {"ld.param::entry.u64", "ld.param.u64"},
      {"ld.const[3].u64", "ld.const.u64"},
      {"barrier.cluster.arrive.release.aligned", "barrier.cluster.arrive.release.aligned"},
      {"barrier.cta.sync.aligned", "barrier.sync.aligned"},
      {"atom.acq_rel.cluster.shared::cluster.add.u32", "atom.acq_rel.shared::cluster.add.u32"},
      {"cp.async.ca.shared.global.L2::cache_hint", "cp.async.shared.global"},
      {"membar.gl", "membar.gl"},
  };
  for (const auto& [text, key] : opcodes) EXPECT_EQ(key_of(text), key);
}

}  // namespace
}  // namespace cudacore::simulator
