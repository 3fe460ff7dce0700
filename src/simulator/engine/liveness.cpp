// SPDX-License-Identifier: Apache-2.0
#include "simulator/engine/liveness.hpp"

#include <algorithm>
#include <bit>

namespace cudacore::simulator {
namespace {

using ptx::Operand;

constexpr std::uint32_t none = ~std::uint32_t{0};
constexpr std::size_t most_words = std::size_t{16} << 20;

/// Calls use(register) and define(register, whole) for all registers of an instruction, in this
/// order: reads come before writes.
template <typename Use, typename Define>
class Visitor {
 public:
  Visitor(Use use, Define define) : use_(use), define_(define) {}

  void visit(const ptx::Instruction& instruction, const Opcode& opcode) {
    const bool guarded = instruction.guard != ptx::Instruction::no_guard;
    if (guarded) use_(instruction.guard);
    const std::span<const Operand> operands = instruction.operands;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (!is_result(instruction, i, opcode)) read(operands[i]);
    }
    for (std::size_t i = 0; i < operands.size(); ++i) {
      if (is_result(instruction, i, opcode)) write(operands[i], !guarded);
    }
  }

 private:
  static bool is_result(const ptx::Instruction& instruction, std::size_t i, const Opcode& opcode) {
    const Operand& operand = instruction.operands[i];
    if (instruction.form == ptx::Form::call) return i == 0 && operand.kind == Operand::Kind::list;
    return !opcode.traits.only_reads && operand.kind != Operand::Kind::address &&
           (i == 0 || operand.paired);
  }
  void read(const Operand& operand) {
    if (operand.kind == Operand::Kind::reg || operand.base == Operand::Base::reg) {
      use_(operand.index);
    }
    for (const Operand& element : operand.elements) read(element);
  }
  void write(const Operand& operand, bool whole) {
    if (operand.kind == Operand::Kind::reg) define_(operand.index, whole);
    for (const Operand& element : operand.elements) write(element, whole);
  }

  Use use_;
  Define define_;
};

struct BasicBlock {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;                  ///< past its last instruction
  std::vector<std::uint32_t> successors;  ///< blocks
};

/// The basic blocks of a function, and which of its registers are live from one to another.
class Flow {
 public:
  Flow(const ptx::Function& function, std::span<const Opcode* const> opcodes,
       const std::vector<bool>& targets)
      : function_(function), opcodes_(opcodes), lives_(function.registers.size()) {
    make_blocks(targets);
  }

  std::vector<Life> solve() {
    number_registers();
    words_ = (crossing_.size() + 63) / 64;
    if (words_ * blocks_.size() > most_words) {
      for (const std::uint32_t reg : crossing_) keep_always(reg);
    } else if (words_ != 0) {
      fill_sets();
      iterate();
      extend_lives();
    }
    for (const ptx::Variable& variable : function_.parameters) keep_register(variable);
    for (const ptx::Variable& variable : function_.results) keep_register(variable);
    return std::move(lives_);
  }

 private:
  void keep_always(std::uint32_t reg) {
    lives_[reg].extend(0);
    lives_[reg].extend(static_cast<std::uint32_t>(function_.instructions.size()));
  }
  void keep_register(const ptx::Variable& variable) {
    if (!variable.in_register) return;
    for (std::uint32_t i = 0; i < variable.vector; ++i) keep_always(variable.index + i);
  }

  [[nodiscard]] bool ends_block(std::uint32_t at) const { return opcodes_[at]->traits.ends_path; }

  void make_blocks(const std::vector<bool>& targets) {
    const auto count = static_cast<std::uint32_t>(function_.instructions.size());
    block_at_.assign(count + 1, 0);
    for (std::uint32_t i = 0; i < count; ++i) {
      if (i == 0 || targets[i] || ends_block(i - 1)) blocks_.push_back({i, i, {}});
      block_at_[i] = static_cast<std::uint32_t>(blocks_.size() - 1);
      blocks_.back().end = i + 1;
    }
    block_at_[count] = none;
    for (BasicBlock& block : blocks_) add_successors(block);
  }

  void add_successor(BasicBlock& block, std::uint32_t instruction) {
    const std::uint32_t next = block_at_[instruction];
    if (next != none) block.successors.push_back(next);
  }

  void add_successors(BasicBlock& block) {
    const ptx::Instruction& last = function_.instructions[block.end - 1];
    const Opcode& opcode = *opcodes_[block.end - 1];
    const bool goes_on = !opcode.traits.ends_path || last.guard != ptx::Instruction::no_guard;
    if (goes_on) add_successor(block, block.end);
    if (!opcode.traits.ends_path) return;
    for (const Operand& operand : last.operands) {
      if (operand.kind != Operand::Kind::label || operand.prototype) continue;
      if (!operand.table) {
        add_successor(block, operand.index);
        continue;
      }
      for (const std::uint32_t target : function_.tables[operand.index].instructions) {
        add_successor(block, target);
      }
    }
  }

  /// Finds the registers that some block reads before it writes them: only those are live across
  /// blocks.
  void number_registers() {
    number_.assign(lives_.size(), none);
    std::vector<std::uint32_t> written_in(lives_.size(), none);
    for (std::uint32_t b = 0; b < blocks_.size(); ++b) {
      std::uint32_t at = 0;
      const auto use = [&](std::uint32_t reg) {
        lives_[reg].extend(at);
        if (written_in[reg] == b || number_[reg] != none) return;
        number_[reg] = static_cast<std::uint32_t>(crossing_.size());
        crossing_.push_back(reg);
      };
      const auto define = [&](std::uint32_t reg, bool whole) {
        lives_[reg].extend(at);
        if (whole) written_in[reg] = b;
      };
      Visitor visitor(use, define);
      for (at = blocks_[b].begin; at < blocks_[b].end; ++at) {
        visitor.visit(function_.instructions[at], *opcodes_[at]);
      }
    }
  }

  using Word = std::uint64_t;
  static void set(Word* words, std::uint32_t bit) { words[bit / 64] |= Word{1} << (bit % 64); }
  static bool has(const Word* words, std::uint32_t bit) {
    return (words[bit / 64] >> (bit % 64) & 1) != 0;
  }

  void fill_sets() {
    live_in_.assign(words_ * blocks_.size(), 0);
    live_out_.assign(words_ * blocks_.size(), 0);
    written_.assign(words_ * blocks_.size(), 0);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      Word* const in = &live_in_[b * words_];
      Word* const written = &written_[b * words_];
      const auto use = [&](std::uint32_t reg) {
        const std::uint32_t bit = number_[reg];
        if (bit != none && !has(written, bit)) set(in, bit);
      };
      const auto define = [&](std::uint32_t reg, bool whole) {
        if (whole && number_[reg] != none) set(written, number_[reg]);
      };
      Visitor visitor(use, define);
      for (std::uint32_t at = blocks_[b].begin; at < blocks_[b].end; ++at) {
        visitor.visit(function_.instructions[at], *opcodes_[at]);
      }
    }
  }

  void iterate() {
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t b = blocks_.size(); b-- > 0;) {
        Word* const out = &live_out_[b * words_];
        Word* const in = &live_in_[b * words_];
        const Word* const written = &written_[b * words_];
        for (const std::uint32_t next : blocks_[b].successors) {
          const Word* const next_in = &live_in_[next * words_];
          for (std::size_t i = 0; i < words_; ++i) out[i] |= next_in[i];
        }
        for (std::size_t i = 0; i < words_; ++i) {
          const Word now = in[i] | (out[i] & ~written[i]);
          changed = changed || now != in[i];
          in[i] = now;
        }
      }
    }
  }

  void extend_lives() {
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      extend(&live_in_[b * words_], blocks_[b].begin);
      extend(&live_out_[b * words_], blocks_[b].end - 1);
    }
  }
  void extend(const Word* words, std::uint32_t at) {
    for (std::size_t i = 0; i < words_; ++i) {
      for (Word rest = words[i]; rest != 0; rest &= rest - 1) {
        const auto bit = static_cast<std::size_t>(std::countr_zero(rest));
        lives_[crossing_[i * 64 + bit]].extend(at);
      }
    }
  }

  const ptx::Function& function_;
  std::span<const Opcode* const> opcodes_;
  std::vector<Life> lives_;
  std::vector<BasicBlock> blocks_;
  std::vector<std::uint32_t> block_at_;  ///< of each instruction
  std::vector<std::uint32_t> number_;    ///< of a register live across blocks; none for others
  std::vector<std::uint32_t> crossing_;  ///< registers by number
  std::size_t words_ = 0;                ///< of each block's sets
  std::vector<Word> live_in_;
  std::vector<Word> live_out_;
  std::vector<Word> written_;
};

}  // namespace

std::vector<bool> targets_of(const ptx::Function& function) {
  std::vector<bool> targets(function.instructions.size() + 1);
  for (const ptx::Instruction& instruction : function.instructions) {
    for (const Operand& operand : instruction.operands) {
      if (operand.kind == Operand::Kind::label && !operand.table && !operand.prototype) {
        targets[operand.index] = true;
      }
    }
  }
  for (const ptx::Table& table : function.tables) {
    for (const std::uint32_t target : table.instructions) targets[target] = true;
  }
  return targets;
}

std::vector<Life> lives_of(const ptx::Function& function, std::span<const Opcode* const> opcodes,
                           const std::vector<bool>& targets) {
  return Flow(function, opcodes, targets).solve();
}

}  // namespace cudacore::simulator
