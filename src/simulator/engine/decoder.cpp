// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/decoder.hpp"

#include <algorithm>

#include "simulator/memory/round_up.hpp"

namespace cudacore::simulator {
namespace {

/// Registers that every thread needs on a GPU, and the maximum per thread.
constexpr std::uint32_t extra_registers = 6;
constexpr std::uint32_t fewest_registers = 8;
constexpr std::uint32_t most_registers = 255;
/// The maximum size of a kernel's parameters in bytes.
constexpr std::size_t most_parameters = 32764;

std::vector<const Opcode*> opcodes_of(const ptx::Function& function, Opcodes& opcodes) {
  std::vector<const Opcode*> result;
  result.reserve(function.instructions.size());
  for (const ptx::Instruction& instruction : function.instructions) {
    result.push_back(&opcodes.find(instruction.opcode));
  }
  return result;
}

Rows rows_of(const ptx::Function& function, std::span<const Opcode* const> opcodes,
             const std::vector<bool>& targets) {
  return {function.registers, lives_of(function, opcodes, targets), function.instructions.size()};
}

}  // namespace

Decoder::Decoder(const LinkedProgram& program, std::uint32_t index)
    : Decoder(program, index, targets_of(*program.linker.functions()[index].source)) {}

Decoder::Decoder(const LinkedProgram& program, std::uint32_t index,
                 const std::vector<bool>& targets)
    : program_(program),
      index_(index),
      linked_(program.linker.functions()[index]),
      source_(*linked_.source),
      module_(program.linker.module(linked_.module)),
      out_(*program.functions[index]),
      opcodes_(opcodes_of(source_, program.opcodes)),
      regions_(source_, targets),
      rows_(rows_of(source_, opcodes_, targets)) {}

void Decoder::decode() {
  lay_out();
  begin();
  decode_instructions();
  finish();
}

void Decoder::lay_out() {
  lay_out_parameters();
  lay_out_locals();
  const std::uint32_t parameters = rows_.reserve(regions_.parameter_bytes());
  const std::uint32_t results = rows_.reserve(regions_.result_bytes());
  regions_.place(parameters, results, rows_.reserve(regions_.body_bytes()));
  out_.sink = rows_.sink();
  out_.constants_begin = rows_.constants_begin();
  out_.parameters_at = parameters;
  out_.results_at = results;
  out_.result_bytes = regions_.result_bytes() / warp_size;
  out_.registers = std::clamp(rows_.pressure() + extra_registers, fewest_registers, most_registers);
  out_.shared_bytes = program_.shared.static_bytes(index_);

  const ptx::Directives& directives = source_.directives;
  out_.required_threads = dimensions_of(directives.required_threads);
  out_.required_cluster = dimensions_of(directives.required_cluster);
  out_.max_cluster_rank = directives.max_cluster_rank;
  out_.explicit_cluster = directives.explicit_cluster;
  out_.blocks_are_clusters = directives.blocks_are_clusters;
  const std::uint64_t required = out_.required_threads.count();
  const std::uint64_t allowed =
      required != 0 ? required : dimensions_of(directives.max_threads).count();
  if (allowed != 0) {
    out_.max_threads =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(allowed, out_.max_threads));
  }
}

Dim3 Decoder::dimensions_of(const std::uint32_t (&values)[3]) const {
  return {values[0], values[1], values[2]};
}

void Decoder::lay_out_parameters() {
  std::uint64_t end = 0;
  for (std::size_t i = 0; i < source_.parameters.size(); ++i) {
    const ptx::Variable& parameter = source_.parameters[i];
    if (parameter.opaque) {
      fail(
          LoadError::Kind::not_simulated, parameter.position,
          "the texture, sampler or surface '" + std::string(parameter.name) + "' is not simulated");
    }
    const std::size_t size = parameter_size(parameter);
    const std::size_t align = std::max(parameter.align, 1u);
    if (source_.is_entry) {
      end = round_up(end, align);
      out_.parameters.push_back({end, size, align});
      end += size;
    } else {
      out_.parameters.push_back({regions_.of(static_cast<std::uint32_t>(i)).at, size, align});
    }
  }
  if (source_.is_entry && end > most_parameters) {
    fail(LoadError::Kind::too_large, source_.position,
         "its parameters have " + std::to_string(end) + " bytes; a kernel may have " +
             std::to_string(most_parameters));
  }
  out_.parameter_bytes = source_.is_entry ? end : regions_.parameter_bytes();
}

void Decoder::lay_out_locals() {
  local_offsets_.assign(source_.variables.size(), 0);
  std::uint64_t end = 0;
  std::uint32_t largest_align = 1;
  const auto add = [&](std::size_t index, std::uint64_t align) {
    end = round_up(end, align);
    local_offsets_[index] = static_cast<std::uint32_t>(end);
    end += source_.variables[index].size;
    largest_align = std::max(largest_align, static_cast<std::uint32_t>(align));
    if (end > most_local_bytes) {
      fail(LoadError::Kind::too_large, source_.variables[index].position,
           "more than 512 KiB of local memory for each thread");
    }
  };
  for (std::size_t i = 0; i < source_.variables.size(); ++i) {
    if (source_.variables[i].space != ptx::Space::local) continue;
    add(i, std::max(source_.variables[i].align, 1u));
  }
  for (const std::uint32_t index : regions_.pointed_at()) {
    add(index, std::max<std::uint64_t>(source_.variables[index].align, 16));
  }
  out_.local_bytes = static_cast<std::uint32_t>(end);
  out_.local_align = largest_align;
}

void Decoder::begin() {
  const std::size_t count = source_.instructions.size();
  out_.code.reserve(count + 1);
  out_.opcodes.reserve(count + 1);
  out_.effects.reserve(count + 1);
  out_.places.reserve(count + 1);
  first_of_.reserve(count + 1);
  out_.places.push_back({.ptx_line = source_.position.line});
  copy_parameters();
}

void Decoder::decode_instructions() {
  const std::uint32_t files = program_.first_files[linked_.module];
  for (std::size_t i = 0; i < source_.instructions.size(); ++i) {
    instruction_ = &source_.instructions[i];
    opcode_ = opcodes_[i];
    first_of_.push_back(static_cast<std::uint32_t>(out_.code.size()));
    where_ = static_cast<std::uint32_t>(out_.places.size());
    const ptx::Location& location = module_.locations[instruction_->location];
    out_.places.push_back(
        {instruction_->position.line, location.line == 0 ? 0 : files + location.file, location.line,
         location.call_line == 0 ? 0 : files + location.call_file, location.call_line});
    const bool guarded = instruction_->guard != ptx::Instruction::no_guard;
    guard_ = guarded ? rows_.of(instruction_->guard) : true_mask;
    guard_flip_ = guarded && instruction_->guard_negated ? all_lanes : 0;
    decode_instruction();
    flush_resizes();
    rows_.release();
  }
  instruction_ = nullptr;
  first_of_.push_back(static_cast<std::uint32_t>(out_.code.size()));
  guard_ = true_mask;
  guard_flip_ = 0;
  if (!source_.is_entry) store_results();
  emit(program_.implied.find("ret"));
}

void Decoder::finish() {
  for (const auto& [at, label] : labels_) out_.code[at].imm = first_of_[label];
  for (const auto& [at, label] : list_labels_) out_.lists[at] = first_of_[label];
  for (Instruction& instruction : out_.code) instruction.list = out_.lists.data();
  out_.constants = rows_.take_constants();
  out_.frame_bytes = static_cast<std::uint32_t>(
      round_up(out_.constants_begin + out_.constants.size(), alignof(Instruction)));
}

void Decoder::check_known() {
  if (opcode_->known || instruction_->form == ptx::Form::call) return;
  const std::string_view opcode = instruction_->opcode;
  const std::string_view mnemonic = opcode.substr(0, opcode.find('.'));
  const std::string name = "'" + std::string(opcode) + "'";
  if (is_not_simulated(opcode)) {
    fail(LoadError::Kind::not_simulated, instruction_->position,
         "instruction " + name + " is not simulated");
  }
  if (program_.opcodes.table().knows(mnemonic)) {
    fail(LoadError::Kind::unknown, instruction_->position,
         "unknown modifiers of '" + std::string(mnemonic) + "' in the instruction " + name);
  }
  fail(LoadError::Kind::unknown, instruction_->position, "unknown instruction " + name);
}

void Decoder::decode_instruction() {
  check_known();
  if (instruction_->form == ptx::Form::call) return decode_call();
  Operands operands = instruction_->operands;
  if (opcode_->cache_hint && !operands.empty()) operands = operands.first(operands.size() - 1);
  operands = spread(operands);
  switch (opcode_->traits.role) {
    case Role::move:
      if (decode_move()) return;
      break;
    case Role::load_param:
    case Role::store_param:
      return decode_parameter_access();
    case Role::convert_space:
      if (opcode_->in_local.empty()) break;
      return decode_plain(source_.is_entry ? opcode_->elsewhere : opcode_->in_local, operands);
    case Role::branch_table:
      return decode_branch_table();
    case Role::ret:
      if (!source_.is_entry) store_results();
      break;
    case Role::plain:
      break;
  }
  decode_plain(opcode_->patterns, operands);
}

/// Makes operands of what stands inside an address beside it: "[map, {x, y}]".
Decoder::Operands Decoder::spread(Operands operands) {
  const auto is_compound = [](const Operand& operand) {
    return operand.kind == Operand::Kind::address && !operand.elements.empty();
  };
  if (std::none_of(operands.begin(), operands.end(), is_compound)) return operands;
  spread_.clear();
  for (const Operand& operand : operands) {
    spread_.push_back(operand);
    if (!is_compound(operand)) continue;
    spread_.back().elements = {};
    spread_.insert(spread_.end(), operand.elements.begin(), operand.elements.end());
  }
  return spread_;
}

void Decoder::decode_plain(std::span<const Pattern> patterns, Operands operands) {
  const Match found = match(patterns, operands);
  if (found.cost == mismatch) fail_match(patterns, operands);
  Instruction decoded;
  bind(found, operands, decoded);
  Instruction& to = emit(found.pattern->run);
  to.op = decoded.op;
  to.imm = decoded.imm;
  to.imm2 = decoded.imm2;
}

/// A value that is read directly goes to the register at once, without an intermediate row.
bool Decoder::decode_move() {
  const Operands operands = instruction_->operands;
  if (operands.size() != 2 || operands[0].kind != Operand::Kind::reg) return false;
  if (operands[1].kind != Operand::Kind::special || operands[1].name == "WARP_SZ" ||
      operands[1].name == reserved_shared_name) {
    return false;
  }
  const std::uint32_t reg = operands[0].index;
  const char kind = is_predicate(reg) ? 'p' : ImpliedInstructions::kind_of(width_of(reg));
  const Handler run = program_.implied.find_special(operands[1].name, kind);
  if (run == nullptr) return false;
  emit(run).op[0] = rows_.of(reg);
  return true;
}

void Decoder::decode_branch_table() {
  const Operands operands = instruction_->operands;
  const bool fits = operands.size() == 2 && cost_of_value(operands[0], 4, false) != mismatch &&
                    operands[1].kind == Operand::Kind::label && operands[1].table;
  if (!fits) {
    fail(LoadError::Kind::syntax, instruction_->position,
         "'brx.idx' takes a 32-bit index and a list of labels");
  }
  const std::uint32_t index = source(operands[0], 4);
  const auto list = static_cast<std::uint32_t>(out_.lists.size());
  const std::vector<std::uint32_t>& targets = source_.tables[operands[1].index].instructions;
  out_.lists.push_back(static_cast<std::uint32_t>(targets.size()));
  for (const std::uint32_t target : targets) {
    list_labels_.emplace_back(out_.lists.size(), target);
    out_.lists.push_back(0);
  }
  Instruction& to = emit(program_.implied.find("brx.idx"));
  to.op[0] = index;
  to.op[1] = list;
}

Instruction& Decoder::emit(Handler run) {
  Instruction& instruction = out_.code.emplace_back();
  instruction.run = run;
  instruction.guard = guard_;
  instruction.guard_flip = guard_flip_;
  instruction.where = where_;
  // Parameters are read before the first instruction; after the last, the function ends.
  const std::string_view implied = first_of_.empty() ? "ld.param" : "ret";
  out_.opcodes.push_back(instruction_ != nullptr ? instruction_->opcode : implied);
  out_.effects.push_back(instruction_ != nullptr ? opcode_->traits.effect : Effect::none);
  return instruction;
}

void Decoder::flush_resizes() {
  for (const Resize& resize : resizes_) {
    Instruction& to =
        emit(program_.implied.resize(opcode_->is_signed, resize.to_width, resize.from_width));
    to.op[0] = resize.to;
    to.op[1] = resize.from;
  }
  resizes_.clear();
}

void Decoder::fail(LoadError::Kind kind, ptx::Position position, const std::string& message) const {
  throw load_error(kind, position,
                   message + (source_.is_entry ? " in kernel '" : " in function '") +
                       std::string(source_.name) + "'");
}

}  // namespace cudacore::simulator
