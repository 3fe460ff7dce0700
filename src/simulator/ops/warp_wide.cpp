// SPDX-License-Identifier: Apache-2.0
#include "simulator/ops/warp_wide.hpp"

#include <bit>
#include <cstdio>

#include "simulator/engine/warp_run.hpp"

namespace cudacore::simulator {
namespace {

/// PTX leaves this undefined; a GPU may hang.
void fault_unnamed(Warp& warp, const Instruction& in, std::uint32_t named,
                   std::uint32_t strangers) noexcept {
  char text[96];
  std::snprintf(text, sizeof text, "is run by this lane, which its mask 0x%08x does not name",
                named);
  warp.fault(in, FaultKind::illegal_instruction, static_cast<unsigned>(std::countr_zero(strangers)),
             text);
}

}  // namespace

void run_together(Warp& warp, const Instruction& in, std::uint32_t named, std::uint32_t lanes,
                  Together together) {
  if (const std::uint32_t strangers = lanes & ~named; strangers != 0) [[unlikely]] {
    fault_unnamed(warp, in, named, strangers);
    return;
  }
  const Part mine{warp.rows, &in, lanes};
  std::uint32_t missing = named & warp.living & ~lanes;
  if (missing == 0) {
    together(warp, Parts(&mine, 1), lanes);
    return;
  }
  const auto waits_for_them = [&](const Group& group) {
    return group.wait == Wait::lanes && group.detail == named && group.pc->run == in.run;
  };
  for (const Group& group : warp.groups) {
    if (waits_for_them(group)) missing &= ~group.lanes;
  }
  if (missing != 0) {
    park(warp, lanes, &in, Wait::lanes, named);
    return;
  }
  std::array<Part, warp_size> parts{mine};
  std::size_t count = 1;
  std::uint32_t members = lanes;
  for (Group& group : warp.groups) {
    if (!waits_for_them(group)) continue;
    parts[count++] = {group.frame->rows, group.pc, group.lanes};
    members |= group.lanes;
    ++group.pc;
    wake(warp, group);
  }
  together(warp, Parts(parts.data(), count), members);
  reschedule(warp);
}

}  // namespace cudacore::simulator
