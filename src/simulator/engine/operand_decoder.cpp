// SPDX-License-Identifier: Apache-2.0
//
// The part of the decoder that turns operands into rows, masks and addresses.
#include <bit>
#include <optional>

#include "simulator/engine/decoder.hpp"
#include "simulator/engine/video_selectors.hpp"

namespace cudacore::simulator {
namespace {

constexpr std::string_view warp_size_name = "WARP_SZ";

}  // namespace

void Decoder::bind(const Match& match, Operands operands, Instruction& to) {
  unsigned addresses = 0;
  for (std::uint32_t i = 0; i < match.pattern->size; ++i) {
    const Slot& slot = match.pattern->slots[i];
    if (match.operands[i] < 0) {
      if (slot.paired) to.op[i] = slot.kind == 'p' ? sink_mask : rows_.sink();
      continue;
    }
    const auto index = static_cast<std::size_t>(match.operands[i]);
    const Operand& operand = operands[index];
    const bool written = is_result(operand, index, *opcode_);
    if (slot.count != 0) {
      bind_vector(operand, slot, written, to.op[i]);
      continue;
    }
    switch (slot.kind) {
      case 'p': {
        const std::uint32_t mask = written ? result_mask(operand) : source_mask(operand);
        if (i < to.op.size()) {
          to.op[i] = mask;
        } else {
          to.imm = mask;
        }
        break;
      }
      case 'm':
      case 'n':
        bind_address(operand, slot.kind, addresses++, to.op[i], to);
        break;
      case 'i':
        to.op[i] = static_cast<std::uint32_t>(operand.bits);
        break;
      case 'l':
        labels_.emplace_back(out_.code.size(), operand.index);
        break;
      default: {
        const unsigned width = ImpliedInstructions::width_of(slot.kind);
        to.op[i] = written ? result(operand, width) : source(operand, width);
      }
    }
  }
  if (opcode_->traits.video == 0) return;
  const std::optional<std::uint32_t> modifiers = video_modifiers(opcode_->traits.video, operands);
  if (!modifiers) {
    fail(LoadError::Kind::syntax, instruction_->position,
         "a selector that '" + std::string(instruction_->opcode) + "' does not take");
  }
  to.imm2 = static_cast<std::int32_t>(*modifiers);
}

void Decoder::bind_vector(const Operand& operand, const Slot& slot, bool is_result,
                          std::uint32_t& to) {
  const Operands elements =
      operand.kind == Operand::Kind::vector ? operand.elements : Operands{&operand, 1};
  const unsigned width = ImpliedInstructions::width_of(slot.kind);
  to = static_cast<std::uint32_t>(out_.lists.size());
  for (const Operand& element : elements) {
    std::uint32_t row = 0;
    if (slot.kind == 'p') {
      row = is_result ? result_mask(element) : source_mask(element);
    } else {
      row = is_result ? result(element, width) : source(element, width);
    }
    out_.lists.push_back(row);
  }
}

void Decoder::bind_address(const Operand& operand, char kind, unsigned nth, std::uint32_t& row,
                           Instruction& to) {
  const unsigned width = kind == 'm' ? 8 : 4;
  Address address;
  if (operand.base == Operand::Base::reg) {
    address.row = resized(rows_.of(operand.index), width_of(operand.index), width);
    address.offset = static_cast<std::uint64_t>(operand.offset);
  } else if (operand.base == Operand::Base::symbol) {
    address = address_of(operand, width);
  } else {
    address.offset = static_cast<std::uint64_t>(operand.offset);
  }
  if (nth == 0) {
    row = address.row != no_operand ? address.row : rows_.constant(width, 0);
    to.imm = address.offset;
    return;
  }
  if (address.row == no_operand) {
    row = rows_.constant(width, address.offset);
    return;
  }
  row = address.row;
  if (nth > 1) {
    if (address.offset != 0) row = sum(row, rows_.constant(width, address.offset), width);
    return;
  }
  to.imm2 = static_cast<std::int32_t>(address.offset);
  if (static_cast<std::uint64_t>(std::int64_t{to.imm2}) != address.offset) {
    fail(LoadError::Kind::syntax, operand.position, "an offset of more than 32 bits");
  }
}

std::uint32_t Decoder::sum(std::uint32_t a, std::uint32_t b, unsigned width) {
  const std::uint32_t to = rows_.temporary(width);
  Instruction& instruction = emit(width == 8 ? program_.implied.find("add.u64", "xxx")
                                             : program_.implied.find("add.u32", "www"));
  instruction.op[0] = to;
  instruction.op[1] = a;
  instruction.op[2] = b;
  return to;
}

std::uint32_t Decoder::resized(std::uint32_t from, unsigned from_width, unsigned to_width) {
  if (from_width == to_width) return from;
  const std::uint32_t to = rows_.temporary(to_width);
  Instruction& instruction =
      emit(program_.implied.resize(opcode_->is_signed, to_width, from_width));
  instruction.op[0] = to;
  instruction.op[1] = from;
  return to;
}

std::uint32_t Decoder::source(const Operand& operand, unsigned width) {
  switch (operand.kind) {
    case Operand::Kind::reg:
      return resized(rows_.of(operand.index), width_of(operand.index), width);
    case Operand::Kind::special:
      return special(operand, width);
    case Operand::Kind::symbol:
      return row_of_address(operand, width);
    case Operand::Kind::vector:
      return source(operand.elements.front(), width);
    default:
      return rows_.constant(width, literal(operand, width));
  }
}

std::uint32_t Decoder::result(const Operand& operand, unsigned width) {
  if (operand.kind == Operand::Kind::blank) return rows_.sink();
  if (operand.kind == Operand::Kind::vector) return result(operand.elements.front(), width);
  const std::uint32_t row = rows_.of(operand.index);
  const unsigned actual = width_of(operand.index);
  if (actual == width) return row;
  const std::uint32_t narrow = rows_.temporary(width);
  resizes_.push_back({actual, row, width, narrow});
  return narrow;
}

std::uint64_t Decoder::literal(const Operand& operand, unsigned width) const {
  if (operand.kind == Operand::Kind::f32 && width == 8) {
    return std::bit_cast<std::uint64_t>(
        double{std::bit_cast<float>(static_cast<std::uint32_t>(operand.bits))});
  }
  if (operand.kind == Operand::Kind::f64 && width == 4) {
    return std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(operand.bits)));
  }
  return operand.bits;
}

std::uint32_t Decoder::special(const Operand& operand, unsigned width) {
  if (operand.name == warp_size_name) return rows_.constant(width, warp_size);
  if (operand.name == reserved_shared_name) {
    return rows_.constant(width, program_.shared.reserved_begin());
  }
  for (const unsigned actual : {width, width == 8 ? 4u : 8u, 4u}) {
    const Handler run =
        program_.implied.find_special(operand.name, ImpliedInstructions::kind_of(actual));
    if (run == nullptr) continue;
    const std::uint32_t row = rows_.temporary(actual);
    emit(run).op[0] = row;
    return resized(row, actual, width);
  }
  fail(LoadError::Kind::not_simulated, operand.position,
       "the register '" + std::string(operand.name) + "' is not simulated");
}

std::uint32_t Decoder::source_mask(const Operand& operand) {
  std::uint32_t mask = true_mask;
  if (operand.kind == Operand::Kind::integer) {
    mask = rows_.mask(operand.bits != 0);
  } else if (operand.kind == Operand::Kind::special) {
    const Handler run = program_.implied.find_special(operand.name, 'p');
    if (run == nullptr) {
      fail(LoadError::Kind::not_simulated, operand.position,
           "the register '" + std::string(operand.name) + "' is not simulated");
    }
    mask = rows_.temporary_mask();
    emit(run).op[0] = mask;
  } else {
    mask = rows_.of(operand.index);
  }
  if (!operand.negated) return mask;
  const std::uint32_t negated = rows_.temporary_mask();
  Instruction& to = emit(program_.implied.negate_mask());
  to.op[0] = negated;
  to.op[1] = mask;
  return negated;
}

std::uint32_t Decoder::result_mask(const Operand& operand) {
  return operand.kind == Operand::Kind::blank ? sink_mask : rows_.of(operand.index);
}

Decoder::Address Decoder::address_of(const Operand& operand, unsigned width) {
  const auto offset = static_cast<std::uint64_t>(operand.offset);
  const std::span<const LinkedVariable> variables = program_.linker.variables();
  if (operand.variable_known) {
    const std::uint32_t linked = linked_.variables[operand.index];
    return linked == no_index ? address_of_own(operand, width)
                              : address_of_linked(variables[linked], offset, width);
  }
  const LinkedSymbol symbol =
      program_.linker.resolve(linked_.module, operand.name, operand.position);
  switch (symbol.kind) {
    case LinkedSymbol::Kind::function:
      return {no_operand,
              reinterpret_cast<std::uint64_t>(program_.functions[symbol.index].get()) + offset};
    case LinkedSymbol::Kind::variable:
      if (variables[symbol.index].source->opaque) fail_opaque(operand);
      return address_of_linked(variables[symbol.index], offset, width);
    default:
      fail(LoadError::Kind::not_simulated, operand.position,
           "a pointer to '" + std::string(operand.name) + "' is not simulated");
  }
}

void Decoder::fail_opaque(const Operand& operand) const {
  fail(LoadError::Kind::not_simulated, operand.position,
       "the texture, sampler or surface '" + std::string(operand.name) + "' is not simulated");
}

Decoder::Address Decoder::address_of_linked(const LinkedVariable& variable, std::uint64_t offset,
                                            unsigned width) {
  if (!variable.dynamic) return {no_operand, variable.address + offset};
  const std::uint32_t begin = program_.shared.dynamic_begin(index_);
  if (begin != 0) return {no_operand, begin + offset};
  const std::uint32_t row = rows_.temporary(width);
  emit(program_.implied.find("special.dynamic_shared",
                             std::string{ImpliedInstructions::kind_of(width)}))
      .op[0] = row;
  return {row, offset};
}

/// The address of a variable of the function: in local memory, or a parameter.
Decoder::Address Decoder::address_of_own(const Operand& operand, unsigned width) {
  const ptx::Variable& variable = source_.variables[operand.index];
  const auto offset = static_cast<std::uint64_t>(operand.offset);
  const bool is_parameter = variable.space == ptx::Space::param;
  const std::string kind{ImpliedInstructions::kind_of(width)};
  const std::uint32_t row = rows_.temporary(width);
  if (is_parameter && source_.is_entry && operand.index < source_.parameters.size()) {
    emit(program_.implied.find("special.%param_base", kind)).op[0] = row;
    return {row, offset + out_.parameters[operand.index].offset};
  }
  if (is_parameter && (source_.is_entry || operand.index >= source_.parameters.size())) {
    fail(LoadError::Kind::not_simulated, operand.position,
         "the address of '" + std::string(variable.name) + "' is not simulated");
  }
  Instruction& to = emit(program_.implied.find("special.local", kind));
  to.op[0] = row;
  to.imm = local_offsets_[operand.index];
  return {row, offset};
}

std::uint32_t Decoder::row_of_address(const Operand& operand, unsigned width) {
  if (width != 4 && width != 8) {
    fail(LoadError::Kind::syntax, operand.position, "an address has 32 or 64 bits");
  }
  const Address address = address_of(operand, width);
  if (address.row == no_operand) return rows_.constant(width, address.offset);
  if (address.offset == 0) return address.row;
  const std::uint32_t sum = rows_.temporary(width);
  const std::uint32_t offset = rows_.constant(width, address.offset);
  Instruction& to = emit(program_.implied.find(width == 8 ? "add.u64" : "add.u32"));
  to.op[0] = sum;
  to.op[1] = address.row;
  to.op[2] = offset;
  return sum;
}

}  // namespace cudacore::simulator
