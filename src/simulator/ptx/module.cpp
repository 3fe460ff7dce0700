// SPDX-License-Identifier: Apache-2.0
#include "simulator/ptx/module.hpp"

#include <array>

namespace cudacore::simulator::ptx {
namespace {

struct TypeFacts {
  std::string_view name;
  unsigned size;
};

constexpr auto facts = std::to_array<TypeFacts>({
    {"pred", 0}, {"b8", 1},    {"b16", 2},  {"b32", 4},    {"b64", 8}, {"b128", 16}, {"u8", 1},
    {"u16", 2},  {"u32", 4},   {"u64", 8},  {"s8", 1},     {"s16", 2}, {"s32", 4},   {"s64", 8},
    {"f16", 2},  {"f16x2", 4}, {"bf16", 2}, {"bf16x2", 4}, {"f32", 4}, {"f64", 8},
});
static_assert(facts.size() == static_cast<std::size_t>(Type::f64) + 1);

}  // namespace

SyntaxError::SyntaxError(Position position, const std::string& message)
    : std::runtime_error("line " + std::to_string(position.line) + ", column " +
                         std::to_string(position.column) + ": " + message),
      position_(position) {}

unsigned size_of(Type type) noexcept { return facts[static_cast<std::size_t>(type)].size; }

std::string_view name_of(Type type) noexcept { return facts[static_cast<std::size_t>(type)].name; }

}  // namespace cudacore::simulator::ptx
