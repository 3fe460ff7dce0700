// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/modifier_order.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace cudacore::simulator {
namespace {

using Name = std::pair<std::string_view, std::string_view>;

/// Words that are part of an instruction's name if they immediately follow it, each with a blank on
/// either side.
constexpr auto names = std::to_array<Name>({
    {"bar", " cta warp arrive red "},
    {"barrier", " cta cluster arrive red wait "},
    {"brx", " idx "},
    {"clmad", " lo hi "},
    {"cp", " async bulk tensor reduce prefetch commit_group wait_group wait_all mbarrier arrive "},
    {"createpolicy", " range fractional cvt "},
    {"cvt", " pack "},
    {"cvta", " to "},
    {"div", " full "},
    {"dp2a", " lo hi "},
    {"fence", " proxy "},
    {"mad", " lo hi wide "},
    {"mad24", " lo hi "},
    {"madc", " lo hi "},
    {"mbarrier",
     " init inval arrive arrive_drop expect_tx complete_tx test_wait try_wait parity "
     "pending_count "},
    {"membar", " proxy "},
    {"mul", " lo hi wide "},
    {"mul24", " lo hi "},
    {"red", " async "},
    {"setmaxnreg", " inc dec "},
    {"shf", " l r "},
    {"st", " async "},
    {"suld", " b "},
    {"sust", " b p "},
    {"tex", " base level grad "},
    {"tld4", " r g b a "},
    {"txq", " level "},
    {"wmma", " load store mma a b c d "},
});
static_assert(std::ranges::is_sorted(names, {}, &Name::first));

/// Kinds whose modifiers keep their relative order.
enum class Kind : std::uint8_t { other, space, layout, operation, type };

/// "u32", "bf16x2", "e4m3x2", "b6x16_p32"
bool is_type(std::string_view word) noexcept {
  constexpr std::string_view digits = "0123456789";
  const std::size_t letters = word.find_first_of(digits);
  if (letters == std::string_view::npos) return word == "pred";
  const std::string_view prefix = word.substr(0, letters);
  constexpr auto prefixes =
      std::to_array<std::string_view>({"b", "u", "s", "f", "bf", "tf", "e", "ue"});
  return digits.find(word.back()) != std::string_view::npos &&
         std::ranges::find(prefixes, prefix) != prefixes.end();
}

Kind kind_of(std::string_view word) noexcept {
  constexpr auto spaces =
      std::to_array<std::string_view>({"global", "shared", "local", "const", "param"});
  constexpr auto layouts = std::to_array<std::string_view>({"row", "col"});
  constexpr auto operations = std::to_array<std::string_view>({"and", "or", "xor", "popc"});
  const auto is_one_of = [](const auto& words, std::string_view one) {
    return std::ranges::find(words, one) != words.end();
  };
  if (is_one_of(spaces, word.substr(0, word.find(':')))) return Kind::space;
  if (is_one_of(layouts, word)) return Kind::layout;
  if (is_one_of(operations, word)) return Kind::operation;
  return is_type(word) ? Kind::type : Kind::other;
}

bool comes_before(std::string_view a, std::string_view b) noexcept {
  const Kind first = kind_of(a);
  const Kind second = kind_of(b);
  return first != second ? first < second : first == Kind::other && a < b;
}

bool is_listed(std::string_view words, std::string_view word) noexcept {
  for (std::size_t at = 0; (at = words.find(word, at)) != std::string_view::npos; ++at) {
    if (words[at - 1] == ' ' && words[at + word.size()] == ' ') return true;
  }
  return false;
}

}  // namespace

std::string_view name_of_instruction(std::string_view opcode) noexcept {
  std::size_t end = std::min(opcode.find('.'), opcode.size());
  const auto name = std::ranges::lower_bound(names, opcode.substr(0, end), {}, &Name::first);
  if (name == names.end() || name->first != opcode.substr(0, end)) return opcode.substr(0, end);
  while (end < opcode.size()) {
    const std::size_t next = std::min(opcode.find('.', end + 1), opcode.size());
    const std::string_view word = opcode.substr(end + 1, next - end - 1);
    if (word.empty() || !is_listed(name->second, word)) break;
    end = next;
  }
  return opcode.substr(0, end);
}

std::string in_one_order(std::string_view key) {
  // A blank ends the name: "mul.u32.wide" is not "mul.wide.u32".
  std::string result(name_of_instruction(key));
  std::vector<std::string_view> modifiers;
  for (std::size_t at = result.size(); at < key.size();) {
    const std::size_t dot = std::min(key.find('.', at + 1), key.size());
    modifiers.push_back(key.substr(at + 1, dot - at - 1));
    at = dot;
  }
  std::stable_sort(modifiers.begin(), modifiers.end(), comes_before);
  char separator = ' ';
  for (const std::string_view modifier : modifiers) {
    (result += std::exchange(separator, '.')) += modifier;
  }
  return result;
}

}  // namespace cudacore::simulator
