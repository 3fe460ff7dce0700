// SPDX-License-Identifier: Apache-2.0
//
// Every form of the integer families, on every ISA of this machine, compared with the reference.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "simulator/integer_ops_reference.hpp"
#include "simulator/integer_video_reference.hpp"
#include "simulator/ops/isa_families.hpp"
#include "simulator/ops_test_support.hpp"

namespace cudacore::simulator {
namespace {

using testing::OneInstruction;
using testing::Opcode;
using testing::Operand;
using testing::Outcome;
using testing::Wide;

/// Only the integer families, for each ISA of this machine.
const std::map<Isa, std::unique_ptr<FormTable>>& integer_tables() {
  static const auto tables = [] {
    std::map<Isa, std::unique_ptr<FormTable>> made;
    for (const Isa isa : testing::available_isas()) {
      auto table = std::make_unique<FormTable>();
      with_isa(isa, [&table]<Isa I>() { add_integer_families<I>(*table); });
      add_integer_simd(*table);
      made.emplace(isa, std::move(table));
    }
    return made;
  }();
  return tables;
}

/// How many of the first operands are results.
std::size_t result_count(const Form& form) {
  return form.signature.find('|') == std::string::npos ? 1 : 2;
}

/// A value for each lane of each element of each operand, and the carry flags.
struct State {
  std::vector<std::vector<testing::Row<Wide>>> operands;
  std::uint32_t carry = 0;
};

/// All bytes that a row may have, whatever its type.
std::byte* bytes_of(OneInstruction& one, std::size_t i, std::size_t k) {
  return reinterpret_cast<std::byte*>(one.row<Wide>(i, k).data());
}
Wide read(OneInstruction& one, std::size_t i, std::size_t k, unsigned lane) {
  const Operand& operand = one.operands()[i];
  if (operand.kind == 'p') return one.mask(i) >> lane & 1;
  Wide value = 0;
  std::memcpy(&value, bytes_of(one, i, k) + lane * operand.width(), operand.width());
  return value;
}
void write(OneInstruction& one, std::size_t i, std::size_t k, unsigned lane, Wide value) {
  const Operand& operand = one.operands()[i];
  if (operand.kind == 'p') {
    const std::uint32_t bit = 1u << lane;
    one.mask(i) = (one.mask(i) & ~bit) | (value != 0 ? bit : 0);
  } else {
    std::memcpy(bytes_of(one, i, k) + lane * operand.width(), &value, operand.width());
  }
}
std::size_t elements(const Operand& operand) {
  return operand.elements == 0 ? 1 : operand.elements;
}

void write_all(OneInstruction& one, const State& state) {
  for (std::size_t i = 0; i < state.operands.size(); ++i) {
    for (std::size_t k = 0; k < state.operands[i].size(); ++k) {
      if (one.operands()[i].kind == 'i') {
        one.set_immediate(i, static_cast<std::uint32_t>(state.operands[i][k][0]));
        continue;
      }
      for (unsigned lane = 0; lane < warp_size; ++lane) {
        write(one, i, k, lane, state.operands[i][k][lane]);
      }
    }
  }
  one.carry() = state.carry;
}

/// Floats around the limits that matter when comparing with zero.
std::uint32_t interesting_float(std::mt19937_64& random) {
  constexpr std::uint32_t values[] = {0,          1,          0x007fffff, 0x00800000,
                                      0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fc00000};
  const auto any = random();
  return values[any % std::size(values)] | ((any >> 32 & 1) != 0 ? 0x80000000u : 0);
}

State random_state(const Form& form, std::mt19937_64& random) {
  State state;
  for (const Operand& operand : testing::operands_of(form.signature)) {
    auto& rows = state.operands.emplace_back(elements(operand));
    for (auto& row : rows) {
      for (Wide& value : row) {
        switch (operand.kind) {
          case 'p':
            value = random() & 1;
            break;
          case 'b':
            value = testing::interesting<std::uint8_t>(random);
            break;
          case 'h':
            value = testing::interesting<std::uint16_t>(random);
            break;
          case 'w':
            value = testing::interesting<std::uint32_t>(random);
            break;
          case 'i':
            value = random() & 0xff;
            break;
          case 'x':
            value = testing::interesting<std::uint64_t>(random);
            break;
          default:
            value = Wide{testing::interesting<std::uint64_t>(random)} << 64 |
                    testing::interesting<std::uint64_t>(random);
        }
      }
      if (operand.kind == 'i') row.fill(row[0]);
    }
  }
  if (form.key.starts_with("slct") && form.key.ends_with(".f32")) {
    for (Wide& value : state.operands[3][0]) value = interesting_float(random);
  }
  state.carry = static_cast<std::uint32_t>(random());
  return state;
}

/// The reference's result for a state, for all lanes; nothing if it doesn't know the form.
std::optional<State> expected(const Form& form, const State& before,
                              const testing::VideoSelectors& selectors) {
  const Opcode opcode(form.key);
  const auto operands = testing::operands_of(form.signature);
  State after = before;
  for (unsigned lane = 0; lane < warp_size; ++lane) {
    if (opcode.name() == "mov" && operands.back().elements > 0) {
      Wide whole = 0;
      const auto& parts = before.operands[1];
      for (std::size_t k = 0; k < parts.size(); ++k) {
        whole |= parts[k][lane] << (8 * operands[1].width() * k);
      }
      after.operands[0][0][lane] = whole;
      continue;
    }
    if (opcode.name() == "mov" && operands.front().elements > 0) {
      for (std::size_t k = 0; k < operands[0].elements; ++k) {
        after.operands[0][k][lane] = before.operands[1][0][lane] >> (8 * operands[0].width() * k);
      }
      continue;
    }
    std::vector<Wide> in;
    for (std::size_t i = result_count(form); i < operands.size(); ++i) {
      in.push_back(before.operands[i][0][lane]);
    }
    const bool carry = (before.carry >> lane & 1) != 0;
    std::optional<Outcome> outcome = testing::video(opcode, in, selectors);
    if (!outcome) outcome = testing::bits(opcode, in);
    if (!outcome) outcome = testing::choices(opcode, in);
    if (!outcome) {
      outcome = testing::arithmetic(opcode, in, carry);
      if (outcome && (opcode.has("cc") || opcode.name().back() == 'c')) {
        after.carry = (after.carry & ~(1u << lane)) | (outcome->carry ? 1u << lane : 0);
      }
    }
    if (!outcome || outcome->results.size() != result_count(form)) return std::nullopt;
    for (std::size_t i = 0; i < outcome->results.size(); ++i) {
      after.operands[i][0][lane] = outcome->results[i];
    }
  }
  return after;
}

Wide cut(const Operand& operand, Wide value) {
  if (operand.kind == 'p') return value & 1;
  return operand.width() >= 16 ? value : value & ((Wide{1} << (8 * operand.width())) - 1);
}

std::string hex(Wide value) {
  char text[40];
  std::snprintf(text, sizeof text, "%llx'%016llx", static_cast<unsigned long long>(value >> 64),
                static_cast<unsigned long long>(value));
  return text;
}

/// Compares every lane of every operand: enabled lanes with `after`, the others with `before`.
::testing::AssertionResult agrees(OneInstruction& one, const State& before, const State& after,
                                  std::uint32_t enabled) {
  for (std::size_t i = 0; i < before.operands.size(); ++i) {
    const Operand& operand = one.operands()[i];
    if (operand.kind == 'i') continue;
    for (std::size_t k = 0; k < before.operands[i].size(); ++k) {
      for (unsigned lane = 0; lane < warp_size; ++lane) {
        const State& right = (enabled >> lane & 1) != 0 ? after : before;
        const Wide want = cut(operand, right.operands[i][k][lane]);
        const Wide got = read(one, i, k, lane);
        if (got == want) continue;
        auto failure = ::testing::AssertionFailure();
        failure << "operand " << i << "[" << k << "], lane " << lane << ": got " << hex(got)
                << ", want " << hex(want) << "; operands were";
        for (const auto& rows : before.operands) failure << " " << hex(rows[0][lane]);
        return failure << ", carry " << (before.carry >> lane & 1);
      }
    }
  }
  const std::uint32_t carry = (after.carry & enabled) | (before.carry & ~enabled);
  if (one.carry() != carry) {
    return ::testing::AssertionFailure()
           << "carry is " << hex(one.carry()) << ", not " << hex(carry);
  }
  return ::testing::AssertionSuccess();
}

TEST(IntegerOps, EveryFormAgreesWithTheReference) {
  std::mt19937_64 random(20);
  const FormTable& first = *integer_tables().begin()->second;
  EXPECT_GT(first.all().size(), 1000u);
  for (const Form* form : first.all()) {
    SCOPED_TRACE(form->key + " " + form->signature);
    // Families with many forms are built from few parts.
    const bool one_of_many = form->key[0] == 'v' || form->key.starts_with("set.");
    for (unsigned round = 0; round < (one_of_many ? 4u : 12u); ++round) {
      const State before = random_state(*form, random);
      testing::VideoSelectors selectors;
      const Opcode opcode(form->key);
      if (round > 0) selectors = testing::random_selectors(opcode, form->signature, random);
      const std::optional<State> after = expected(*form, before, selectors);
      ASSERT_TRUE(after) << "the reference does not know it";
      for (const auto& [isa, table] : integer_tables()) {
        const Form* same = nullptr;
        for (const Form& candidate : table->find(form->key)) {
          if (candidate.signature == form->signature) same = &candidate;
        }
        ASSERT_NE(same, nullptr) << "not there for " << name_of(isa);
        OneInstruction one(*same);
        one.instruction().imm2 =
            static_cast<std::int32_t>(selectors.modifiers(opcode.name()).value());
        for (const std::uint32_t active : testing::interesting_masks(random)) {
          const auto guard = static_cast<std::uint32_t>(random());
          const bool negated = (random() & 1) != 0;
          for (const bool guarded : {false, true}) {
            write_all(one, before);
            one.set_guard(guarded ? guard : negated ? 0 : all_lanes, negated);
            one.run(active);
            const std::uint32_t enabled = guarded ? active & (negated ? ~guard : guard) : active;
            ASSERT_TRUE(agrees(one, before, *after, enabled))
                << name_of(isa) << ", lanes " << hex(enabled);
          }
        }
      }
    }
  }
}

// The destination may be one of the sources.
TEST(IntegerOps, DestinationMayBeASource) {
  std::mt19937_64 random(21);
  const testing::VideoSelectors none;
  for (const auto& [isa, table] : integer_tables()) {
    for (const Form* form : table->all()) {
      const auto operands = testing::operands_of(form->signature);
      if (operands[0].elements != 0) continue;
      for (std::size_t source = result_count(*form); source < operands.size(); ++source) {
        if (operands[source].kind != operands[0].kind || operands[source].elements != 0) continue;
        SCOPED_TRACE(form->key + " " + form->signature);
        State before = random_state(*form, random);
        before.operands[0] = before.operands[source];
        const std::optional<State> after = expected(*form, before, none);
        ASSERT_TRUE(after);
        for (const std::uint32_t active : {all_lanes, 0x0ff00ff1u}) {
          OneInstruction one(*form);
          write_all(one, before);
          one.alias(source, 0);
          one.run(active);
          for (unsigned lane = 0; lane < warp_size; ++lane) {
            const State& right = (active >> lane & 1) != 0 ? *after : before;
            ASSERT_EQ(hex(read(one, 0, 0, lane)), hex(cut(operands[0], right.operands[0][0][lane])))
                << name_of(isa) << ", source " << source << ", lane " << lane;
          }
        }
      }
    }
  }
}

// Small widths are tested exhaustively.
TEST(IntegerOps, QuotientsOf16BitsAreExact) {
  std::mt19937_64 random(22);
  for (const auto& [isa, table] : integer_tables()) {
    OneInstruction unsigned_one(isa, "div.u16", "hhh");
    OneInstruction signed_one(isa, "div.s16", "hhh");
    for (unsigned a = 0; a < 0x10000; a += 1 + static_cast<unsigned>(random() % 97)) {
      for (unsigned b = 1; b < 0x10000; b += 1 + static_cast<unsigned>(random() % 1999)) {
        for (OneInstruction* one : {&unsigned_one, &signed_one}) {
          for (unsigned lane = 0; lane < warp_size; ++lane) {
            one->row<std::uint16_t>(1)[lane] = static_cast<std::uint16_t>(a + lane);
            one->row<std::uint16_t>(2)[lane] = static_cast<std::uint16_t>(b | 1);
          }
          one->run();
        }
        for (unsigned lane = 0; lane < warp_size; ++lane) {
          const auto x = static_cast<std::uint16_t>(a + lane);
          const auto y = static_cast<std::uint16_t>(b | 1);
          ASSERT_EQ(unsigned_one.row<std::uint16_t>(0)[lane], x / y);
          ASSERT_EQ(signed_one.row<std::int16_t>(0)[lane],
                    static_cast<std::int16_t>(static_cast<std::int16_t>(x) /
                                              static_cast<std::int16_t>(y)));
        }
      }
    }
  }
}

TEST(IntegerOps, WrongVideoSelectorsAreFound) {
  const auto modifiers = [](const char* mnemonic, unsigned operand, const char* selector,
                            bool negated = false) {
    testing::VideoSelectors selectors;
    selectors.text.at(operand) = selector;
    selectors.negated.at(operand) = negated;
    return selectors.modifiers(mnemonic);
  };
  EXPECT_EQ(modifiers("vadd", 1, ""), 0u);
  EXPECT_EQ(modifiers("vadd4", 2, "b7654"), 0u);
  EXPECT_EQ(modifiers("vadd2", 0, "h10"), 0u);
  for (const char* selector : {"b4", "h2", "b", "h10", "x"}) {
    EXPECT_FALSE(modifiers("vadd", 1, selector)) << selector;
  }
  EXPECT_FALSE(modifiers("vadd2", 1, "h4"));
  EXPECT_FALSE(modifiers("vadd2", 1, "b10"));
  EXPECT_FALSE(modifiers("vadd2", 0, "h2"));
  EXPECT_FALSE(modifiers("vadd4", 3, "b0"));
  EXPECT_FALSE(modifiers("vadd4", 1, "", true));
}

TEST(FormTable, FindsWhatWasAdded) {
  const Handler nothing = [](Warp&, const Instruction&) {};
  FormTable table;
  table.add({"add", ".", "s32"}, "www", nothing);
  table.add({"mov.b64"}, "x2w", nothing);
  table.add({"mov.b64", ""}, "2wx", nothing);
  ASSERT_EQ(table.find("add.s32").size(), 1u);
  EXPECT_EQ(table.find("add.s32")[0].signature, "www");
  EXPECT_EQ(table.find("mov.b64").size(), 2u);
  EXPECT_TRUE(table.find("add").empty());
  EXPECT_TRUE(table.find("add.s3").empty());
  EXPECT_TRUE(table.knows("add"));
  EXPECT_FALSE(table.knows("ad"));
  EXPECT_FALSE(table.knows("add.s32"));
  EXPECT_EQ(table.all().size(), 3u);
  EXPECT_THROW(table.add({"add.s32"}, "www", nothing), std::logic_error);
}

}  // namespace
}  // namespace cudacore::simulator
