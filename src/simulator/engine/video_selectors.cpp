// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/video_selectors.hpp"

#include <algorithm>
#include <array>

namespace cudacore::simulator {
namespace {

using ptx::Operand;

std::optional<std::uint32_t> scalar_modifiers(std::span<const Operand> operands) noexcept {
  constexpr auto selectors =
      std::to_array<std::string_view>({"", "b0", "b1", "b2", "b3", "h0", "h1"});
  std::uint32_t modifiers = 0;
  for (std::size_t i = 0; i < operands.size() && i < 4; ++i) {
    const auto found = std::find(selectors.begin(), selectors.end(), operands[i].name);
    const bool is_register = operands[i].kind == Operand::Kind::reg;
    if (is_register && found == selectors.end()) return std::nullopt;
    auto code = is_register ? static_cast<std::uint32_t>(found - selectors.begin()) : 0u;
    if (operands[i].negated) code |= 8;
    modifiers |= code << (4 * i);
  }
  return modifiers;
}

/// The elements of a selector in the form "h10", lowest first.
struct Chosen {
  std::array<std::uint32_t, 4> elements{};
  std::size_t count = 0;
};

std::optional<Chosen> chosen_by(std::string_view selector, unsigned elements) noexcept {
  const char unit = elements == 2 ? 'h' : 'b';
  if (selector.front() != unit || selector.size() - 1 > elements) return std::nullopt;
  Chosen chosen;
  for (std::size_t i = selector.size() - 1; i > 0; --i) {
    const auto element = static_cast<std::uint32_t>(selector[i] - '0');
    if (element >= 2 * elements) return std::nullopt;
    chosen.elements[chosen.count++] = element;
  }
  return chosen;
}

std::optional<std::uint32_t> simd_modifiers(unsigned elements,
                                            std::span<const Operand> operands) noexcept {
  std::uint32_t modifiers = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (operands[i].negated) return std::nullopt;
    if (operands[i].kind != Operand::Kind::reg || operands[i].name.empty()) continue;
    const std::optional<Chosen> chosen = chosen_by(operands[i].name, elements);
    if (!chosen || i > 2) return std::nullopt;
    if (i == 0) {
      std::uint32_t written = 0;
      for (std::size_t k = 0; k < chosen->count; ++k) written |= 1u << chosen->elements[k];
      if (written >> elements != 0) return std::nullopt;
      modifiers |= ~written & ((1u << elements) - 1);
      continue;
    }
    if (chosen->count != elements) return std::nullopt;
    const std::uint32_t first = i == 1 ? 0 : elements;
    const unsigned from = i == 1 ? 4 : 16;
    for (std::uint32_t k = 0; k < elements; ++k) {
      modifiers |= (chosen->elements[k] ^ (first + k)) << (from + 3 * k);
    }
  }
  return modifiers;
}

}  // namespace

std::optional<std::uint32_t> video_modifiers(unsigned elements,
                                             std::span<const Operand> operands) noexcept {
  return elements == 1 ? scalar_modifiers(operands) : simd_modifiers(elements, operands);
}

}  // namespace cudacore::simulator
