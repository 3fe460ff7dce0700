// SPDX-License-Identifier: Apache-2.0
//
// Every form of ld, ldu and st: every address pattern, with every kind of mask, and every kind of
// invalid access.
#include <gtest/gtest.h>

#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "memory_test_support.hpp"

namespace cudacore::simulator::testing {
namespace {

struct Access {
  std::string_view key;
  bool is_store = false;
  std::size_t address = 0;  ///< operand
  std::size_t value = 0;    ///< operand
  std::size_t width = 0;    ///< bytes of an element
  std::size_t count = 1;
  bool narrow = false;  ///< 32-bit base

  [[nodiscard]] std::size_t bytes() const { return width * count; }
  [[nodiscard]] bool has(std::string_view word) const {
    return ("." + std::string(key) + ".").find("." + std::string(word) + ".") != std::string::npos;
  }
};

Access describe(const OneInstruction& instruction) {
  Access access;
  access.key = instruction.form().key;
  access.is_store = access.key.starts_with("st");
  access.address = access.is_store ? 0 : 1;
  access.value = 1 - access.address;
  const Operand& value = instruction.operands()[access.value];
  access.width = value.width();
  access.count = std::max(value.elements, 1u);
  access.narrow = instruction.operands()[access.address].kind == 'n';
  return access;
}

std::vector<const Form*> forms(Isa isa) {
  std::vector<const Form*> found;
  for (const Form* form : form_table(isa)->all()) {
    const std::string_view key = form->key;
    if (!key.starts_with("ld.") && !key.starts_with("ldu.") && !key.starts_with("st.")) continue;
    if (key.find("frame") != key.npos || key.find("async") != key.npos ||
        key.find("bulk") != key.npos) {
      continue;
    }
    found.push_back(form);
  }
  return found;
}

/// Where lane i's bytes begin, in multiples of the access's size.
using Layout = unsigned (*)(unsigned lane, std::mt19937_64& random);
constexpr Layout layouts[] = {
    [](unsigned lane, std::mt19937_64&) { return lane; },
    [](unsigned, std::mt19937_64&) { return 3u; },
    [](unsigned lane, std::mt19937_64&) { return lane % 16 + (lane / 16 == 0 ? 7 : 0); },
    [](unsigned lane, std::mt19937_64&) { return lane / 8; },
    [](unsigned lane, std::mt19937_64&) { return 31 - lane; },
    [](unsigned lane, std::mt19937_64&) { return lane < 31 ? lane : 0; },
    [](unsigned, std::mt19937_64& random) { return static_cast<unsigned>(random() % 15); },
};

/// Memory in a form's space: its first address, and where the bytes of a lane are.
struct Place {
  std::uint64_t address = 0;
  std::function<std::byte*(unsigned lane)> host;
};

Place place_of(const Access& access, Surroundings& around, const Allocation& memory) {
  if (access.has("shared") || access.has("shared::cluster")) {
    return {shared_begin, [&](unsigned) { return around.block().shared; }};
  }
  if (access.has("local")) {
    return {local_begin,
            [&](unsigned lane) { return around.block().local + lane * around.local_stride; }};
  }
  if (access.has("param")) {
    return {0, [&](unsigned) { return around.request().parameters.data(); }};
  }
  return {memory.address, [=](unsigned) { return memory.host; }};
}

void set_address(OneInstruction& instruction, const Access& access, unsigned lane,
                 std::uint64_t address) {
  if (access.narrow) {
    instruction.row<std::uint32_t>(access.address)[lane] = static_cast<std::uint32_t>(address);
  } else {
    instruction.row<std::uint64_t>(access.address)[lane] = address;
  }
}

std::byte* element(OneInstruction& instruction, const Access& access, unsigned k, unsigned lane) {
  return reinterpret_cast<std::byte*>(instruction.row<std::uint8_t>(access.value, k).data()) +
         lane * access.width;
}

/// The size of 32 lanes of the largest access.
constexpr std::size_t room_bytes = 1024;

class LoadStore : public ::testing::TestWithParam<Isa> {};

TEST_P(LoadStore, EveryFormMovesTheBytesOfItsLanes) {
  std::mt19937_64 random(11);
  Surroundings around;
  const Allocation memory = around.allocate(room_bytes);
  // The same bytes, at an address that 32 bits can hold.
  Allocation low = memory;
  low.address = 0x20000;
  AddressSpace::instance().insert(low);
  for (const Form* form : forms(GetParam())) {
    OneInstruction instruction(*form);
    around.place(instruction);
    const Access access = describe(instruction);
    Place place = place_of(access, around, memory);
    if (place.address > ~std::uint32_t{0} && access.narrow) place.address = low.address;
    const std::size_t room = access.has("param")   ? around.parameter_bytes
                             : access.has("local") ? around.local_stride
                                                   : room_bytes;
    SCOPED_TRACE(form->key + " " + form->signature);
    for (const Layout layout : layouts) {
      for (const std::uint32_t lanes : interesting_masks(random)) {
        std::array<std::size_t, warp_size> offset{};
        instruction.instruction().imm = random() % 2 == 0 ? 0 : ~std::uint64_t{63};
        for (unsigned lane = 0; lane < warp_size; ++lane) {
          offset[lane] = layout(lane, random) * access.bytes() % (room - access.bytes() + 1);
          offset[lane] -= offset[lane] % access.bytes();
          const bool on = (lanes >> lane & 1) != 0;
          set_address(instruction, access, lane,
                      on ? place.address + offset[lane] - instruction.instruction().imm : random());
          for (unsigned k = 0; k < access.count; ++k) {
            for (std::size_t b = 0; b < access.width; ++b) {
              element(instruction, access, k, lane)[b] = static_cast<std::byte>(random());
            }
          }
        }
        std::map<std::byte*, std::vector<std::byte>> expected;
        for (unsigned lane = 0; lane < warp_size; ++lane) {
          std::vector<std::byte>& bytes = expected[place.host(lane)];
          if (bytes.empty()) bytes.assign(place.host(lane), place.host(lane) + room);
        }
        std::array<std::array<std::vector<std::byte>, 16>, warp_size> values;
        for (unsigned lane = 0; lane < warp_size; ++lane) {
          for (unsigned k = 0; k < access.count; ++k) {
            const std::byte* value = element(instruction, access, k, lane);
            values[lane][k].assign(value, value + access.width);
            if ((lanes >> lane & 1) == 0) continue;
            std::byte* const in_memory =
                expected[place.host(lane)].data() + offset[lane] + k * access.width;
            if (access.is_store) {
              std::copy_n(value, access.width, in_memory);
            } else {
              values[lane][k].assign(in_memory, in_memory + access.width);
            }
          }
        }
        instruction.run(lanes);
        const auto fault = around.fault();
        ASSERT_FALSE(fault) << fault->message;
        for (const auto& [host, bytes] : expected) {
          ASSERT_EQ(std::memcmp(host, bytes.data(), room), 0) << "mask " << lanes;
        }
        for (unsigned lane = 0; lane < warp_size; ++lane) {
          for (unsigned k = 0; k < access.count; ++k) {
            ASSERT_EQ(std::memcmp(element(instruction, access, k, lane), values[lane][k].data(),
                                  access.width),
                      0)
                << "element " << k << " of lane " << lane << ", mask " << lanes;
          }
        }
      }
    }
  }
  AddressSpace::instance().erase(low.address);
}

TEST_P(LoadStore, EveryFormFaultsWhereOneLaneIsOutsideByAByte) {
  std::mt19937_64 random(12);
  Surroundings around;
  for (const Form* form : forms(GetParam())) {
    OneInstruction instruction(*form);
    around.place(instruction);
    const Access access = describe(instruction);
    const Allocation memory = around.allocate(64 * access.bytes() - 1);
    const Place place = place_of(access, around, memory);
    if (access.narrow && place.address > ~std::uint32_t{0}) continue;
    const std::uint64_t size = access.has("param")   ? around.parameter_bytes
                               : access.has("local") ? around.local_stride
                               : access.has("shared") || access.has("shared::cluster")
                                   ? around.shared_bytes
                                   : memory.size;
    SCOPED_TRACE(form->key + " " + form->signature);
    const std::uint64_t past =
        place.address + (size - access.bytes()) / access.bytes() * access.bytes() + access.bytes();
    const std::uint64_t before = place.address - access.bytes();
    for (const std::uint64_t wrong : {past, before}) {
      if (access.has("param") && wrong == before) continue;
      for (const unsigned lane : {0u, 1u, 31u}) {
        for (const std::uint32_t lanes : {all_lanes, std::uint32_t{1} << lane}) {
          for (unsigned i = 0; i < warp_size; ++i) {
            set_address(instruction, access, i, i == lane ? wrong : place.address);
          }
          instruction.run(lanes);
          const auto fault = around.fault();
          ASSERT_TRUE(fault) << "lane " << lane;
          EXPECT_EQ(fault->kind, FaultKind::illegal_address);
          instruction.run(lanes & ~(1u << lane));
          ASSERT_FALSE(around.fault()) << "a lane that is not enabled";
        }
      }
      // A complete row that runs out of bounds with its last lane.
      for (unsigned i = 0; i < warp_size; ++i) {
        set_address(instruction, access, i, past - (31 - i) * access.bytes());
      }
      if (past - 31 * access.bytes() >= place.address && past > 31 * access.bytes()) {
        instruction.run();
        ASSERT_TRUE(around.fault());
      }
    }
    if (access.bytes() > 1) {
      for (unsigned i = 0; i < warp_size; ++i) {
        set_address(instruction, access, i, place.address + access.bytes() / 2);
      }
      instruction.run();
      const auto fault = around.fault();
      ASSERT_TRUE(fault);
      EXPECT_EQ(fault->kind, FaultKind::misaligned_address);
    }
    around.memory().free(memory.address);
  }
}

/// Runs a form whose lanes are all at one address, and returns the fault.
std::optional<Fault> run_at(Surroundings& around, Isa isa, std::string_view key,
                            std::string_view signature, std::uint64_t address) {
  OneInstruction instruction(isa, key, signature);
  around.place(instruction);
  const Access access = describe(instruction);
  for (unsigned i = 0; i < warp_size; ++i) set_address(instruction, access, i, address);
  instruction.run();
  return around.fault();
}

std::string message(const std::optional<Fault>& fault) { return fault ? fault->message : ""; }

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != text.npos;
}

TEST_P(LoadStore, SaysWhatIsNearest) {
  Surroundings around;
  const Allocation memory = around.allocate(1000);
  const auto load = [&](std::uint64_t address) {
    return message(run_at(around, GetParam(), "ld.global.u32", "wm", address));
  };
  EXPECT_PRED2(contains, load(0), "reads 4 bytes at 0x0, which is a null pointer");
  EXPECT_PRED2(contains, load(16), "which is 16 bytes past a null pointer");
  EXPECT_PRED2(contains, load(memory.end()),
               "just past the end of a live allocation of 1000 bytes");
  EXPECT_PRED2(contains, load(memory.end() + 8), "which is 8 bytes past the end of a live");
  EXPECT_PRED2(contains, load(memory.address - 8), "which is 8 bytes before a live allocation");
  EXPECT_PRED2(contains,
               message(run_at(around, GetParam(), "st.global.v2.u64", "m2x", memory.address + 992)),
               "writes 16 bytes at");
  around.memory().free(memory.address);
  EXPECT_PRED2(contains, load(memory.address + 40),
               "which is in freed memory: it was 40 bytes into an allocation of 1000 bytes");
  EXPECT_PRED2(contains, load(reinterpret_cast<std::uint64_t>(around.block().shared) + 4),
               "which is in the shared memory of the block");
  EXPECT_PRED2(contains,
               message(run_at(around, GetParam(), "ld.shared.u32", "wn", shared_begin - 4)),
               "reads 4 bytes at shared address 0x3fc, which is 4 bytes before the shared memory");
}

TEST_P(LoadStore, SeesAnAllocationGoAndComeBack) {
  Surroundings around;
  Allocation memory = around.allocate(256);
  OneInstruction load(GetParam(), "ld.global.u32", "wm");
  around.place(load);
  for (unsigned i = 0; i < warp_size; ++i) load.row<std::uint64_t>(1)[i] = memory.address;
  load.run();
  EXPECT_FALSE(around.fault());
  around.memory().free(memory.address);
  load.run();
  EXPECT_TRUE(around.fault()) << "a range that was found before";
}

TEST_P(LoadStore, KeepsConstantsFromBeingWritten) {
  Surroundings around;
  const Allocation constant = around.allocate(256, true);
  EXPECT_FALSE(run_at(around, GetParam(), "ld.const.u32", "wm", constant.address));
  EXPECT_FALSE(run_at(around, GetParam(), "ld.u32", "wm", constant.address));
  for (const char* key : {"st.global.u32", "st.u32", "st.volatile.global.u32"}) {
    const auto fault = run_at(around, GetParam(), key, "mw", constant.address);
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->kind, FaultKind::illegal_address);
    EXPECT_PRED2(contains, fault->message, "read-only");
  }
}

TEST_P(LoadStore, KeepsOtherDevicesMemoryApart) {
  Surroundings around;
  const Allocation memory = around.allocate(256);
  EXPECT_FALSE(run_at(around, GetParam(), "ld.global.u32", "wm", memory.address));
  around.request().readable_devices = 1;
  const auto fault = run_at(around, GetParam(), "ld.global.u32", "wm", memory.address);
  ASSERT_TRUE(fault) << "a range found for a grid that may";
  EXPECT_PRED2(contains, fault->message, "in memory of device 5");
}

TEST_P(LoadStore, GenericAddressesReachEverySpace) {
  Surroundings around;
  OneInstruction load(GetParam(), "ld.u32", "wm");
  OneInstruction store(GetParam(), "st.u32", "mw");
  around.place(load, 1);
  around.place(store, 1);
  const auto number = [](const void* host) { return reinterpret_cast<std::uint64_t>(host); };
  const auto move = [&](auto address_of) {
    for (unsigned i = 0; i < warp_size; ++i) {
      store.row<std::uint64_t>(0)[i] = load.row<std::uint64_t>(1)[i] = address_of(i);
      store.row<std::uint32_t>(1)[i] = 1000 + i;
    }
    store.run();
    EXPECT_FALSE(around.fault());
    load.run();
    const auto fault = around.fault();
    EXPECT_FALSE(fault) << fault->message;
    for (unsigned i = 0; i < warp_size; ++i) EXPECT_EQ(load.row<std::uint32_t>(0)[i], 1000 + i);
  };
  const Allocation memory = around.allocate(256);
  move([&](unsigned i) { return memory.address + i * 4; });
  move([&](unsigned i) { return number(around.block().shared) + i * 4; });
  move([&](unsigned i) { return number(around.block(1).shared) + i * 4; });
  move([&](unsigned i) { return number(around.block().local) + (32 + i) * 512 + 8; });
  // Lanes in several spaces at once.
  move([&](unsigned i) {
    return i % 2 == 0 ? memory.address + i * 4 : number(around.block().shared) + i * 4;
  });
  const std::uint64_t parameters = number(around.request().parameters.data());
  EXPECT_FALSE(run_at(around, GetParam(), "ld.u32", "wm", parameters + 4));
  EXPECT_TRUE(run_at(around, GetParam(), "st.u32", "mw", parameters + 4));
  const auto fault =
      run_at(around, GetParam(), "ld.u32", "wm", number(around.block().local) + 40 * 512);
  EXPECT_PRED2(contains, message(fault), "the local memory of another thread");
}

TEST_P(LoadStore, SharedAddressesReachOtherBlocksOfTheCluster) {
  Surroundings around;
  OneInstruction load(GetParam(), "ld.shared::cluster.u32", "wn");
  around.place(load);
  const std::uint32_t value = 77;
  std::memcpy(around.block(1).shared + 8, &value, sizeof value);
  for (unsigned i = 0; i < warp_size; ++i) {
    load.row<std::uint32_t>(1)[i] = (2u << cluster_rank_shift) + shared_begin + 8;
  }
  load.run();
  EXPECT_FALSE(around.fault());
  EXPECT_EQ(load.row<std::uint32_t>(0)[31], 77u);
  EXPECT_TRUE(run_at(around, GetParam(), "ld.shared::cluster.u32", "wn",
                     (3u << cluster_rank_shift) + shared_begin));
  EXPECT_TRUE(run_at(around, GetParam(), "ld.shared::cluster.u32", "wn",
                     (2u << cluster_rank_shift) + shared_begin + Surroundings::shared_bytes));
}

TEST_P(LoadStore, ReplacesItsOwnAddress) {
  Surroundings around;
  const Allocation memory = around.allocate(256);
  for (const unsigned step : {0u, 8u, 16u}) {
    OneInstruction load(GetParam(), "ld.global.u64", "xm");
    around.place(load);
    load.alias(0, 1);
    Row<std::uint64_t> expected;
    for (unsigned i = 0; i < warp_size; ++i) {
      const std::size_t offset = step == 16 ? i % 7 * 16 : i * step;
      load.row<std::uint64_t>(1)[i] = memory.address + offset;
      std::memcpy(&expected[i], memory.host + offset, 8);
    }
    load.run();
    EXPECT_FALSE(around.fault());
    EXPECT_EQ(load.row<std::uint64_t>(1), expected);
  }
}

TEST_P(LoadStore, TheHighestLaneWins) {
  Surroundings around;
  const Allocation memory = around.allocate(256);
  OneInstruction store(GetParam(), "st.global.u32", "mw");
  around.place(store);
  for (unsigned i = 0; i < warp_size; ++i) {
    store.row<std::uint64_t>(0)[i] = memory.address;
    store.row<std::uint32_t>(1)[i] = i;
  }
  for (const std::uint32_t lanes : {all_lanes, 0x00ff00ffu}) {
    store.run(lanes);
    std::uint32_t value = 0;
    std::memcpy(&value, memory.host, sizeof value);
    EXPECT_EQ(value, 31u - static_cast<unsigned>(std::countl_zero(lanes)));
  }
}

INSTANTIATE_TEST_SUITE_P(, LoadStore, ::testing::ValuesIn(available_isas()),
                         [](const auto& isa) { return std::string(name_of(isa.param)); });

}  // namespace
}  // namespace cudacore::simulator::testing
