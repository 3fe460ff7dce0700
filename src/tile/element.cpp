// SPDX-License-Identifier: Apache-2.0
#include "tile/element.hpp"

#include <algorithm>
#include <array>

namespace cudacore::tile {
namespace {

enum class Family { boolean, signed_integer, unsigned_integer, floating };

struct Facts {
  std::string_view name;
  int bits = 0;
  Family family = Family::floating;
};

constexpr std::array<Facts, 19> element_facts = {{
    {"i1", 1, Family::boolean},
    {"i8", 8, Family::signed_integer},
    {"i16", 16, Family::signed_integer},
    {"i32", 32, Family::signed_integer},
    {"i64", 64, Family::signed_integer},
    {"u8", 8, Family::unsigned_integer},
    {"u16", 16, Family::unsigned_integer},
    {"u32", 32, Family::unsigned_integer},
    {"u64", 64, Family::unsigned_integer},
    {"f16", 16},
    {"bf16", 16},
    {"tf32", 32},
    {"f32", 32},
    {"f64", 64},
    {"e4m3", 8},
    {"e5m2", 8},
    {"e8m0", 8},
    {"e5m3", 8},
    {"e2m1", 4},
}};

const Facts& facts(Element element) { return element_facts.at(static_cast<std::size_t>(element)); }

}  // namespace

std::string_view name(Element element) { return facts(element).name; }

std::optional<Element> element_named(std::string_view name) {
  const auto found = std::find_if(element_facts.begin(), element_facts.end(),
                                  [&](const Facts& fact) { return fact.name == name; });
  if (found == element_facts.end()) return std::nullopt;
  return static_cast<Element>(found - element_facts.begin());
}

int bits(Element element) { return facts(element).bits; }
int bytes(Element element) { return std::max(1, facts(element).bits / 8); }
bool is_float(Element element) { return facts(element).family == Family::floating; }
bool is_signed(Element element) { return facts(element).family == Family::signed_integer; }
bool is_integer(Element element) { return !is_float(element); }
bool is_small_float(Element element) {
  return is_float(element) && element != Element::f32 && element != Element::f64;
}

}  // namespace cudacore::tile
