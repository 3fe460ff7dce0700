// SPDX-License-Identifier: Apache-2.0
//
// Every form of atom and red against a model, and forms for addresses and ordering.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "memory_test_support.hpp"

namespace cudacore::simulator::testing {
namespace {

using Words = std::vector<std::string>;
using Value = std::uint64_t;  ///< the lower half of 128 bits

Words words_of(std::string_view key) {
  Words words;
  while (true) {
    const std::size_t dot = key.find('.');
    words.emplace_back(key.substr(0, dot));
    if (dot == key.npos) return words;
    key.remove_prefix(dot + 1);
  }
}

bool has(const Words& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string operation_of(const Words& words) {
  for (const char* name : {"add", "min", "max", "inc", "dec", "and", "or", "xor", "exch", "cas"}) {
    if (has(words, name)) return name;
  }
  return "";
}

/// Small integers in a type's own representation, whose sums are exact.
Value number(const std::string& type, int value) {
  const auto f = static_cast<float>(value);
  if (type == "f32") return std::bit_cast<std::uint32_t>(f);
  if (type == "f64") return std::bit_cast<std::uint64_t>(static_cast<double>(value));
  if (type == "bf16") return std::bit_cast<std::uint32_t>(f) >> 16;
  if (type == "f16") {
    if (value == 0) return 0;
    const int magnitude = std::abs(value);
    const int exponent = static_cast<int>(std::bit_width(static_cast<unsigned>(magnitude))) - 1;
    const int fraction = (magnitude << (10 - exponent)) & 0x3ff;
    return static_cast<unsigned>((value < 0 ? 0x8000 : 0) | (exponent + 15) << 10 | fraction);
  }
  if (type == "f16x2" || type == "bf16x2") {
    const std::string half = type.substr(0, type.size() - 2);
    return number(half, value) | number(half, value) << 16;
  }
  return static_cast<Value>(static_cast<std::int64_t>(value));
}

bool is_whole(const std::string& type) {
  return type[0] == 'u' || type[0] == 's' || (type[0] == 'b' && type[1] != 'f');
}

Value masked(Value value, std::size_t width) {
  return width >= 8 ? value : value & ((Value{1} << (8 * width)) - 1);
}

/// The contents of memory after an operation on small numbers a and b.
int model(const std::string& operation, int a, int b, bool is_unsigned) {
  const auto ua = static_cast<unsigned>(a);
  const auto ub = static_cast<unsigned>(b);
  if (operation == "add") return a + b;
  if (operation == "min") return is_unsigned ? static_cast<int>(std::min(ua, ub)) : std::min(a, b);
  if (operation == "max") return is_unsigned ? static_cast<int>(std::max(ua, ub)) : std::max(a, b);
  if (operation == "inc") return ua >= ub ? 0 : a + 1;
  if (operation == "dec") return ua == 0 || ua > ub ? b : a - 1;
  if (operation == "and") return a & b;
  if (operation == "or") return a | b;
  if (operation == "xor") return a ^ b;
  return b;  // exch
}

Value read(const std::byte* from, std::size_t width) {
  Value value = 0;
  std::memcpy(&value, from, std::min<std::size_t>(width, 8));
  return value;
}

void write(std::byte* to, Value value, std::size_t width) {
  const Value upper = value >> 63 != 0 ? ~Value{0} : 0;
  std::memcpy(to, &value, std::min<std::size_t>(width, 8));
  if (width == 16) std::memcpy(to + 8, &upper, 8);
}

std::byte* lane_of(OneInstruction& instruction, std::size_t operand, unsigned k, unsigned lane,
                   std::size_t width) {
  return reinterpret_cast<std::byte*>(instruction.row<std::uint8_t>(operand, k).data()) +
         lane * width;
}

Isa any_isa() { return available_isas().front(); }

TEST(Atomics, EveryFormDoesWhatItSaysLaneByLane) {
  std::mt19937_64 random(3);
  Surroundings around;
  const Allocation memory = around.allocate(1024);
  Allocation low = memory;
  low.address = 0x20000;
  AddressSpace::instance().insert(low);
  std::set<std::string> operations;
  for (const Form* form : form_table(any_isa())->all()) {
    const Words words = words_of(form->key);
    const bool is_red = words[0] == "red";
    if ((!is_red && words[0] != "atom") || has(words, "async")) continue;
    SCOPED_TRACE(form->key + " " + form->signature);
    const std::string operation = operation_of(words);
    const std::string& type = words.back();
    operations.insert(operation + "." + type);
    const bool is_cas = operation == "cas";
    OneInstruction instruction(*form);
    around.place(instruction);
    const std::size_t address_at = is_red ? 0 : 1;
    const std::size_t value_at = address_at + 1;
    const std::size_t width = instruction.operands()[value_at].width();
    const unsigned count = std::max(instruction.operands()[value_at].elements, 1u);
    const bool is_shared = has(words, "shared") || has(words, "shared::cluster");
    const bool is_narrow = instruction.operands()[address_at].kind == 'n';
    std::byte* const host = is_shared ? around.block().shared : memory.host;
    const std::uint64_t begin = is_shared ? shared_begin : is_narrow ? low.address : memory.address;
    for (const std::uint32_t lanes : interesting_masks(random)) {
      // Three locations, which the lanes share.
      std::array<std::array<int, 8>, 3> expected{};
      for (unsigned p = 0; p < 3; ++p) {
        for (unsigned k = 0; k < count; ++k) {
          expected[p][k] = static_cast<int>(random() % 9);
          write(host + (p * count + k) * width, masked(number(type, expected[p][k]), width), width);
        }
      }
      const bool negatives = operation != "inc" && operation != "dec";
      std::array<std::array<int, 8>, warp_size> old{};
      for (unsigned lane = 0; lane < warp_size; ++lane) {
        const unsigned p = static_cast<unsigned>(random() % 3);
        const std::uint64_t address = begin + p * count * width;
        if (is_narrow) {
          instruction.row<std::uint32_t>(address_at)[lane] = static_cast<std::uint32_t>(address);
        } else {
          instruction.row<std::uint64_t>(address_at)[lane] = address;
        }
        for (unsigned k = 0; k < count; ++k) {
          const int b = static_cast<int>(random() % 5) - (negatives ? 2 : 0);
          const int c = static_cast<int>(random() % 9);
          write(lane_of(instruction, value_at, k, lane, width), masked(number(type, b), width),
                width);
          if (is_cas) {
            write(lane_of(instruction, 3, k, lane, width), masked(number(type, c), width), width);
          }
          if ((lanes >> lane & 1) == 0) continue;
          int& a = expected[p][k];
          old[lane][k] = a;
          if (is_cas) {
            a = a == b ? c : a;
          } else {
            a = model(operation, a, b, type[0] == 'u');
          }
        }
      }
      instruction.run(lanes);
      const auto fault = around.fault();
      ASSERT_FALSE(fault) << fault->message;
      for (unsigned p = 0; p < 3; ++p) {
        for (unsigned k = 0; k < count; ++k) {
          const Value wanted = masked(number(type, expected[p][k]), width);
          const Value found = read(host + (p * count + k) * width, width);
          const bool zero = expected[p][k] == 0 && !is_whole(type);  // -0 is also correct
          ASSERT_TRUE(found == wanted || zero) << "place " << p << " element " << k;
        }
      }
      if (is_red) continue;
      for (unsigned lane = 0; lane < warp_size; ++lane) {
        for (unsigned k = 0; k < count; ++k) {
          if ((lanes >> lane & 1) == 0 || (old[lane][k] == 0 && !is_whole(type))) continue;
          ASSERT_EQ(
              static_cast<std::uint64_t>(read(lane_of(instruction, 0, k, lane, width), width)),
              static_cast<std::uint64_t>(masked(number(type, old[lane][k]), width)))
              << "old value of lane " << lane << " element " << k;
        }
      }
    }
  }
  AddressSpace::instance().erase(low.address);
  for (const char* one :
       {"add.u32",   "add.s32",    "add.u64", "add.f32",  "add.f64",  "add.f16",   "add.bf16",
        "add.f16x2", "add.bf16x2", "min.u32", "min.s32",  "min.u64",  "min.s64",   "max.u32",
        "max.s32",   "max.u64",    "max.s64", "inc.u32",  "dec.u32",  "and.b32",   "and.b64",
        "or.b32",    "or.b64",     "xor.b32", "xor.b64",  "exch.b32", "exch.b64",  "exch.b128",
        "cas.b16",   "cas.b32",    "cas.b64", "cas.b128", "min.f16",  "max.bf16x2"}) {
    EXPECT_TRUE(operations.contains(one)) << one;
  }
}

/// Runs a form on one lane, with a value in memory; returns the new contents.
template <class T>
T run_on(Surroundings& around, std::string_view key, std::string_view signature, T in_memory,
         T operand, bool shared = false) {
  const Allocation memory = around.allocate(256);
  OneInstruction instruction(any_isa(), key, signature);
  around.place(instruction);
  std::byte* const host = shared ? around.block().shared : memory.host;
  std::memcpy(host, &in_memory, sizeof(T));
  if (signature[0] == 'n') {
    instruction.row<std::uint32_t>(0)[0] = shared_begin;
  } else {
    instruction.row<std::uint64_t>(0)[0] = memory.address;
  }
  instruction.row<T>(1)[0] = operand;
  instruction.run(1);
  EXPECT_FALSE(around.fault());
  std::memcpy(&in_memory, host, sizeof(T));
  around.memory().free(memory.address);
  return in_memory;
}

TEST(Atomics, SumsFlushSubnormalsInGlobalMemoryOnly) {
  Surroundings around;
  const float tiny = std::numeric_limits<float>::denorm_min();
  EXPECT_EQ(run_on<float>(around, "red.global.add.f32", "mw", 0.0f, tiny), 0.0f);
  EXPECT_EQ(run_on<float>(around, "red.add.f32", "mw", tiny, 0.0f), 0.0f);
  EXPECT_EQ(run_on<float>(around, "red.shared.add.f32", "nw", tiny, tiny, true), 2 * tiny);
  const double small = std::numeric_limits<double>::denorm_min();
  EXPECT_EQ(run_on<double>(around, "red.global.add.f64", "mx", small, small), 2 * small);
}

TEST(Atomics, SumsRoundToNearestEven) {
  Surroundings around;
  EXPECT_EQ(run_on<float>(around, "red.global.add.f32", "mw", 1.0f, 0x1p-24f), 1.0f);
  EXPECT_EQ(run_on<float>(around, "red.global.add.f32", "mw", 1.0f + 0x1p-23f, 0x1p-24f),
            1.0f + 0x1p-22f);
  // 2048 + 1 is between two values of f16; 256 + 1 is between two values of bf16.
  EXPECT_EQ(run_on<std::uint16_t>(around, "red.global.add.f16", "mh", 0x6800, 0x3c00), 0x6800);
  EXPECT_EQ(run_on<std::uint16_t>(around, "red.global.add.bf16", "mh", 0x4380, 0x3f80), 0x4380);
  EXPECT_EQ(run_on<std::uint16_t>(around, "red.global.add.f16", "mh", 0x0001, 0x0001), 0x0002)
      << "subnormals of f16 are kept";
  EXPECT_EQ(run_on<std::uint32_t>(around, "red.global.add.f32", "mw", 0x7f800000, 0xff800000),
            0x7fffffffu);
  EXPECT_EQ(run_on<std::uint16_t>(around, "red.global.add.f16", "mh", 0x7c00, 0xfc00), 0x7fff);
}

TEST(Atomics, MinAndMaxOfHalves) {
  Surroundings around;
  const auto run = [&](const std::string& operation, std::uint32_t a, std::uint32_t b) {
    const Allocation memory = around.allocate(256);
    OneInstruction red(any_isa(), "red.global." + operation + ".v2.f16x2", "m2w");
    around.place(red);
    std::memcpy(memory.host, &a, 4);
    std::memcpy(memory.host + 4, &b, 4);
    red.row<std::uint64_t>(0)[0] = memory.address;
    red.row<std::uint32_t>(1, 0)[0] = b;
    red.row<std::uint32_t>(1, 1)[0] = a;
    red.run(1);
    EXPECT_FALSE(around.fault());
    std::array<std::uint32_t, 2> after{};
    std::memcpy(after.data(), memory.host, 8);
    EXPECT_EQ(after[0], after[1]) << "the same both ways";
    return after[0];
  };
  EXPECT_EQ(run("min", 0x3c00'4000, 0x4000'bc00), 0x3c00'bc00u);
  EXPECT_EQ(run("max", 0x3c00'4000, 0x4000'bc00), 0x4000'4000u);
  EXPECT_EQ(run("min", 0x7e00'0000, 0x3c00'8000), 0x3c00'8000u) << "a number wins; -0 < +0";
  EXPECT_EQ(run("max", 0x7e00'0000, 0x3c00'8000), 0x3c00'0000u);
  EXPECT_EQ(run("max", 0x7e00'7e00, 0xfe00'7e01), 0x7fff'7fffu);
}

TEST(Atomics, AreAtomicAmongThreads) {
  Surroundings around;
  const Allocation memory = around.allocate(256);
  std::memset(memory.host, 0, 256);
  const auto work = [&](std::string_view key, std::string_view signature, std::size_t offset,
                        auto one) {
    Worker worker;
    OneInstruction red(any_isa(), key, signature);
    around.place(red);
    red.warp().worker = &worker;
    for (unsigned i = 0; i < warp_size; ++i) {
      red.row<std::uint64_t>(0)[i] = memory.address + offset;
      red.row<decltype(one)>(1)[i] = one;
    }
    for (int i = 0; i < 500; ++i) red.run();
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      work("red.global.add.u32", "mw", 0, std::uint32_t{1});
      work("red.add.f32", "mw", 4, 1.0f);
      work("red.relaxed.global.add.f64", "mx", 8, 1.0);
      work("red.global.add.f16x2", "mw", 16, std::uint32_t{0x0001'0000});
    });
  }
  for (std::thread& thread : threads) thread.join();
  constexpr std::uint32_t total = 4 * 500 * warp_size;
  EXPECT_EQ(static_cast<std::uint32_t>(read(memory.host, 4)), total);
  EXPECT_EQ(std::bit_cast<float>(static_cast<std::uint32_t>(read(memory.host + 4, 4))), total);
  EXPECT_EQ(std::bit_cast<double>(static_cast<std::uint64_t>(read(memory.host + 8, 8))), total);
}

TEST(Atomics, OfWideValuesAreOfOnePiece) {
  Surroundings around;
  const Allocation memory = around.allocate(256);
  std::memset(memory.host, 0, 256);
  std::atomic<int> torn{0};
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 3; ++t) {
    threads.emplace_back([&, t] {
      Worker worker;
      OneInstruction exchange(any_isa(), "atom.relaxed.global.exch.b128", "qmq");
      OneInstruction load(any_isa(), "ld.relaxed.global.b128", "qm");
      for (OneInstruction* each : {&exchange, &load}) {
        around.place(*each);
        each->warp().worker = &worker;
        for (unsigned i = 0; i < warp_size; ++i) each->row<std::uint64_t>(1)[i] = memory.address;
      }
      using Pair = std::array<std::uint64_t, 2>;
      for (unsigned i = 0; i < warp_size; ++i)
        exchange.row<Pair>(2)[i] = {t * 100 + i, t * 100 + i};
      for (int n = 0; n < 300; ++n) {
        exchange.run();
        load.run();
        for (unsigned i = 0; i < warp_size; ++i) {
          const Pair old = exchange.row<Pair>(0)[i];
          const Pair seen = load.row<Pair>(0)[i];
          if (old[0] != old[1] || seen[0] != seen[1]) ++torn;
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(torn, 0);
}

TEST(Atomics, FaultLikeOtherAccesses) {
  Surroundings around;
  const Allocation constant = around.allocate(256, true);
  for (const std::uint64_t address : {std::uint64_t{0}, constant.address, constant.address + 2}) {
    OneInstruction atom(any_isa(), "atom.global.add.u32", "wmw");
    around.place(atom);
    for (unsigned i = 0; i < warp_size; ++i) atom.row<std::uint64_t>(1)[i] = address;
    atom.run();
    const auto fault = around.fault();
    ASSERT_TRUE(fault);
    EXPECT_NE(fault->message.find("updates 4 bytes at"), std::string::npos) << fault->message;
    EXPECT_EQ(fault->kind,
              address % 4 == 0 ? FaultKind::illegal_address : FaultKind::misaligned_address);
  }
}

}  // namespace
}  // namespace cudacore::simulator::testing
