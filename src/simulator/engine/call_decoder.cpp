// SPDX-License-Identifier: Apache-2.0
//
// The part of the decoder that passes parameters and results.
#include "simulator/engine/decoder.hpp"

namespace cudacore::simulator {

/// The parts of a call.
struct Decoder::CallParts {
  Operands results;
  const Operand* target = nullptr;
  Operands arguments;
  const Operand* prototype = nullptr;
};

void Decoder::access_frame(const Region& region, std::int64_t offset, Operands value) {
  const Match found = match(opcode_->in_frame, value);
  if (found.cost == mismatch) fail_match(opcode_->in_frame, value);
  const Slot& slot = found.pattern->slots[0];
  const std::uint64_t bytes =
      std::uint64_t{ImpliedInstructions::width_of(slot.kind)} * (slot.count == 0 ? 1 : slot.count);
  if (offset < 0 || static_cast<std::uint64_t>(offset) + bytes > region.stride) {
    fail(LoadError::Kind::syntax, instruction_->position,
         "'" + std::string(instruction_->opcode) + "' goes past the end of a parameter of " +
             std::to_string(region.size) + " bytes");
  }
  Instruction decoded;
  bind(found, value, decoded);
  Instruction& to = emit(found.pattern->run);
  to.op = decoded.op;
  to.imm = region.at + static_cast<std::uint64_t>(offset);
  to.imm2 = static_cast<std::int32_t>(region.stride);
}

void Decoder::decode_parameter_access() {
  const Operands operands = instruction_->operands;
  const bool is_load = opcode_->traits.role == Role::load_param;
  const bool fits = operands.size() == 2 &&
                    operands[is_load ? 1 : 0].kind == Operand::Kind::address &&
                    operands[is_load ? 1 : 0].elements.empty();
  if (!fits) fail_match(opcode_->patterns, operands);
  const Operand& address = operands[is_load ? 1 : 0];
  if (address.base == Operand::Base::reg) {
    if (width_of(address.index) != 8) fail_match(opcode_->patterns, operands);
    return decode_plain(source_.is_entry ? opcode_->elsewhere : opcode_->in_local, operands);
  }
  const bool names_parameter = address.base == Operand::Base::symbol && address.variable_known &&
                               source_.variables[address.index].space == ptx::Space::param;
  if (!names_parameter) {
    fail(LoadError::Kind::syntax, address.position,
         "'" + std::string(instruction_->opcode) + "' takes a parameter's address");
  }
  if (!source_.is_entry || address.index >= source_.parameters.size()) {
    return access_frame(regions_.of(address.index), address.offset,
                        operands.subspan(is_load ? 0 : 1, 1));
  }
  const ParameterLayout& parameter = out_.parameters[address.index];
  const Match found = match(opcode_->patterns, operands);
  if (found.cost == mismatch) fail_match(opcode_->patterns, operands);
  Operand absolute = address;
  absolute.base = Operand::Base::none;
  absolute.offset += static_cast<std::int64_t>(parameter.offset);
  const std::array<Operand, 2> changed{is_load ? operands[0] : absolute,
                                       is_load ? absolute : operands[1]};
  decode_plain(opcode_->patterns, changed);
}

void Decoder::move_frame(bool is_store, unsigned width, std::uint32_t row, std::uint32_t at,
                         std::uint32_t stride) {
  Instruction& to = emit(program_.implied.frame_access(is_store, width));
  to.op[0] = row;
  to.imm = at;
  to.imm2 = static_cast<std::int32_t>(stride);
}

/// Before the first instruction: parameters that are registers, and local memory for parameters
/// whose address is taken.
void Decoder::copy_parameters() {
  if (source_.is_entry) return;
  for (std::uint32_t i = 0; i < source_.parameters.size(); ++i) {
    const ptx::Variable& parameter = source_.parameters[i];
    if (!parameter.in_register) continue;
    const unsigned width = ptx::size_of(parameter.type);
    const Region& region = regions_.of(i);
    for (unsigned element = 0; element < parameter.vector; ++element) {
      move_frame(false, width, rows_.of(source_.variables[i].index + element),
                 region.at + element * width, region.stride);
    }
  }
  for (const std::uint32_t index : regions_.pointed_at()) {
    const Region& region = regions_.of(index);
    const std::uint32_t address = rows_.temporary(8);
    Instruction& local = emit(program_.implied.find("special.local", "x"));
    local.op[0] = address;
    local.imm = local_offsets_[index];
    for (std::uint32_t at = 0; at < region.size;) {
      const std::uint32_t width = region.size - at >= 4 ? 4 : 1;
      const std::uint32_t row = rows_.temporary(width);
      move_frame(false, width, row, region.at + at, region.stride);
      Instruction& store = emit(program_.implied.find(width == 4 ? "st.local.b32" : "st.local.b8",
                                                      width == 4 ? "mw" : "mb"));
      store.op[0] = address;
      store.op[1] = row;
      store.imm = at;
      at += width;
      rows_.release();
      static_cast<void>(rows_.temporary(8));
    }
    rows_.release();
  }
}

/// Before a return: results that are registers.
void Decoder::store_results() {
  const auto first = static_cast<std::uint32_t>(source_.parameters.size());
  for (std::uint32_t i = 0; i < source_.results.size(); ++i) {
    const ptx::Variable& result = source_.results[i];
    if (!result.in_register) continue;
    const unsigned width = ptx::size_of(result.type);
    const Region& region = regions_.of(first + i);
    for (unsigned element = 0; element < result.vector; ++element) {
      move_frame(true, width, rows_.of(source_.variables[first + i].index + element),
                 region.at + element * width, region.stride);
    }
  }
}

Decoder::CallParts Decoder::split_call() const {
  CallParts parts;
  const Operands operands = instruction_->operands;
  std::size_t at = 0;
  if (at < operands.size() && operands[at].kind == Operand::Kind::list) {
    parts.results = operands[at++].elements;
  }
  if (at < operands.size()) parts.target = &operands[at++];
  if (at < operands.size() && operands[at].kind == Operand::Kind::list) {
    parts.arguments = operands[at++].elements;
  }
  if (at < operands.size() && operands[at].kind == Operand::Kind::label) {
    parts.prototype = &operands[at++];
  }
  const bool fits =
      at == operands.size() && parts.target != nullptr &&
      (parts.target->kind == Operand::Kind::symbol || parts.target->kind == Operand::Kind::reg);
  if (!fits) {
    fail(LoadError::Kind::syntax, instruction_->position, "the operands of 'call' do not fit");
  }
  return parts;
}

/// Adds the regions of arguments or results to the call's list, and stores arguments that are in
/// registers.
void Decoder::add_arguments(Operands actual, std::span<const ptx::Variable> formal, bool is_known,
                            bool are_results, std::uint32_t& scratch) {
  if (!is_known && actual.size() != formal.size()) {
    fail(LoadError::Kind::syntax, instruction_->position,
         "the call passes " + std::to_string(actual.size()) +
             (are_results ? " results" : " arguments") + "; the function has " +
             std::to_string(formal.size()));
  }
  out_.lists.push_back(static_cast<std::uint32_t>(actual.size()));
  std::uint32_t callee_at = 0;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    const Operand& operand = actual[i];
    Region region;
    const bool in_region = operand.kind == Operand::Kind::symbol && operand.variable_known &&
                           source_.variables[operand.index].space == ptx::Space::param;
    if (in_region) {
      region = regions_.of(operand.index);
    } else {
      region = regions_.scratch(scratch++);
      const std::size_t wanted = is_known ? sizeof(std::uint64_t) : parameter_size(formal[i]);
      const unsigned width =
          operand.kind == Operand::Kind::reg ? width_of(operand.index) : unsigned(wanted);
      const bool fits =
          ImpliedInstructions::width_of(ImpliedInstructions::kind_of(width)) == wanted &&
          cost_of_value(operand, width, are_results) != mismatch;
      if (!fits) {
        fail(LoadError::Kind::syntax, operand.position,
             (are_results ? "result " : "argument ") + std::to_string(i + 1) +
                 " of the call does not fit");
      }
      region.size = static_cast<std::uint32_t>(wanted);
      if (!are_results) move_frame(true, width, source(operand, width), region.at, region.stride);
    }
    const std::uint32_t stride =
        is_known ? region.stride : parameter_stride(parameter_size(formal[i]));
    if (stride != region.stride) {
      fail(LoadError::Kind::syntax, operand.position,
           (are_results ? "result " : "argument ") + std::to_string(i + 1) + " of the call has " +
               std::to_string(region.size) + " bytes; the function's has " +
               std::to_string(parameter_size(formal[i])));
    }
    if (are_results) {
      out_.lists.insert(out_.lists.end(), {callee_at, region.at, stride, region.size});
    } else {
      out_.lists.insert(out_.lists.end(), {region.at, callee_at, stride});
    }
    callee_at += stride * warp_size;
  }
}

void Decoder::decode_call() {
  const CallParts parts = split_call();
  std::span<const ptx::Variable> parameters;
  std::span<const ptx::Variable> results;
  std::uint64_t callee = 0;
  std::uint32_t pointer = no_operand;
  std::string key = "call";
  bool is_known = false;
  if (parts.target->kind == Operand::Kind::symbol) {
    const LinkedSymbol symbol =
        program_.linker.resolve(linked_.module, parts.target->name, parts.target->position);
    if (symbol.kind == LinkedSymbol::Kind::known) {
      is_known = true;
      key += '.';
      key += parts.target->name;
    } else if (symbol.kind == LinkedSymbol::Kind::function) {
      const ptx::Function& function = *program_.linker.functions()[symbol.index].source;
      if (function.is_entry) {
        fail(LoadError::Kind::syntax, parts.target->position,
             "'" + std::string(parts.target->name) + "' is a kernel: it can't be called");
      }
      parameters = function.parameters;
      results = function.results;
      callee = reinterpret_cast<std::uint64_t>(program_.functions[symbol.index].get());
    } else {
      fail(LoadError::Kind::syntax, parts.target->position,
           "'" + std::string(parts.target->name) + "' is not a function");
    }
  } else {
    if (parts.prototype == nullptr || !parts.prototype->prototype) {
      fail(LoadError::Kind::not_simulated, instruction_->position,
           "a call of a pointer without a .callprototype is not simulated");
    }
    const ptx::Prototype& prototype = source_.prototypes[parts.prototype->index];
    parameters = prototype.parameters;
    results = prototype.results;
    key = "call.indirect";
    if (width_of(parts.target->index) < 4) {
      fail(LoadError::Kind::syntax, parts.target->position, "a pointer has 32 or 64 bits");
    }
    pointer = resized(rows_.of(parts.target->index), width_of(parts.target->index), 8);
  }
  const Handler run = program_.implied.find(key);
  // Arguments in registers are stored first; what they add to the list stays in order.
  const auto list = static_cast<std::uint32_t>(out_.lists.size());
  std::uint32_t scratch = 0;
  add_arguments(parts.arguments, parameters, is_known, false, scratch);
  const std::uint32_t first_result = scratch;
  add_arguments(parts.results, results, is_known, true, scratch);
  Instruction& to = emit(run);
  to.op[0] = list;
  to.op[1] = pointer;
  to.imm = callee;
  std::uint32_t number = first_result;
  for (const Operand& operand : parts.results) {
    if (operand.kind == Operand::Kind::symbol) continue;
    const Region region = regions_.scratch(number++);
    if (operand.kind != Operand::Kind::reg) continue;
    move_frame(false, width_of(operand.index), rows_.of(operand.index), region.at, region.stride);
  }
}

}  // namespace cudacore::simulator
