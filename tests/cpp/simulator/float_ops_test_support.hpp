// SPDX-License-Identifier: Apache-2.0
//
// Runs every form of a family on every ISA of this machine, and compares each lane with what a
// test expects.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "simulator/float_ops_reference.hpp"
#include "simulator/ops/isa_families.hpp"
#include "simulator/ops_test_support.hpp"

namespace cudacore::simulator::testing {

/// A key, split into its parts.
struct FloatOpcode {
  std::vector<std::string> parts;

  explicit FloatOpcode(std::string_view key) {
    for (std::size_t at = 0; at <= key.size();) {
      const std::size_t dot = std::min(key.find('.', at), key.size());
      parts.emplace_back(key.substr(at, dot - at));
      at = dot + 1;
    }
  }
  [[nodiscard]] const std::string& name() const { return parts.front(); }
  [[nodiscard]] const std::string& type() const { return parts.back(); }
  [[nodiscard]] bool has(std::string_view part) const {
    for (const std::string& each : parts) {
      if (each == part) return true;
    }
    return false;
  }
  [[nodiscard]] Toward toward() const {
    if (has("rz")) return Toward::zero;
    if (has("rm")) return Toward::down;
    if (has("rp")) return Toward::up;
    return has("rna") ? Toward::away : Toward::even;
  }
  [[nodiscard]] Ending ending() const {
    return {toward(), has("ftz"), has("sat"), has("relu"), has("satfinite")};
  }
};

/// "f16x2" is a pair of "f16".
inline std::pair<std::string, unsigned> element_of(const std::string& type) {
  const std::size_t x = type.find('x');
  if (x == std::string::npos) return {type, 1};
  return {type.substr(0, x), static_cast<unsigned>(type[x + 1] - '0')};
}

inline std::uint64_t interesting_float(const FloatKind& kind, std::mt19937_64& random) {
  const std::uint64_t mask = ~std::uint64_t{0} >> (64 - kind.bits);
  const std::uint64_t any = random() & mask;
  const std::uint64_t one = static_cast<std::uint64_t>(kind.bias) << kind.mantissa;
  const std::uint64_t least = std::uint64_t{1} << kind.mantissa;
  const std::uint64_t specials[] = {
      0,        1,   least - 1, least,   least + 1,   kind.top,         kind.top + 1, kind.top + 2,
      kind.nan, one, one + 1,   one - 1, one + least, one | least >> 1, 0x7ff7};
  const std::uint64_t sign = any & kind.sign();
  switch (random() % 4) {
    case 0:
      return (specials[random() % std::size(specials)] & mask) | sign;
    case 1:
      return any;
    default: {
      const auto field = static_cast<std::uint64_t>(kind.bias) + random() % 5 - 2;
      return sign | ((field << kind.mantissa) & mask) | (any & (least - 1));
    }
  }
}

inline std::uint64_t interesting_value(const std::string& type, std::mt19937_64& random) {
  const auto [element, count] = element_of(type);
  if (const FloatKind* kind = float_kind(element)) {
    const unsigned stride = kind->bits > 32 ? 64 : (kind->bits == 6 ? 8 : kind->bits);
    std::uint64_t value = 0;
    for (unsigned i = 0; i < count; ++i) {
      value |= interesting_float(*kind, random) << (i * stride % 64);
    }
    return value;
  }
  return interesting<std::uint64_t>(random);
}

using Inputs = std::vector<std::uint64_t>;
/// The expected result for a lane's inputs (by operand; the places of results hold the old
/// contents); bit 1 is the second predicate. Nothing: the test doesn't know the form.
using Expected = std::optional<std::uint64_t> (*)(const FloatOpcode&, const Form&, const Inputs&);

inline bool is_result(const OneInstruction& one, std::size_t i) {
  return i == 0 || one.operands()[i].paired;
}
inline std::uint64_t get(OneInstruction& one, std::size_t i, unsigned lane) {
  const Operand& operand = one.operands()[i];
  if (operand.kind == 'p') return one.mask(i) >> lane & 1;
  std::uint64_t value = 0;
  std::memcpy(&value, one.row<std::byte>(i).data() + lane * operand.width(), operand.width());
  return value;
}
inline void set(OneInstruction& one, std::size_t i, unsigned lane, std::uint64_t value) {
  const Operand& operand = one.operands()[i];
  if (operand.kind == 'p') {
    one.mask(i) = (one.mask(i) & ~(1u << lane)) | static_cast<std::uint32_t>(value & 1) << lane;
  } else {
    std::memcpy(one.row<std::byte>(i).data() + lane * operand.width(), &value, operand.width());
  }
}

/// The type of operand i.
inline std::string type_of(const FloatOpcode& opcode, const OneInstruction& one, std::size_t i) {
  const std::string& last = opcode.type();
  const bool mixed = opcode.parts.size() > 2 && opcode.parts[opcode.parts.size() - 2] == "f32" &&
                     (opcode.name() == "add" || opcode.name() == "sub" || opcode.name() == "fma");
  return mixed && one.operands()[i].kind == 'w' ? "f32" : last;
}

inline void check_form(const Form& form, Expected expected, std::mt19937_64& random,
                       unsigned rounds) {
  const FloatOpcode opcode(form.key);
  OneInstruction one(form);
  const std::size_t count = one.operands().size();
  for (unsigned round = 0; round < rounds; ++round) {
    const std::uint32_t lanes = round % 3 == 2 ? static_cast<std::uint32_t>(random()) : all_lanes;
    std::vector<Inputs> inputs(warp_size, Inputs(count));
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      for (std::size_t i = 0; i < count; ++i) {
        const std::string type = type_of(opcode, one, i);
        set(one, i, lane, interesting_value(type, random));
        inputs[lane][i] = get(one, i, lane);
      }
    }
    one.run(lanes);
    for (unsigned lane = 0; lane < warp_size; ++lane) {
      const bool pair = count > 1 && one.operands()[1].paired;
      const std::uint64_t got = get(one, 0, lane) | (pair ? get(one, 1, lane) << 1 : 0);
      std::uint64_t want = inputs[lane][0] | (pair ? inputs[lane][1] << 1 : 0);
      if ((lanes >> lane & 1) != 0) {
        const auto known = expected(opcode, form, inputs[lane]);
        ASSERT_TRUE(known) << form.key << " " << form.signature << " is not tested";
        want = *known;
      }
      std::string operands;
      for (const std::uint64_t value : inputs[lane]) {
        char text[24];
        std::snprintf(text, sizeof text, " %llx", static_cast<unsigned long long>(value));
        operands += text;
      }
      ASSERT_EQ(got, want) << std::hex << form.key << operands << " gave " << got << ", not "
                           << want;
    }
  }
}

/// Tests an empty table for each ISA of this machine.
template <class Test>
void for_each_isa(Test test) {
  for (const Isa isa : available_isas()) {
    SCOPED_TRACE(name_of(isa));
    FormTable table;
    test(table, isa);
  }
}

inline void check_forms(const FormTable& table, Expected expected, unsigned rounds) {
  std::mt19937_64 random(20);
  for (const Form* form : table.all()) {
    check_form(*form, expected, random, rounds);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace cudacore::simulator::testing
