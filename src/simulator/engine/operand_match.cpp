// SPDX-License-Identifier: Apache-2.0
//
// The part of the decoder that finds the form that fits the operands.
#include <algorithm>
#include <string>

#include "simulator/engine/decoder.hpp"

namespace cudacore::simulator {

bool Decoder::is_result(const Operand& operand, std::size_t index, const Opcode& opcode) {
  return !opcode.traits.only_reads && (index == 0 || operand.paired);
}

int Decoder::cost_of_value(const Operand& operand, unsigned width, bool is_result) const {
  switch (operand.kind) {
    case Operand::Kind::reg: {
      const bool is_modified = !operand.name.empty() || operand.negated;
      if (is_predicate(operand.index) || (is_modified && opcode_->traits.video == 0))
        return mismatch;
      const unsigned actual = width_of(operand.index);
      if (actual == width) return 0;
      // Smaller values are extended to registers of up to 64 bits, and truncated from them.
      return opcode_->traits.converts && actual > width && actual <= 8 ? 1 : mismatch;
    }
    case Operand::Kind::blank:
      return is_result ? 0 : mismatch;
    case Operand::Kind::special:
    case Operand::Kind::symbol:
      return is_result ? mismatch : 1;
    case Operand::Kind::integer:
      return is_result || !opcode_->takes_integers ? mismatch : 1;
    case Operand::Kind::f32:
    case Operand::Kind::f64:
      return is_result || width < 4 ? mismatch : 1;
    case Operand::Kind::vector:
      return operand.elements.size() == 1 ? cost_of_value(operand.elements[0], width, is_result)
                                          : mismatch;
    default:
      return mismatch;
  }
}

int Decoder::cost_of_mask(const Operand& operand, bool is_result) const {
  switch (operand.kind) {
    case Operand::Kind::reg:
      return is_predicate(operand.index) && !(is_result && operand.negated) ? 0 : mismatch;
    case Operand::Kind::blank:
      return is_result ? 0 : mismatch;
    case Operand::Kind::integer:
    case Operand::Kind::special:
      return is_result ? mismatch : 1;
    default:
      return mismatch;
  }
}

int Decoder::cost_of(const Operand& operand, const Slot& slot, bool is_result) const {
  if (slot.count != 0) {
    const unsigned width = ImpliedInstructions::width_of(slot.kind);
    if (operand.kind != Operand::Kind::vector) {
      return slot.count == 1 ? cost_of_value(operand, width, is_result) : mismatch;
    }
    if (operand.elements.size() != slot.count) return mismatch;
    int sum = 0;
    for (const Operand& element : operand.elements) {
      const int cost = slot.kind == 'p' ? cost_of_mask(element, is_result)
                                        : cost_of_value(element, width, is_result);
      if (cost == mismatch) return mismatch;
      sum += cost;
    }
    return sum;
  }
  switch (slot.kind) {
    case 'p':
      return cost_of_mask(operand, is_result);
    case 'm':
    case 'n': {
      if (operand.kind != Operand::Kind::address || !operand.elements.empty()) return mismatch;
      if (operand.base != Operand::Base::reg) return slot.kind == 'm' ? 0 : 2;
      if (is_predicate(operand.index)) return mismatch;
      const unsigned width = width_of(operand.index);
      if (width == 4) return slot.kind == 'n' ? 0 : mismatch;
      if (width == 8) return slot.kind == 'm' ? 0 : 2;
      return mismatch;
    }
    case 'i':
      return operand.kind == Operand::Kind::integer ? 0 : mismatch;
    case 'l':
      return operand.kind == Operand::Kind::label && !operand.table && !operand.prototype
                 ? 0
                 : mismatch;
    default:
      return cost_of_value(operand, ImpliedInstructions::width_of(slot.kind), is_result);
  }
}

int Decoder::match_from(const Pattern& pattern, std::uint32_t slot, Operands operands,
                        std::uint32_t operand, Match& match) const {
  if (slot == pattern.size) return operand == operands.size() ? 0 : mismatch;
  const Slot& wanted = pattern.slots[slot];
  if (operand < operands.size() && operands[operand].paired == wanted.paired) {
    const Operand& actual = operands[operand];
    const int cost = cost_of(actual, wanted, is_result(actual, operand, *opcode_));
    if (cost != mismatch) {
      const int rest = match_from(pattern, slot + 1, operands, operand + 1, match);
      if (rest != mismatch) {
        match.operands[slot] = static_cast<std::int8_t>(operand);
        return cost + rest;
      }
    }
  }
  if (!wanted.optional && !wanted.paired) return mismatch;
  match.operands[slot] = -1;
  const int rest = match_from(pattern, slot + 1, operands, operand, match);
  match.operands[slot] = -1;
  return rest;
}

Decoder::Match Decoder::match(std::span<const Pattern> patterns, Operands operands) const {
  Match best;
  for (const Pattern& pattern : patterns) {
    Match now;
    now.pattern = &pattern;
    now.cost = match_from(pattern, 0, operands, 0, now);
    if (now.cost == mismatch || (best.cost != mismatch && best.cost <= now.cost)) continue;
    best = now;
    if (best.cost == 0) break;
  }
  return best;
}

/// Whether an operand is the name of a texture, a sampler or a surface.
bool Decoder::is_opaque(const Operand& operand) const {
  const bool is_name =
      operand.kind == Operand::Kind::symbol ||
      (operand.kind == Operand::Kind::address && operand.base == Operand::Base::symbol);
  if (!is_name || operand.variable_known) return false;
  const LinkedSymbol symbol =
      program_.linker.resolve(linked_.module, operand.name, operand.position);
  return symbol.kind == LinkedSymbol::Kind::variable &&
         program_.linker.variables()[symbol.index].source->opaque;
}

void Decoder::fail_match(std::span<const Pattern> patterns, Operands operands) const {
  for (const Operand& operand : operands) {
    if (is_opaque(operand)) fail_opaque(operand);
  }
  const std::string name = "'" + std::string(instruction_->opcode) + "'";
  // The pattern that fits the most operands from the first on shows where the mistake is.
  std::size_t furthest = 0;
  bool counts_fit = false;
  for (const Pattern& pattern : patterns) {
    if (pattern.size != operands.size()) continue;
    counts_fit = true;
    std::size_t fitting = 0;
    while (fitting < operands.size() && operands[fitting].paired == pattern.slots[fitting].paired &&
           cost_of(operands[fitting], pattern.slots[fitting],
                   is_result(operands[fitting], fitting, *opcode_)) != mismatch) {
      ++fitting;
    }
    furthest = std::max(furthest, fitting);
  }
  if (!counts_fit || furthest == operands.size()) {
    fail(LoadError::Kind::syntax, instruction_->position,
         "the operands of " + name + " do not fit");
  }
  const Operand& operand = operands[furthest];
  std::string what;
  if (operand.kind == Operand::Kind::reg) {
    const ptx::Register& reg = source_.registers[operand.index];
    what = ", a register of type ." + std::string(ptx::name_of(reg.type)) + ",";
  } else if (operand.kind == Operand::Kind::address && operand.base == Operand::Base::reg &&
             !is_predicate(operand.index)) {
    what = ", an address of " + std::to_string(8 * width_of(operand.index)) + " bits,";
  }
  fail(LoadError::Kind::syntax, operand.position,
       "operand " + std::to_string(furthest + 1) + " of " + name + what + " does not fit");
}

}  // namespace cudacore::simulator
