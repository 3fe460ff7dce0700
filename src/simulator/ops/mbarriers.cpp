// SPDX-License-Identifier: Apache-2.0
//
// mbarrier: barriers in shared memory, at which threads arrive and asynchronous copies count bytes.
#include <cstdint>
#include <cstring>
#include <string>

#include "simulator/engine/memory_access.hpp"
#include "simulator/ops/families.hpp"
#include "simulator/ops/mbarrier_object.hpp"

namespace cudacore::simulator {
namespace {

constexpr std::size_t object_size = 8;

/// Calls use(lane, host) for each enabled lane, until it returns false or an address is invalid.
template <Space space, class Base, class Use>
void for_each_object(Warp& warp, const Instruction& in, unsigned operand, Use use) {
  const std::uint32_t lanes = warp.enabled(in);
  const Base* bases = warp.row<Base>(in.op[operand]);
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const auto address = static_cast<Base>(bases[lane] + in.imm);
    std::byte* host = resolve(warp, in, space, address, object_size, Access::update, lane);
    if (host == nullptr || !use(lane, host)) return;
  }
}

bool apply(Warp& warp, const Instruction& in, unsigned lane, std::byte* host,
           const MbarrierChange& change, std::uint64_t& old) {
  bool valid = false;
  old = change_mbarrier(host, change, valid);
  if (!valid) {
    const MbarrierState state = MbarrierState::unpack(old);
    warp.fault(in, FaultKind::illegal_instruction, lane,
               "counts on an mbarrier past its limits: " + std::to_string(state.pending) +
                   " arrivals are pending, " + std::to_string(state.bytes) + " bytes are due");
  }
  return valid;
}

/// [addr], count
template <Space space, class Base>
void initialise(Warp& warp, const Instruction& in) {
  const std::uint32_t* counts = warp.row<std::uint32_t>(in.op[1]);
  for_each_object<space, Base>(warp, in, 0, [&](unsigned lane, std::byte* host) {
    if (counts[lane] == 0 || counts[lane] > max_mbarrier_count) {
      warp.fault(in, FaultKind::illegal_instruction, lane,
                 "initialises an mbarrier for " + std::to_string(counts[lane]) + " arrivals");
      return false;
    }
    const std::uint64_t bits = MbarrierState{counts[lane], counts[lane], 0, false}.pack();
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(host), bits, __ATOMIC_SEQ_CST);
    return true;
  });
}

/// [addr]
template <Space space, class Base>
void invalidate(Warp& warp, const Instruction& in) {
  for_each_object<space, Base>(warp, in, 0, [](unsigned, std::byte*) { return true; });
}

enum class Bytes : std::uint8_t { expect, complete };

/// [addr], bytes
template <Bytes what, Space space, class Base>
void count_bytes(Warp& warp, const Instruction& in) {
  const std::uint32_t* bytes = warp.row<std::uint32_t>(in.op[1]);
  for_each_object<space, Base>(warp, in, 0, [&](unsigned lane, std::byte* host) {
    MbarrierChange change;
    (what == Bytes::expect ? change.expect_bytes : change.complete_bytes) = bytes[lane];
    std::uint64_t old = 0;
    return apply(warp, in, lane, host, change, old);
  });
}

enum class Arrival : std::uint8_t { plain, expecting };

/// state, [addr]{, count or bytes}
template <Arrival arrival, bool drop, Space space, class Base>
void arrive(Warp& warp, const Instruction& in) {
  std::uint64_t* states = warp.row<std::uint64_t>(in.op[0]);
  const std::uint32_t* numbers =
      in.op[2] == no_operand ? nullptr : warp.row<std::uint32_t>(in.op[2]);
  for_each_object<space, Base>(warp, in, 1, [&](unsigned lane, std::byte* host) {
    const std::uint32_t number = numbers != nullptr ? numbers[lane] : 1;
    MbarrierChange change;
    change.arrive = arrival == Arrival::plain ? number : 1;
    if (arrival == Arrival::expecting) change.expect_bytes = number;
    if (drop) change.drop = change.arrive;
    std::uint64_t old = 0;
    if (!apply(warp, in, lane, host, change, old)) return false;
    states[lane] = old;
    return true;
  });
}

enum class Test : std::uint8_t { state, parity };

/// p, [addr], state or parity{, hint}
template <Test test, bool waits, Space space, class Base>
void test_wait(Warp& warp, const Instruction& in) {
  std::uint32_t complete = 0;
  std::uint32_t seen = 0;
  for_each_object<space, Base>(warp, in, 1, [&](unsigned lane, std::byte* host) {
    const bool odd = MbarrierState::unpack(read_mbarrier(host)).odd_phase;
    const bool of_phase =
        test == Test::state
            ? MbarrierState::unpack(warp.row<std::uint64_t>(in.op[2])[lane]).odd_phase
            : (warp.row<std::uint32_t>(in.op[2])[lane] & 1) != 0;
    seen |= 1U << lane;
    if (odd != of_phase) complete |= 1U << lane;
    return true;
  });
  warp.set_mask(in.op[0], seen, complete);
  if (waits && complete != seen) warp.yield();
}

/// count, state
void pending_count(Warp& warp, const Instruction& in) {
  const std::uint32_t lanes = warp.enabled(in);
  std::uint32_t* counts = warp.row<std::uint32_t>(in.op[0]);
  const std::uint64_t* states = warp.row<std::uint64_t>(in.op[1]);
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    if ((lanes >> lane & 1) != 0) counts[lane] = MbarrierState::unpack(states[lane]).pending;
  }
}

template <Space space, class Base>
void add_for(FormTable& table, const char* space_text, const std::string& base) {
  const auto add = [&](std::initializer_list<const char*> key, const std::string& signature,
                       Handler handler, const Traits& traits = {}) {
    table.add(key, signature.c_str(), handler, traits);
  };
  add({"mbarrier.init", space_text, ".b64"}, base + "w", &initialise<space, Base>);
  add({"mbarrier.inval", space_text, ".b64"}, base, &invalidate<space, Base>);
  for (const char* order : {"", ".relaxed"}) {
    add({"mbarrier.expect_tx", order, space_text, ".b64"}, base + "w",
        &count_bytes<Bytes::expect, space, Base>);
    add({"mbarrier.complete_tx", order, space_text, ".b64"}, base + "w",
        &count_bytes<Bytes::complete, space, Base>);
  }
  for (const char* order : {"", ".release", ".relaxed"}) {
    add({"mbarrier.arrive", order, space_text, ".b64"}, "x" + base + "?w",
        &arrive<Arrival::plain, false, space, Base>);
    add({"mbarrier.arrive.noComplete", order, space_text, ".b64"}, "x" + base + "w",
        &arrive<Arrival::plain, false, space, Base>);
    add({"mbarrier.arrive.expect_tx", order, space_text, ".b64"}, "x" + base + "w",
        &arrive<Arrival::expecting, false, space, Base>);
    add({"mbarrier.arrive_drop", order, space_text, ".b64"}, "x" + base + "?w",
        &arrive<Arrival::plain, true, space, Base>);
    add({"mbarrier.arrive_drop.noComplete", order, space_text, ".b64"}, "x" + base + "w",
        &arrive<Arrival::plain, true, space, Base>);
    add({"mbarrier.arrive_drop.expect_tx", order, space_text, ".b64"}, "x" + base + "w",
        &arrive<Arrival::expecting, true, space, Base>);
  }
  constexpr Traits waits{.effect = Effect::looks};
  for (const char* order : {"", ".acquire", ".relaxed"}) {
    add({"mbarrier.test_wait", order, space_text, ".b64"}, "p" + base + "x",
        &test_wait<Test::state, false, space, Base>, waits);
    add({"mbarrier.test_wait.parity", order, space_text, ".b64"}, "p" + base + "w",
        &test_wait<Test::parity, false, space, Base>, waits);
    add({"mbarrier.try_wait", order, space_text, ".b64"}, "p" + base + "x?w",
        &test_wait<Test::state, true, space, Base>, waits);
    add({"mbarrier.try_wait.parity", order, space_text, ".b64"}, "p" + base + "w?w",
        &test_wait<Test::parity, true, space, Base>, waits);
  }
}

}  // namespace

void add_mbarriers(FormTable& table) {
  add_for<Space::generic, std::uint64_t>(table, "", "m");
  for (const char* space : {".shared", ".shared::cluster"}) {
    add_for<Space::shared, std::uint64_t>(table, space, "m");
    add_for<Space::shared, std::uint32_t>(table, space, "n");
  }
  table.add({"mbarrier.pending_count.b64"}, "wx", &pending_count);
}

}  // namespace cudacore::simulator
